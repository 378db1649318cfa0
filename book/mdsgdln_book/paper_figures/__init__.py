"""Every figure of both papers, redrawn: `make figure NAME=mhs-4` draws one of `FIGURES`.

The chapter *Figures of the papers* calls the same functions. Panels have the papers' letters where
text, caption or slide names them. What a paper prescribes is dotted, its fitted numbers included;
what follows from the data and the initial scale alone is dashed.
"""

from mdsgdln_book.paper_figures import background, mhs, mhs_later, nrr

FIGURES = {
    "mhs-1": mhs.figure_1,
    "mhs-2": mhs.figure_2,
    "mhs-3": mhs.figure_3,
    "mhs-4": mhs.figure_4,
    "mhs-5": mhs_later.figure_5,
    "mhs-6": mhs_later.figure_6,
    "mhs-7": mhs_later.figure_7,
    "mhs-8": mhs_later.figure_8,
    "mhs-9": mhs_later.figure_9,
    "nrr-1": nrr.figure_1,
    "nrr-structures": background.structures,
    "nrr-modes": background.modes,
    "nrr-3": nrr.figure_3,
    "nrr-4": nrr.figure_4,
    "nrr-5": nrr.figure_5,
    "nrr-6": nrr.figure_6,
    "nrr-7": nrr.figure_7,
}


def draw(name: str):
    """Return a figure of the papers by its name in ``FIGURES``."""
    return FIGURES[name]()

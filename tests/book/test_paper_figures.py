"""Every figure of the papers that is known has a function, a place on the page, and panels."""

import numpy as np
import pytest

from mdsgdln import networks, tasks, theory
from mdsgdln_book import paper_figures, papers, redraw
from mdsgdln_book.paper_figures import routes
from mdsgdln_book.places import BOOK

PAGE = "paper_figures"


def test_every_known_figure_is_drawn():
    listed = papers.read_papers()["figures"]
    names = {papers.drawn(entry["place"]) for entry in listed if "figures" in entry}
    assert names == set(paper_figures.FIGURES)


def test_the_page_has_each_of_them():
    on_page = [name for name, page in papers.figures_and_labels(BOOK)[0].items() if page == PAGE]
    assert sorted(on_page) == sorted(f"fig-paper-{name}" for name in paper_figures.FIGURES)
    text = (BOOK / f"{PAGE}.md").read_text(encoding="utf8")
    for name in paper_figures.FIGURES:
        assert f'paper_figures.draw("{name}")' in text


def test_one_command_draws_one(tmp_path):
    (picture,) = redraw.write("nrr-1", tmp_path)  # boxes and arrows: no numbers
    assert picture.stat().st_size > 1000
    picture, numbers = redraw.write("fig-paper-nrr-7", tmp_path)
    assert numbers.name == "nrr-7.csv" and "panel,kind" in numbers.read_text()
    with pytest.raises(ValueError, match="name: expected one of"):
        redraw.write("mhs-10", tmp_path)


def test_the_reduction_is_that_of_the_package():
    task, scale, rate = tasks.routing(3, 2), 0.2, 0.02
    race = theory.shared_race(
        networks.routing_network(task, 2, 8), task, scale, rate * np.arange(50), learning_rate=rate
    )
    ours = routes.reduction([scale] * 3, 3, 2, rate, 50)
    np.testing.assert_allclose(ours.losses, race.losses, rtol=1e-9)
    np.testing.assert_allclose(ours.values[:, 1].T, race.strengths["hidden 1", "hidden 2"])


def test_the_panels_are_a_table():
    entry = {"place": "MHS Fig. 4b", "shows": "it", "figures": ["fig-a"], "claims": ["demo"]}
    missing = {"place": "NRR Fig. 2", "shows": "not known", "none": "Not in the slides."}
    assert papers.panel_lines([entry, missing])[2:] == [
        "| MHS Fig. 4b | it | {numref}`fig-paper-mhs-4` | {numref}`fig-a` | "
        "{ref}`demo <claim-demo>` |",
        "| NRR Fig. 2 | not known | – | – | Not in the slides. |",
    ]

"""The pictures of our neuron in contexts show what its run in *letting go* prints."""

import json
import re

from mdsgdln_book.places import BOOK, ROOT

PATH = re.compile(r'<path fill="(#\w+|none)"(?: stroke="#808080")? d="(.*?)"/>')
CELL = re.compile(r"M([\d.]+) ([\d.]+)([hv])")
MARKS = {("#0173b2", "h"): "#", ("#de8f05", "h"): "o", ("#0173b2", "v"): "/"}


def grids(name: str) -> list[str]:
    """The grids of a picture, their cells row by row: on, off or near the boundary."""
    found, marks = [], {}
    for fill, cells in PATH.findall((BOOK / f"_static/neuron-{name}.svg").read_text("utf8")):
        drawn = CELL.findall(cells)
        if fill == "none":  # the frame of a grid comes last
            found.append("".join(marks.get((x, y), ".") for x, y, _ in drawn))
            marks = {}
        else:
            marks |= {(x, y): MARKS[fill, shape] for x, y, shape in drawn}
    return found


def test_our_neuron_in_contexts():
    reference = json.loads((ROOT / "tests/references/letting_go.ipynb").read_text("utf8"))
    outputs = [output for cell in reference["cells"] for output in cell.get("outputs", [])]
    printed = "".join("".join(output.get("text", "")) for output in outputs)
    first, soon, clipped, end = (
        "".join(map("".join, zip(*words.split(), strict=True)))
        for words in re.findall(r"^\d+ ((?:[#./]{8} ?){3})$", printed, re.M)
    )
    pictures = grids("letting")[1:]
    assert [picture.replace("o", "#") for picture in pictures] == [first, soon, clipped, end]
    assert [picture.count("o") for picture in pictures] == [0, 0, clipped[::3].count("#"), 0]
    assert grids("gates")[0] == grids("race")[0] == first
    assert grids("race")[1] == grids("mixed")[0] == soon
    assert grids("mixed")[1] == end

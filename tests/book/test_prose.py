"""Prose avoids the turns that CONTRIBUTING lists: in pages, claims and the strings of modules."""

import ast
import re

import pytest

from mdsgdln_book.places import BOOK, PACKAGE, ROOT

GUIDE = ROOT / "CONTRIBUTING.md"
PAGES = [ROOT / "README.md", GUIDE, ROOT / "MAINTAINING.md", *sorted(BOOK.glob("*.md"))]
PAGES += [BOOK / "claims.yml"]
CODE = ROOT / "mdsgdln", PACKAGE, BOOK / "_ext"
MODULES = [path for code in CODE for path in sorted(code.rglob("*.py"))]
# Of a code cell the head remains, which has the caption.
CELL = re.compile(r"^(`{3,})\{code-cell\}.*\n(?:---\n((?:.*\n)*?)---\n)?(?:.*\n)*?\1$", re.M)
# Blocks of code and formulas; formulas, code and roles in a line; comments, options, addresses;
# words of the papers, which are between “ and ”, or in a claim's quote.
NOT_PROSE = re.compile(
    r"^(`{3,})(?:\w+|\{math\}.*)\n(?:.*\n)*?\1$|\$\$[^$]*\$\$|\$[^$]+\$"
    r"|(?:\{[\w:-]+\})?(?<!`)`[^`]+`(?!`)|^%.*$|^:[\w-]+:.*$|^  quote:.*$|\]\([^)]*\)|“[^”]*”",
    re.M,
)


def banned():
    """Return the replacement of each turn in the table of CONTRIBUTING."""
    rows = re.findall(r"^\| (`.*`) \| (.*) \|$", GUIDE.read_text("utf8"), re.M)
    return {turn: better for turns, better in rows for turn in re.findall("`([^`]+)`", turns)}


def prose(path):
    """Return the text of a page, or all strings of a module that have a space."""
    text = path.read_text("utf8")
    if path.suffix == ".py":
        strings = (
            node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)
        )
        text = "\n\n".join(text for text in strings if isinstance(text, str) and " " in text)
    return " ".join(NOT_PROSE.sub(" · ", CELL.sub(r"\2", text)).split())


def found(text, turns):
    """Yield each banned turn in a text, with the words around it and its replacement."""
    words = "|".join((r"\b" if turn[0].isalpha() else "") + re.escape(turn) for turn in turns)
    for hit in re.finditer(rf"(?<!-)(?:{words})(?![\w-])", text, re.I):
        better = next(turns[turn] for turn in turns if turn.lower() == hit[0].lower())
        yield f"{text[max(0, hit.start() - 40) : hit.end() + 40]!r}: write {better}"


@pytest.mark.parametrize("path", PAGES + MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_prose_avoids_banned_turns(path):
    hits = [*found(prose(path), banned())]
    assert not hits, "\n".join(hits)


def test_a_turn_is_found_in_prose_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "Told `anew` $alike$ {claim}`task-anew`, “turned”.\n% anew\n(label-anew)=\n\n"
        "```{code-cell}\n---\ncaption: It stands for one.\n---\nx = 'beside'\n```\n"
    )
    assert len([*found(prose(page), banned())]) == 2, "Told, and the caption"
    module = tmp_path / "module.py"
    module.write_text('"""Held against each."""\nprint("anew", "All alike.")  # beside\n')
    assert len([*found(prose(module), banned())]) == 2, "the docstring and a message"

"""The table of symbols: no symbol in two rows, and no letter of a formula without a row."""

import re

from mdsgdln_book.places import BOOK

TEXT = r"\\(?:text|mathrm|operatorname\*?|begin|end|label|mathbb)\{[^{}]*\}"
LETTER = re.compile(r"\\mathcal\s*\{?\s*[A-Z]|\\[A-Za-z]+|[A-Za-z]")
# Commands that stand for a letter; the rest are arrows, brackets, functions and spaces.
GREEK = (
    "alpha beta gamma delta epsilon varepsilon zeta eta theta kappa lambda mu nu xi rho sigma tau"
    " phi varphi chi psi omega ell Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega"
).split()
INDICES = {*"ijklpqc", r"\alpha", r"\beta", r"\ell"}  # explained in words above the table
# Not symbols of ours: differentials, Euler's number, units.
OTHERS = {"d", "e"}


def rows() -> list[str]:
    """The first column of every table of symbols."""
    text = (BOOK / "notation.md").read_text("utf8")
    symbols = text[text.index("(symbols)=") : text.index("## One clock")]
    cells = [line.split("|")[1] for line in symbols.splitlines() if line.startswith("| $")]
    assert len(cells) > 80
    return cells


def letters(formula: str) -> set[str]:
    """The letters of a formula, without words and commands."""
    found = {re.sub(r"[\s{}]", "", part) for part in LETTER.findall(re.sub(TEXT, " ", formula))}
    ours = {rf"\{name}" for name in GREEK}
    return {p for p in found if p in ours or not p.startswith("\\") or "mathcal" in p}


def formulas(page: str) -> list[str]:
    """The formulas of a page: of its prose, not of its code."""
    prose = re.sub(r"^(`{3,})(?:\{code-cell\}|python).*?^\1$", "", page, flags=re.M | re.S)
    prose = re.sub(r"^:label:.*$", "", prose, flags=re.M)
    return re.findall(r"\$\$.*?\$\$|\$(?:[^$\n]|\n(?!\n))+\$|```\{math\}.*?```", prose, re.S)


def test_no_symbol_has_two_rows():
    symbols = [s.strip() for cell in rows() for s in re.findall(r"\$(.+?)\$", cell)]
    assert len(set(symbols)) == len(symbols), sorted(s for s in symbols if symbols.count(s) > 1)


def test_every_letter_of_a_formula_has_a_row():
    known = set().union(*map(letters, rows())) | INDICES | OTHERS
    missing = {
        f"{page.name}: {letter}"
        for page in BOOK.glob("*.md")
        for formula in formulas(page.read_text("utf8"))
        for letter in letters(formula.removeprefix("```{math}")) - known
    }
    assert not missing, sorted(missing)

"""Short formulas as MathML, which browsers set by themselves: `short(page)`.

A page whose formulas are all short, such as σ or 10⁻³, then needs no MathJax, which is most of what
a page loads. On other pages all formulas are left to MathJax, so that a page has one style.
"""

import re
from collections.abc import Iterator
from html import escape

from bs4 import BeautifulSoup

from mdsgdln_book.pages.lighter import remove

MATHJAX = "script[src*=mathjax]"
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
CAPITALS = {"Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Sigma": "Σ", "Omega": "Ω"}
LETTERS = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "eta": "η"},
    **{"theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "rho": "ρ"},
    **{
        "sigma": "σ",
        "tau": "τ",
        "phi": "ϕ",
        "chi": "χ",
        "psi": "ψ",
        "omega": "ω",
        "infty": "∞",
        "ln": "ln",
    },
}
OPERATORS = {
    **{symbol: symbol for symbol in "+=<>/()[]|*,'%"},
    **{"-": "−", "'": "′", r"\times": "×", r"\cdot": "⋅", r"\le": "≤", r"\ge": "≥", r"\ne": "≠"},
    **{r"\approx": "≈", r"\sim": "∼", r"\to": "→", r"\pm": "±", r"\ldots": "…", r"\top": "⊤"},
    **{r"\%": "%", r"\lVert": "‖", r"\rVert": "‖", r"\ll": "≪"},
}
SPACES = {r"\,": "0.17em", r"\;": "0.28em", r"\ ": "0.25em"}


class NotShort(ValueError):
    """A formula has something that only MathJax knows."""


def mathml(tex: str) -> str | None:
    r"""A formula in MathML, or None if it is not short.

    >>> mathml(r"\Delta = \sqrt M")
    '<math><mi mathvariant="normal">Δ</mi><mo>=</mo><msqrt><mi>M</mi></msqrt></math>'
    >>> mathml("10^{-3}")
    '<math><msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup></math>'
    >>> mathml(r"W_1"), mathml(r"\begin{pmatrix}")
    ('<math><msub><mi>W</mi><mn>1</mn></msub></math>', None)
    """
    tokens = [token for token in TOKEN.findall(tex) if token.strip() or token == r"\ "]
    try:
        found = "".join(row(tokens))
        return None if tokens else f"<math>{found}</math>"
    except (NotShort, IndexError):  # a brace is not closed
        return None


def row(tokens: list[str]) -> Iterator[str]:
    """Take parts, with what stands above and below them, until a brace closes or all are taken."""
    while tokens and tokens[0] != "}":
        base = part(tokens)
        raised: dict[str, str] = {}
        while tokens and tokens[0] in ("^", "_", "'"):
            mark = tokens.pop(0)
            place = "_" if mark == "_" else "^"
            if place in raised:
                raise NotShort
            raised[place] = "<mo>′</mo>" if mark == "'" else part(tokens)
        match raised:
            case {"^": above, "_": below}:
                yield f"<msubsup>{base}{below}{above}</msubsup>"
            case {"^": above}:
                yield f"<msup>{base}{above}</msup>"
            case {"_": below}:
                yield f"<msub>{base}{below}</msub>"
            case _:
                yield base


def part(tokens: list[str]) -> str:
    """Take one part: a letter, a number, a sign, a root, what stands in braces."""
    token = tokens.pop(0)
    name = token[1:]
    if token == "{":
        inner = "".join(row(tokens))
        tokens.pop(0)
        return f"<mrow>{inner}</mrow>"
    if token == r"\sqrt" and tokens[0] != "[":
        return f"<msqrt>{part(tokens)}</msqrt>"
    if token in OPERATORS:
        close = ' lspace="0" rspace="0"' if token in "/*" else ""
        return f"<mo{close}>{escape(OPERATORS[token], quote=False)}</mo>"
    if token in SPACES:
        return f'<mspace width="{SPACES[token]}"></mspace>'
    if token[0].isdigit():
        return f"<mn>{token}</mn>"
    if token[0] == "\\" and name in CAPITALS:
        return f'<mi mathvariant="normal">{CAPITALS[name]}</mi>'
    if token[0] == "\\" and name in LETTERS:
        return f"<mi>{LETTERS[name]}</mi>"
    if token.isalpha():
        return f"<mi>{token}</mi>"
    raise NotShort(token)


def short(page: BeautifulSoup) -> None:
    """Let the browser set all formulas of a page, if all of them are short."""
    places = page.select(".math")
    inside = [place.get_text().strip() for place in places]
    if page.select_one("div.math") or not all(text.startswith(r"\(") for text in inside):
        return
    found = [mathml(text.removeprefix(r"\(").removesuffix(r"\)")) for text in inside]
    if None in found:
        return
    for place, text in zip(places, found, strict=True):
        place.replace_with(BeautifulSoup(text, "html.parser"))
    for script in page.select(MATHJAX):
        remove(script)

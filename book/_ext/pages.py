"""Sphinx extension: built pages, repaired for readers who use no mouse, no eyes or a small screen.

Themes leave things behind that a page checker finds: the same id twice, names that do not say what
is seen, lists that are none. `repair` mends them in the HTML, gives every figure its size,
and changes nothing when it is run again.
"""

import re
from html import escape
from pathlib import Path

from bs4 import BeautifulSoup
from docutils import nodes

from _ext.api import link_names

PIXELS_PER_POINT = 150 / 72  # figures are drawn for 150 pixels an inch
SIDE = re.compile(r'\b(?:width|height)="([\d.]+)pt"')
# Pages of earlier versions that another one has taken in, whose addresses lead there.
TAKEN_IN = {
    "alignment": "deep_linear",
    "assumptions": "as_people_train",
    "formulas": "notation",
    "initialisation": "routing",
    "neurons": "finding_gates",
    "noise": "as_people_train",
    "other_theories": "no_fit",
    "relu_curve": "no_fit",
    "scaling": "status",
    "sliding_gates": "exact_reln",
}
LEADING = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>This page has moved</title>
<meta http-equiv="Refresh" content="0; url={0}.html"><link rel="canonical" href="{0}.html"></head>
<body><p>This page is now part of <a href="{0}.html">another one</a>.</p></body></html>
"""
SEARCH_NAME = re.compile(r'(class="btn search-button-field[^>]*?) aria-label="Search"')


def repair(root: Path, names: set[str]) -> None:
    """Mend every page of the built site written since this was last done.

    In code, the names of the package lead to their documentation.
    """
    done = root / ".repaired"
    since = done.stat().st_mtime_ns if done.exists() else 0
    since *= Path(__file__).stat().st_mtime_ns < since  # newer than a page, it is mended again
    drawn = (root / "_images").glob("*.svg")
    sizes = {path.name: size(path.read_text(encoding="utf8")) for path in drawn}
    for path in root.rglob("*.html"):
        if "_static" not in path.relative_to(root).parts and path.stat().st_mtime_ns > since:
            page = repaired_page(path.read_text(encoding="utf8"), sizes)
            path.write_text(link_names(page, names), encoding="utf8")
    done.touch()


def size(svg: str) -> list[str]:
    """Width and height of a figure in pixels; matplotlib's, in points, are too small for a page.

    >>> size('<svg width="72pt" height="36pt" id="72pt">')
    ['150', '75']
    """
    return [str(round(float(side) * PIXELS_PER_POINT)) for side in SIDE.findall(svg)[:2]]


def repaired_page(html: str, sizes: dict[str, list[str]]) -> str:
    """The page, mended; sizes in pixels of the figures by the names of their files."""
    page = BeautifulSoup(html, "html.parser")
    unique_ids(page)
    names_as_seen(page)
    landmarks(page)
    bibliography(page)
    table_heads(page)
    notebook_links(page)
    icons(page)
    figures(page, sizes)
    gallery(page)
    pictures(page)
    return SEARCH_NAME.sub(r"\1", str(page))


def unique_ids(page: BeautifulSoup) -> None:
    """Number ids that come again: theorems and exercises are all called "proof-content"."""
    seen: set[str] = set()
    for node in page.find_all(id=True):
        name, number = node["id"], 2
        while node["id"] in seen:
            node["id"] = f"{name}-{number}"
            number += 1
        seen.add(node["id"])


def names_as_seen(page: BeautifulSoup) -> None:
    """Let what unfolds be called what is written on it."""
    for summary in page.find_all("summary"):
        if summary.get_text(strip=True):
            del summary["aria-label"]


def landmarks(page: BeautifulSoup) -> None:
    """Make the side bar with title and contents a place that one can jump to."""
    for bar in page.find_all("div", class_="bd-sidebar-primary"):
        bar["role"], bar["aria-label"] = "complementary", "Book"


def bibliography(page: BeautifulSoup) -> None:
    """Take roles away that do not fit a list of references."""
    for node in page.find_all(class_=["citation", "citation-list"]):
        del node["role"]


def table_heads(page: BeautifulSoup) -> None:
    """Put the names of a data frame's index into its first row, and that of its columns above it.

    Pandas gives the index a row of its own, whose other headers are empty.
    """
    for head in page.select(".cell_output table thead"):
        rows = [row.find_all("th") for row in head.find_all("tr")]
        names = [cell for cell in rows[-1] if cell.get_text(strip=True)]
        if len(rows) != 2 or names != rows[1][: len(names)] or len(names) == len(rows[1]):
            continue
        above = rows[0][len(names) - 1].get_text(strip=True)
        for old, new in zip(rows[0], names, strict=False):
            old.replace_with(new)
        head.find_all("tr")[1].decompose()
        if above:
            caption = page.new_tag("caption")
            caption.string = above
            head.insert_before(caption)


def notebook_links(page: BeautifulSoup) -> None:
    """Save a notebook; do not show its text."""
    for link in page.select("a[href$='.ipynb']"):
        if "://" not in link["href"]:
            link["download"] = ""
            del link["target"]


def figures(page: BeautifulSoup, sizes: dict[str, list[str]]) -> None:
    """Reserve the room that a computed figure takes.

    The style sheet keeps its text readable on a phone.
    """
    for image in page.select("div.cell_output img[src$='.svg']"):
        width, height = sizes[image["src"].rsplit("/")[-1]]
        image["width"], image["height"] = width, height
        image["style"] = f"--drawn-width: {width}px"


def gallery(page: BeautifulSoup) -> None:
    """Let each entry of a gallery show the figure of the page that it leads to."""
    for link in page.select(".gallery li a[href^='#']"):
        image = page.select_one(f"{link['href']} img")
        if image is None or link.find("img") or link.find_previous_sibling("a"):
            continue
        shown = {name: image[name] for name in ("src", "width", "height") if name in image.attrs}
        words = f"{link.get_text()}, redrawn; small"
        link.insert(0, page.new_tag("img", attrs={**shown, "alt": words, "loading": "lazy"}))


def pictures(page: BeautifulSoup) -> None:
    """Fetch the first picture of a text at once, and the others when they come near."""
    for image in page.select("article img")[1:]:
        image["loading"] = "lazy"


def icons(page: BeautifulSoup) -> None:
    """Show icons by the font of the style sheet alone: the script is ten times as large."""
    for script in page.select("script[src*=fontawesome]"):
        after = script.next_sibling
        if isinstance(after, str) and not after.strip():
            after.extract()  # else two blanks meet, which are one later
        script.decompose()


def repair_site(app, exception) -> None:
    """Mend the site that was built."""
    if exception is None:
        lead_on(Path(app.outdir) / "book")
        root, names = Path(app.outdir), set(app.env.get_domain("py").objects)
        repair(root, names if (root / "book/api.html").exists() else set())


def use_html_handlers(app) -> None:
    """Let a page of all pages be written as these are; some extensions have other handlers."""
    app.registry.translation_handlers.pop("singlehtml", None)


def lead_on(folder: Path) -> None:
    """Let the addresses of pages that are no more lead to those that took them in."""
    for old, new in TAKEN_IN.items():
        if (folder / f"{new}.html").exists():
            (folder / f"{old}.html").write_text(LEADING.format(new), encoding="utf8")


def line(title: str, book: str, author: str, year: str) -> str:
    """How a page is cited, as HTML.

    >>> line("Routing", "A book", "We", "2026")
    'Cite this page: We, “Routing”, <em>A book</em>, 2026<span class="page-address"></span>.'
    """
    author, title, book = (escape(text) for text in (author, title, book))
    named = f"“{title}”, <em>{book}</em>" if title else f"<em>{book}</em>"
    return f'Cite this page: {author}, {named}, {year}<span class="page-address"></span>.'


def add_line(app, pagename: str, templatename: str, context: dict, doctree) -> None:
    """Add the line to the footer of every page that has a text of its own."""
    if doctree is None:
        return
    heading = next(doctree.findall(nodes.title), None)
    title = "" if heading is None else heading.astext()
    config = app.config
    text = line(title, config.html_title, config.author, config.copyright)
    context["theme_extra_footer"] = f'<p class="cite-page">{text}</p>'


def setup(app) -> dict:
    """Register the extension."""
    app.connect("builder-inited", use_html_handlers)
    app.connect("html-page-context", add_line)
    # After the other extensions: sphinx_external_toc writes index.html at the end of a build, too.
    app.connect("build-finished", repair_site, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

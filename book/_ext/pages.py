"""Sphinx extension: built pages, repaired for readers who use no mouse, no eyes or a small screen.

Themes leave things behind that a page checker finds. `repair` mends them in the HTML, gives every
figure its size, and changes nothing when it is run again.
"""

import logging
import re
from collections import Counter
from collections.abc import Collection
from functools import cache
from pathlib import Path
from urllib.parse import urljoin

from bs4 import BeautifulSoup

from _ext.execution import place

WORDS = 200  # characters of a description
PICTURE = "../_downloads/mhs-4.png"  # of a shared link, from a page
PIXELS_PER_POINT = 150 / 72  # figures are drawn for 150 pixels an inch
SIDE = re.compile(r'\b(?:width|height)="([\d.]+)pt"')
# Attributes that elements get; None takes one away.
REPAIRS: dict[str, dict[str, str | None]] = {
    # Sphinx-togglebutton and MyST-NB: a name that is not what is written there.
    "summary:not(:empty)": {"aria-label": None},
    # The theme: the side bar with title and contents is no place that one can jump to.
    "div.bd-sidebar-primary": {"role": "complementary", "aria-label": "Book"},
    # Docutils: roles that do not fit a list of references.
    ".citation, .citation-list": {"role": None},
    # Sphinx and extensions: scripts that a reader would wait for before the first line.
    "head script[src]:not([src*=documentation_options])": {"defer": "defer"},
    # The theme: a notebook is to be saved, and its text not to be shown.
    "a[href$='.ipynb']:not([href*='://'])": {"download": "", "target": None},
}
# The theme, in a script: another such name.
SEARCH_NAME = re.compile(r'(class="btn search-button-field[^>]*?) aria-label="Search"')
# The theme: a style sheet shows all icons without a script; and nothing comes before the text.
LEFT_OUT = "script[src*=fontawesome], link[rel=preload]"
# A module's member in code; in a link already if "> is before it. sphinx-codeautolink stops at the
# sections without a title that sphinx-proof makes.
MEMBER = re.compile(
    r'(?<!">)<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>'
)


def size(svg: str) -> list[str]:
    """Width and height of a figure in pixels; matplotlib's, in points, are too small for a page.

    >>> size('<svg width="72pt" height="36pt" id="72pt">')
    ['150', '75']
    """
    return [str(round(float(side) * PIXELS_PER_POINT)) for side in SIDE.findall(svg)[:2]]


def repaired_page(html: str, sizes: dict[str, list[str]]) -> str:
    """The page, mended; sizes in pixels of the figures by the names of their files."""
    page = BeautifulSoup(html, "html.parser")
    for selector, attributes in REPAIRS.items():
        for node in page.select(selector):
            changed = node.attrs | attributes
            node.attrs = {name: text for name, text in changed.items() if text is not None}
    for node in page.select(LEFT_OUT):
        node.decompose()
    unique_ids(page)
    table_heads(page)
    figures(page, sizes)
    describe(page)
    return SEARCH_NAME.sub(r"\1", str(page))


def unique_ids(page: BeautifulSoup) -> None:
    """Number ids that come again: sphinx-proof and sphinx-exercise call all "proof-content"."""
    seen: Counter[str] = Counter()
    for node in page.find_all(id=True):
        seen[name := node["id"]] += 1
        if seen[name] > 1:
            node["id"] = f"{name}-{seen[name]}"


def link_names(html: str, names: Collection[str]) -> str:
    """Let `tasks.xor` in code lead to its documentation.

    >>> code = '<span class="n">tasks</span><span class="o">.</span><span class="n">xor</span>'
    >>> "#mdsgdln.tasks.xor" in link_names(code, {"mdsgdln.tasks.xor"})
    True
    """

    def linked(found: re.Match) -> str:
        name = f"mdsgdln.{found[1]}.{found[2]}"
        link = f'<a class="code-name" href="api.html#{name}">{found[0]}</a>'
        return link if name in names else found[0]

    return MEMBER.sub(linked, html)


def table_heads(page: BeautifulSoup) -> None:
    """Put the names of a data frame's index into its first row; its columns' names go above it.

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
            head.insert_before(page.new_tag("caption", string=above))


def figures(page: BeautifulSoup, sizes: dict[str, list[str]]) -> None:
    """Reserve the room that a computed figure takes; fetch all but the first when they come near.

    The style sheet keeps their text readable on a phone.
    """
    for image in page.select("div.cell_output img[src$='.svg']"):
        width, height = sizes[image["src"].rsplit("/")[-1]]
        image.attrs |= {"width": width, "height": height}
        if image.parent.name != "a":  # on a phone, to see it large
            image.wrap(page.new_tag("a", attrs={"href": image["src"], "class": "figure-link"}))
    for image in page.select("article img")[1:]:
        image["loading"] = "lazy"


def describe(page: BeautifulSoup) -> None:
    """Say what a page is about where it is shared: its title, its first paragraph and a figure.

    A picture needs an address of its own, so only pages that know theirs have one.
    """
    paragraph = page.select_one("article section > p")
    if paragraph is None or page.select_one("meta[name=description]"):
        return
    words = " ".join(paragraph.get_text().split())[:WORDS]
    said = {"og:title": page.title.get_text(), "og:description": words, "og:type": "article"}
    if address := page.select_one("link[rel=canonical]"):
        said["og:image"] = urljoin(address["href"], PICTURE)
    page.head.append(page.new_tag("meta", attrs={"name": "description", "content": words}))
    for name, content in said.items():
        page.head.append(page.new_tag("meta", attrs={"property": name, "content": content}))


def repair(app, exception) -> None:
    """Mend every page of the site written since this was last done; link names in code."""
    if exception is not None:
        return
    root = Path(app.outdir)
    names = app.env.get_domain("py").objects if (root / "book/api.html").exists() else ()
    sizes = {path.name: size(path.read_text("utf8")) for path in (root / "_images").glob("*.svg")}
    done, own = root / ".repaired", Path(__file__).stat().st_mtime_ns
    since = done.stat().st_mtime_ns if done.exists() else 0
    for path in root.rglob("*.html"):
        written = path.stat().st_mtime_ns > since or own > since
        if written and "_static" not in path.relative_to(root).parts:
            page = repaired_page(path.read_text("utf8"), sizes)
            path.write_text(link_names(page, names), encoding="utf8")
    done.touch()


def settle(app, config) -> None:
    """Where one chapter is built, other pages may not be there yet, as old addresses and search."""
    if config.nb_execution_mode == "off":
        config.rediraffe_redirects = {}
        quiet = logging.getLogger("sphinx.sphinx.builders.html")  # as Sphinx names it
        quiet.addFilter(lambda record: not str(record.msg).startswith("search index couldn't"))


def expect_missing(app, domain, node) -> bool | None:
    """Where one chapter is built, other pages may refer to figures that nothing has drawn yet."""
    page = node["refdoc"].rpartition("/")[2]
    return (app.config.nb_execution_mode == "off" and not place(page).exists()) or None


def use_html_handlers(app) -> None:
    """Let a page of all pages be written as these are; some extensions have other handlers."""
    app.registry.translation_handlers.pop("singlehtml", None)
    app.set_html_assets_policy("always" if app.builder.name == "singlehtml" else "per_page")


def read_once(app, builder) -> None:
    """Keep pages in which numbers of figures are looked up: Sphinx reads one for each number."""
    env = app.env
    read, resolve = env.get_doctree, env.get_and_resolve_doctree

    def resolve_own(page, builder, tree=None, *options, **named):  # which changes the tree
        return resolve(page, builder, read(page) if tree is None else tree, *options, **named)

    env.get_doctree, env.get_and_resolve_doctree = cache(read), resolve_own


def setup(app) -> dict:
    """Register the extension."""
    app.connect("config-inited", settle)
    app.connect("warn-missing-reference", expect_missing)
    app.connect("builder-inited", use_html_handlers)
    app.connect("write-started", read_once)
    # After the other extensions: sphinx_external_toc writes index.html at the end of a build, too.
    app.connect("build-finished", repair, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

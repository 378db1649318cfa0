"""Pages that open soon where the network is slow: little to fetch, and little that text waits for.

The style sheets that all pages share become one, their scripts another, and scripts run when the
page has been read. Icons come from a font cut down to those that the site shows, which lies in
the style sheet. Pictures below the first are fetched when they come near.
"""

import base64
import hashlib
import io
import logging
import os
import re
from collections.abc import Iterable
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from fontTools import subset

logging.getLogger("fontTools").setLevel(logging.WARNING)  # it tells Sphinx each step

# What only some pages have stays a file of its own, and so does MathJax, whose fonts lie beside it.
OWN = re.compile(r"_static/(interactive|mathjax|ledger|searchtools|language_data)|searchindex")
SHARED = re.compile(r"_static/(?P<name>all-[0-9a-f]{12}\.(?:css|js))")
OPTIONS = "documentation_options"  # which later lines of the page change as they are read

URL = re.compile(r"""url\((?P<quote>['"]?)(?!data:|#|/|[a-z]+:)(?P<path>[^'")]+)(?P=quote)\)""")
IMPORT = re.compile(r"""@import (?:url\()?['"](?P<path>[^'"]+)['"]\)?;""")
LEFT_OUT = re.compile(r"""@charset "[^"]*";|/\*# sourceMappingURL=.*?\*/|//# sourceMappingURL=.*""")

READ, UNREAD = (".html", ".js", ".css"), re.compile(r"/vendor/|/mathjax/|/all-")
ICON_NAME = re.compile(r"\bfa-([a-z0-9-]+)")
ICON_CODE = re.compile(r"\\(f[0-9a-f]{3})\b")
ICON_RULE = re.compile(r'(?P<names>(?:\.fa-[a-z0-9-]+:before,?)+)\{content:"\\(?P<code>[^"]+)"\}')
FONT_RULE = re.compile(r"@font-face\{[^}]*\}")
FONT_FILE = re.compile(r"url\((?P<path>[^)]+\.ttf)\)")


class Site:
    """A built site, whose pages share a style sheet and a script.

    Attributes:
        root: its folder.
        joined: for files of which one was made, this one.
    """

    def __init__(self, root: Path):
        self.root = root
        self.joined: dict[tuple[Path, ...], Path] = {}

    def lighten(self, folder: Path, page: BeautifulSoup) -> None:
        """Let a page that lies in a folder load less."""
        for link in page.select("link[rel=preload]"):
            remove(link)
        sheets = [link for link in page.select("link[rel=stylesheet]") if not link.get("media")]
        scripts = page.select("script[src]")
        for script in scripts:
            script["defer"] = "defer"
            if OPTIONS in script["src"]:
                script.string = self.target(script["src"], folder).read_text(encoding="utf8")
                del script["src"], script["defer"]
        self.join(page, folder, sheets, "href", "css")
        self.join(page, folder, [script for script in scripts if script.get("src")], "src", "js")

    def target(self, address: str, folder: Path) -> Path:
        """The file that an address in a page leads to."""
        return (folder / address.partition("?")[0]).resolve()

    def join(
        self, page: BeautifulSoup, folder: Path, tags: list[Tag], name: str, kind: str
    ) -> None:
        """Let one file take the place of what all pages load by these tags."""
        tags = [tag for tag in tags if "_static/" in tag[name] and not OWN.search(tag[name])]
        if not tags or any(SHARED.search(tag[name]) for tag in tags):
            return
        files = tuple(self.target(tag[name], folder) for tag in tags)
        if files not in self.joined:
            text = "\n".join(map(self.style if kind == "css" else script_text, files))
            digest = hashlib.sha256(text.encode()).hexdigest()[:12]
            self.joined[files] = self.root.resolve() / "_static" / f"all-{digest}.{kind}"
            self.joined[files].write_text(text, encoding="utf8")
        path = self.joined[files]
        first, *others = tags
        first[name] = tags[0][name].partition("_static/")[0] + f"_static/{path.name}"
        for tag in others:
            first.attrs |= {key: tag[key] for key in tag.attrs if key.startswith("data-")}
            remove(tag)

    def style(self, path: Path) -> str:
        """A style sheet with what it imports, as it reads in `_static`."""
        text = path.read_text(encoding="utf8")
        if "fontawesome" in path.parts:
            text = self.icons(text)
        text = LEFT_OUT.sub("", text)
        static = self.root.resolve() / "_static"

        def moved(match: re.Match) -> str:
            target = os.path.relpath(path.parent / match["path"], static)
            return f'url("{Path(target).as_posix()}")'

        text = URL.sub(moved, text) if path.parent != static else text
        return IMPORT.sub(lambda match: self.style((path.parent / match["path"]).resolve()), text)

    @cached_property
    def shown(self) -> tuple[set[str], set[str]]:
        """Names and codes of the icons that pages, scripts and other style sheets may show."""
        names: set[str] = set()
        codes: set[str] = set()
        for path in sorted(self.root.rglob("*")):
            if path.suffix in READ and not UNREAD.search(path.as_posix()):
                text = path.read_text(encoding="utf8")
                names.update(ICON_NAME.findall(text))
                codes.update(ICON_CODE.findall(text) if path.suffix == ".css" else ())
        return names, codes

    def icons(self, text: str) -> str:
        """The style sheet of the icons with those alone that the site shows, and their font."""
        names, codes = self.shown
        codes = set(codes)

        def kept(match: re.Match) -> str:
            if names.isdisjoint(re.findall(r"fa-([a-z0-9-]+):", match["names"])):
                return ""
            codes.add(match["code"])
            return match[0]

        text = ICON_RULE.sub(kept, text)
        place = find_spec(
            "pydata_sphinx_theme"
        ).origin  # sites that were built do without the fonts
        theme = next(Path(place).parent.rglob("fa-solid-900.ttf")).parent
        fonts: dict[str, str] = {}

        def embedded(match: re.Match) -> str:
            family = match[0].partition("font-family:")[2].partition(";")[0]
            weight = re.search(r"font-weight:\d+", match[0])
            if weight is None:  # of editions 4
                return ""
            name = FONT_FILE.search(match[0])["path"]
            if name not in fonts:
                fonts[name] = cut_down(theme / Path(name).name, codes)
            source = f'url("data:font/woff;base64,{fonts[name]}") format("woff")'
            rule = f"font-display:block;font-family:{family};{weight[0]};src:{source}"
            return f"@font-face{{{rule}}}" if fonts[name] else ""

        return FONT_RULE.sub(embedded, text)

    def tidy(self) -> None:
        """Remove shared files that no page loads any more."""
        used: set[str] = set()
        for path in self.root.rglob("*.html"):
            used.update(SHARED.findall(path.read_text(encoding="utf8")))
        for path in (self.root / "_static").glob("all-*"):
            if SHARED.fullmatch(f"_static/{path.name}") and path.name not in used:
                path.unlink()


def script_text(path: Path) -> str:
    """A script, so that another may stand before it, and its first line says nothing about both."""
    return f";\n{LEFT_OUT.sub('', path.read_text(encoding='utf8'))}"


def cut_down(path: Path, codes: Iterable[str]) -> str:
    """A font with some characters alone, as base64; empty if it has none of them."""
    font = subset.load_font(str(path), subset.Options())
    wanted = {int(code, 16) for code in codes if re.fullmatch(r"[0-9a-f]{2,5}", code)}
    wanted &= set(font.getBestCmap())
    if not wanted:
        return ""
    options = subset.Options(flavor="woff", layout_features=[], notdef_outline=False)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=sorted(wanted))
    cutter.subset(font)
    font.flavor, content = "woff", io.BytesIO()
    font.save(content)
    return base64.b64encode(content.getvalue()).decode()


def remove(tag: Tag) -> None:
    """Take a tag out of a page, with the blanks behind it: else two meet, which are one later."""
    after = tag.next_sibling
    if isinstance(after, str) and not after.strip():
        after.extract()
    tag.decompose()


def pictures(page: BeautifulSoup) -> None:
    """Fetch the first picture of a text at once, and the others when they come near."""
    for image in page.select("article img")[1:]:
        image["loading"] = "lazy"

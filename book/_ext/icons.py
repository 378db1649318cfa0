"""Sphinx extension: of the theme's three fonts of icons, only what the pages show.

The theme sends 300 kB of icons and their names with every page, and asks for them before the text.
A page shows a dozen. After a build the fonts are replaced by one of a few kilobytes, and the style
sheet by the rules that this one needs.
"""

import logging
import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset

NAMED = re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"\\(\w+)"\}')  # names, place in the font
CLASSES = re.compile(r"\bfa-([\w-]+)")
PLACES = re.compile(r"\\(f[0-9a-f]{3})\b|([\ue000-\uf8ff])")  # of icons in style sheets
SHEET = """
:root{--fa-font-solid:normal 900 1em/1 "Font Awesome 6 Free";--fa-font-regular:var(--fa-font-solid)}
@font-face{font-family:"Font Awesome 6 Free";font-weight:900;font-display:block;
src:url(../webfonts/icons.woff) format("woff")}
.fa,.fas,.fa-solid{font:var(--fa-font-solid);display:inline-block;-webkit-font-smoothing:antialiased}
.fa-lg{font-size:1.25em;line-height:.05em;vertical-align:-.075em}
"""


def sources() -> Path:
    """The folder of the theme's own icons."""
    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    return next((theme / "vendor/fontawesome").iterdir())


def shown(root: Path, named: dict[str, str]) -> dict[str, str]:
    """Names of the icons that pages show, and their places in the font."""
    pages = [path.read_text("utf8") for path in root.rglob("*.html")]
    names = {name for page in pages for name in CLASSES.findall(page)}
    return {name: place for name, place in named.items() if name in names}


def styled(root: Path) -> set[str]:
    """Places in the font of the icons that style sheets show."""
    sheets = [path.read_text("utf8") for path in root.glob("_static/**/*.css")]
    found = [match for sheet in sheets for match in PLACES.findall(sheet)]
    return {place or f"{ord(symbol):x}" for place, symbol in found}


def write_font(places: set[str], path: Path) -> None:
    """A font of the icons at these places."""
    logging.getLogger("fontTools").setLevel(logging.WARNING)
    options = subset.Options(flavor="woff", drop_tables=["GSUB", "GPOS"], hinting=False)
    font = subset.load_font(str(sources() / "webfonts/fa-solid-900.ttf"), options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=[int(place, 16) for place in places])
    chosen.subset(font)
    subset.save_font(font, str(path), options)


def lighten(app, exception) -> None:
    """Replace fonts and style sheet of the built site."""
    root = Path(app.outdir)
    folder = root / "_static/vendor/fontawesome" / sources().name
    if exception is not None or not folder.exists():
        return
    text = (sources() / "css/all.min.css").read_text("utf8")
    named = {name: place for names, place in NAMED.findall(text) for name in CLASSES.findall(names)}
    (folder / "css/all.min.css").unlink(missing_ok=True)  # its icons are not those of the pages
    here = shown(root, named)
    for font in (folder / "webfonts").iterdir():
        font.unlink()
    write_font({*here.values(), *styled(root)}, folder / "webfonts/icons.woff")
    rules = [f'.fa-{name}:before{{content:"\\{place}"}}' for name, place in sorted(here.items())]
    (folder / "css/all.min.css").write_text(SHEET + "\n".join(rules) + "\n", encoding="utf8")


def setup(app) -> dict:
    """Register the extension."""
    app.connect("build-finished", lighten, priority=950)  # when pages are as they stay
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}

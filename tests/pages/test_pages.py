"""Every page of the built site, on screen and on paper, in a browser that reaches nothing else.

`make pages` runs this.
"""

import gzip
from pathlib import Path

import axe_playwright_python
import pytest
from built import ROOT

AXE = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text(encoding="utf8")
COLOURS = ["color-contrast-enhanced", "link-in-text-block"]  # enhanced: 7 to 1 in place of 4.5
NARROW = ["scrollable-region-focusable", "target-size", "css-orientation-lock"]

UNFOLD = """() => {
  document.querySelectorAll("div.cell_output img").forEach((image) => { image.loading = "eager"; });
  document.querySelectorAll("details").forEach((box) => { box.open = true; });
  document.querySelectorAll("button.toggle-button-hidden").forEach((button) => button.click());
}"""
SET_THEME = "(name) => { document.documentElement.dataset.theme = name; }"
# Formulas, code and rows of long tables are thousands of elements, made alike: axe-core sees them
# whole on one page. On others a formula is a box, a table is its first rows, and code is left out,
# but for boxes that scroll.
CODE = [".highlight", ".sig"]
ALL_IS_MEASURED_ON = "book/exact_reln.html"
SIMPLIFY = """() => {
  const formulas = [...document.querySelectorAll("mjx-container")]
    .map((formula) => [formula, formula.firstElementChild.getBoundingClientRect()]);
  for (const [formula, { width, height }] of formulas) {
    const box = document.createElement("span");
    box.style.cssText = `display: inline-block; width: ${width}px; height: ${height}px`;
    formula.replaceChildren(box);
  }
  document.querySelectorAll(":is(.highlight, .sig) span")
    .forEach((part) => part.replaceWith(...part.childNodes));
  document.querySelectorAll("tr:nth-child(n + 20)").forEach((row) => row.remove());
  document.body.normalize();
}"""
RUN_AXE = """async ([chosen, others, left_out]) => {
  const enabled = (rule) => chosen.includes(rule.ruleId) !== others;
  const rules = Object.fromEntries(
    axe.getRules().map((rule) => [rule.ruleId, { enabled: enabled(rule) }]));
  const measured = { exclude: left_out.map((part) => [part]) };
  const preload = rules["css-orientation-lock"].enabled;  // which alone reads style sheets
  // Without these thresholds the enhanced rule leaves to the plain one what is fainter still.
  const contrastRatio = { normal: { minThreshold: 0 }, large: { minThreshold: 0 } };
  const checks = { "color-contrast-enhanced": { options: { contrastRatio } } };
  const options = { rules, checks, preload, resultTypes: ["violations"] };
  const { violations } = await axe.run(measured, options);
  return violations.flatMap(({ id, impact, nodes }) =>
    nodes.map(({ target }) => `${impact}: ${id} at ${target.join(" ")}`));
}"""
RAW_TEX = r"""() => {
  const found = [...document.querySelectorAll("mjx-merror")].map((node) => node.textContent);
  const unread = "pre, code, script, style, title, mjx-container";
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (!node.parentElement.closest(unread) && /\$|\\\(|\\\[|\\begin\b/.test(node.data)) {
      found.push(node.data.trim().slice(0, 60));
    }
  }
  return found;
}"""
TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("main *")]
    .filter((node) => node.getBoundingClientRect().right > width + 1)
    .slice(0, 3).map((node) => node.outerHTML.slice(0, 80));
}"""
INVERTED = """() => [...document.querySelectorAll("main img, #preview img")]
  .filter((image) => /invert|hue/.test(getComputedStyle(image).filter)).map((image) => image.src)"""
CUT_OFF = """() => {
  const parts = "mjx-container[display='true'], div.math, img, table, pre";
  const shown = [...document.querySelectorAll("main article :is(" + parts + ")")]
    .filter((node) => node.getBoundingClientRect().width && !node.closest("#preview"));
  const overflow = (node) => getComputedStyle(node).overflowX;
  function cut(node) {
    const right = node.getBoundingClientRect().left + Math.max(node.scrollWidth, node.offsetWidth);
    for (let box = node; box !== document.body; box = box.parentElement) {
      if (/auto|scroll/.test(overflow(box))) return false;
      if (/hidden|clip/.test(overflow(box)) && right > box.getBoundingClientRect().right + 1) {
        return true;
      }
    }
    return false;
  }
  return shown.filter(cut).map((node) => node.outerHTML.slice(0, 80));
}"""
# Pictures of which a part is to be scrolled to, where their panels should stack.
SCROLLS = """() => [...document.querySelectorAll("div.cell_output img")].filter((image) => {
  const box = image.closest("div.cell_output");
  return image.clientWidth && box.scrollWidth > box.clientWidth + 1;
}).map((image) => image.src.split("/").pop())"""
WIDE_FORMULA = """() => [...document.querySelectorAll("main article div.math")]
  .filter((node) => node.querySelector("mjx-container") && [node, ...node.children]
    .some((part) => part.clientWidth && part.scrollWidth > part.clientWidth + 1))
  .map((node) => node.id || node.textContent.slice(0, 60))"""
# On paper there is nothing to click, nothing is cut off, and solutions are open.
CLICKABLE = """() => [...document.querySelectorAll(
  ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, button, " +
  "details.hide, .headerlink, .copybtn, .interactive input")]
  .filter((node) => node.getClientRects().length && !node.matches(".interactive-cell"))
  .map((node) => node.outerHTML.slice(0, 80))"""
FOLDED = """() => [...document.querySelectorAll(".admonition.toggle .admonition-title ~ *"),
                ...document.querySelectorAll("details:not(.hide) > :not(summary)")]
  .filter((node) => !node.matches("button") && !node.checkVisibility({ visibilityProperty: true }))
  .map((node) => node.outerHTML.slice(0, 80))"""
# What would be cut off at the right edge of the paper.
CLIPPED = """() => {
  const width = document.documentElement.clientWidth;
  const seen = "article :is(p, li, pre, td, img, svg, mjx-container, div.math, table)";
  return [...document.querySelectorAll(seen)].filter((node) => {
    const box = node.getBoundingClientRect();
    return box.width && !node.closest("mjx-assistive-mml") && box.right > width + 1;
  }).map((node) => node.outerHTML.slice(0, 90));
}"""
PHONE, SCREEN = {"width": 360, "height": 800}, {"width": 1280, "height": 900}
PAPER = {"width": 673, "height": 985}  # of A4 without its margins, in pixels
ON_PAPER = {"shown": CLICKABLE, "folded": FOLDED, "cut off": CLIPPED}
HEAVIEST = 600_000  # bytes of a page with all that it asks for, compressed
PACKED = (".woff", ".woff2", ".png")  # compressed already


def weight(address: str) -> int:
    """Bytes of a file of the site as a server sends it."""
    file = ROOT / address
    content = file.read_bytes() if file.is_file() else b""
    return len(content) if file.suffix in PACKED else len(gzip.compress(content, 6))


def leads_on(path: Path) -> bool:
    """Whether this is an old address, which leads to the page that took its text in."""
    return path.is_file() and 'http-equiv="refresh"' in path.read_text(encoding="utf8").lower()


def all_pages() -> list[str]:
    """The site's pages, relative to its root: index.html alone if it was not built."""
    found = [page.relative_to(ROOT) for page in ROOT.rglob("*.html") if "_static" not in page.parts]
    return sorted(map(str, found)) or ["index.html"]


def printed(page) -> list[str]:
    """What is wrong on paper with a page that has been loaded."""
    page.set_viewport_size(PAPER)
    page.emulate_media(media="print")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(400)
    found = [
        f"on paper, {what}: {text}" for what, js in ON_PAPER.items() for text in page.evaluate(js)
    ]
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    return found


def accessibility(page, left_out) -> list[str]:
    """What axe-core finds: all of it in light, colours in dark as well, and on a phone."""
    page.evaluate(AXE)
    found = []
    for theme, rules in {
        "light": [["color-contrast"], True],  # the enhanced one contains it
        "dark": [COLOURS, False],
    }.items():
        page.evaluate(SET_THEME, theme)
        page.wait_for_timeout(300)  # until the theme has changed
        found += [f"{theme}, {text}" for text in page.evaluate(RUN_AXE, [*rules, left_out])]
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(300)  # boxes that scroll now are marked
    return found + [f"narrow, {text}" for text in page.evaluate(RUN_AXE, [NARROW, False, []])]


@pytest.mark.parametrize("name", [name for name in all_pages() if not leads_on(ROOT / name)])
def test_page(page, address, name):
    """What is read, seen and printed; pages that only lead on are opened by the test of links."""
    asked = set()
    page.on("request", lambda request: asked.add(request.url.partition("?")[0].partition("#")[0]))
    page.set_viewport_size(PHONE)  # pictures' panels stack when a page is opened
    page.goto(f"{address}/{name}", wait_until="networkidle")
    page.set_viewport_size(SCREEN)
    page.add_style_tag(content="*, *::before, *::after { transition: none !important; }")
    page.evaluate("() => window.MathJax?.startup?.promise?.then(() => true)")
    size = sum(weight(url.removeprefix(f"{address}/")) for url in asked)
    found = [f"heavy: {size} bytes"] if size > HEAVIEST else []
    found += printed(page) if name.startswith("book/") else []
    page.set_viewport_size(PHONE)
    page.evaluate(UNFOLD)
    page.wait_for_timeout(500)  # what unfolds fades in, boxes that scroll now are marked

    found += [f"raw TeX: {text}" for text in page.evaluate(RAW_TEX)]
    found += [f"wider than 360 pixels: {text}" for text in page.evaluate(TOO_WIDE)]
    found += [f"cut off at 360 pixels: {text}" for text in page.evaluate(CUT_OFF)]
    found += [f"to be scrolled at 360 pixels: {text}" for text in page.evaluate(SCROLLS)]
    page.set_viewport_size(SCREEN)
    page.wait_for_timeout(200)
    found += [f"cut off at 1280 pixels: {text}" for text in page.evaluate(CUT_OFF)]
    found += [f"formula wider than the page: {text}" for text in page.evaluate(WIDE_FORMULA)]
    found += page.problems  # axe, which comes now, reads style sheets by itself
    whole = name == ALL_IS_MEASURED_ON
    if not whole:
        page.evaluate(SIMPLIFY)
    left_out = [] if whole else CODE
    found += [f"axe, {text}" for text in accessibility(page, left_out)]
    found += [f"inverted in the dark: {text}" for text in page.evaluate(INVERTED)]
    assert not found, "\n".join(found)

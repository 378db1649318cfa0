"""Every page on paper: nothing to click, nothing cut off, solutions open."""

import pytest
from test_pages import all_pages

from _ext import pdf

HIDDEN = """() => [...document.querySelectorAll(
  ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header-article, .prev-next-footer, button, " +
  "details.hide, .headerlink, .copybtn, .interactive input")]
  .filter((node) => node.getClientRects().length && !node.matches(".interactive-cell"))
  .map((node) => node.outerHTML.slice(0, 80))"""
FOLDED = """() => [...document.querySelectorAll(".admonition.toggle .admonition-title ~ *")]
  .filter((node) => !node.matches("button") && getComputedStyle(node).visibility !== "visible")
  .map((node) => node.outerHTML.slice(0, 80))"""
ADDRESSES = """() => [...document.querySelectorAll("article a")]
  .filter((link) => /http/.test(getComputedStyle(link, "::after").content))
  .map((link) => link.href)"""


@pytest.mark.parametrize("name", [name for name in all_pages() if name.startswith("book/")])
def test_page_on_paper(page, address, name):
    page.set_viewport_size(pdf.PAPER)
    page.goto(f"{address}/{name}", wait_until="load")
    page.evaluate("() => window.MathJax?.startup?.promise?.then(() => true)")
    page.emulate_media(media="print")
    page.evaluate("() => window.dispatchEvent(new Event('beforeprint'))")
    page.wait_for_timeout(400)
    found = [f"shown: {text}" for text in page.evaluate(HIDDEN)]
    found += [f"folded: {text}" for text in page.evaluate(FOLDED)]
    found += [f"address printed: {text}" for text in page.evaluate(ADDRESSES)]
    found += [f"cut off: {text}" for text in page.evaluate(pdf.CLIPPED)]
    assert not found, "\n".join(found)

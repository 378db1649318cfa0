"""Reading: pictures on phones, marks by touch, and after a search."""

import pytest
from test_pages import UNFOLD

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}

PARTS = """images => images.map((image) => ({
  src: image.src, wide: image.clientWidth, height: image.clientHeight,
  whole: image.clientHeight * image.getAttribute("width") / image.getAttribute("height"),
  at: parseFloat(getComputedStyle(image).objectPosition) }))"""


@pytest.fixture
def phone(browser, address):
    """A page that is touched."""
    with browser.new_context(**PHONE) as context:
        yield context.new_page()


def test_a_mark_is_reached_by_touch(phone, address):
    """The first touch shows the claim, the second leads to the ledger; one elsewhere closes it."""
    phone.goto(f"{address}/book/xor.html")
    marks, card = phone.locator("a.claim-mark:visible"), phone.locator("#preview")
    sizes = "marks => marks.map(mark => mark.getBoundingClientRect()).map(r => [r.width, r.height])"
    assert min(map(min, marks.evaluate_all(sizes))) >= 24  # for a finger
    marks.first.tap()
    card.wait_for()
    assert phone.url.endswith("xor.html") and len(card.inner_text()) > 40
    phone.locator("article h1").tap()
    card.wait_for(state="hidden")
    marks.first.tap()
    card.wait_for()
    marks.first.tap()
    phone.wait_for_url("**/ledger.html#claim-*")


def test_words_found_are_not_marked_for_ever(page, address):
    page.goto(f"{address}/book/xor.html?highlight=margin")
    page.locator("p .highlighted").first.wait_for()  # others are in folded code
    page.keyboard.press("Escape")
    assert page.locator(".highlighted").count() == 0


def test_all_panels_are_shown(phone, address):
    """Side by side the parts would be the whole picture, at one scale."""
    phone.goto(f"{address}/book/more_contexts.html", wait_until="networkidle")
    phone.evaluate(UNFOLD)
    phone.locator("img.panel >> nth=5").wait_for()  # two figures of three panels
    parts = phone.locator("img.panel").evaluate_all(PARTS)
    for picture in {part["src"] for part in parts}:
        of_it = [part for part in parts if part["src"] == picture]
        assert len(of_it) > 1 and len({round(part["height"]) for part in of_it}) == 1
        assert abs(sum(part["wide"] for part in of_it) / of_it[0]["whole"] - 1) < 0.02
        places = [part["at"] for part in of_it]
        assert places == sorted(places) and places[0] == 0 and places[-1] > 99

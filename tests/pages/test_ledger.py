"""The filter of the ledger, worked by keyboard."""

import re

import pytest

SHOWN = """() => [...document.querySelectorAll(".ledger tbody tr[id]")]
  .filter((row) => row.getClientRects().length).map((row) => row.id)"""


@pytest.fixture
def ledger(page, address):
    page.goto(f"{address}/book/ledger.html")
    return page


def counted(ledger):
    """Claims that fit and claims in all, as the page says."""
    text = ledger.locator(".ledger-filter output").inner_text()
    return tuple(map(int, re.fullmatch(r"(\d+) of (\d+) claims", text).groups()))


def test_words(ledger):
    number, total = counted(ledger)
    assert number == total > 40
    assert ledger.evaluate(SHOWN) == []
    heads = ledger.locator(".ledger-group button")
    heads.first.press("Enter")
    assert f": {len(ledger.evaluate(SHOWN))} claim" in heads.first.inner_text()
    heads.first.press("Enter")
    ledger.get_by_label("words").focus()
    ledger.keyboard.type("xor-cell-types zebra")
    assert ledger.evaluate(SHOWN) == []
    ledger.keyboard.press("Control+a")
    ledger.keyboard.type("xor-cell-types")
    assert ledger.evaluate(SHOWN) == ["claim-xor-cell-types"]
    assert counted(ledger) == (1, total)


def test_choices(ledger):
    _, total = counted(ledger)
    choices = ledger.get_by_label("verdict").locator("option").all_inner_texts()
    assert choices[0] == "all" and {"holds", "our own bound was missed"} <= set(choices)
    numbers = []
    for choice in choices[1:]:
        ledger.get_by_label("verdict").select_option(choice)
        numbers.append(counted(ledger)[0])
    assert sum(numbers) == total and min(numbers) > 0
    ledger.get_by_label("verdict").select_option("all")
    ledger.get_by_label("chapter").focus()
    ledger.keyboard.type("xor")  # a list that has the focus goes to what is typed
    shown = ledger.evaluate(SHOWN)
    assert "claim-xor-cell-types" in shown and len(shown) == counted(ledger)[0] < total
    for name in shown:
        assert ledger.locator(f"#{name} td").nth(3).inner_text().strip() == "xor"

"""Previews of links, marks of claims and names in code, by keyboard and by mouse."""

import pytest


@pytest.fixture
def chapter(page, address):
    page.goto(f"{address}/book/letting_go.html")
    return page


def test_a_claims_mark_tells_bound_and_value(chapter):
    marks = chapter.locator("a.claim-mark")
    assert marks.count() >= 10
    assert set(marks.all_inner_texts()) <= {"✓", "~", "✗"}  # none that is not measured
    marks.first.focus()
    chapter.wait_for_selector("#preview:visible")
    text = chapter.locator("#preview").inner_text()
    assert "bound: " in text and "measured: " in text
    assert marks.first.get_attribute("aria-describedby") == "preview"
    chapter.keyboard.press("Escape")
    assert not chapter.locator("#preview").is_visible()
    marks.first.click()
    chapter.wait_for_function("() => document.querySelector('tr:target')?.getClientRects().length")
    assert not chapter.problems


def test_a_name_in_code_leads_to_its_documentation(page, address):
    page.goto(f"{address}/book/gated_networks.html")
    name = page.locator("a.code-name[href$='mdsgdln.networks.pathways']:visible").first
    name.focus()
    page.wait_for_selector("#preview:visible")
    assert "num_hidden" in page.locator("#preview").inner_text()
    name.click()
    page.wait_for_url("**/api.html#mdsgdln.networks.pathways")
    assert not page.problems

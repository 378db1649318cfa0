"""Names in code lead to the interface, old addresses to where their part is now."""

import pytest
from bs4 import BeautifulSoup
from built import ROOT

from mdsgdln_book.pages import leads


def test_a_name_in_code_leads_to_its_documentation(page, address):
    page.goto(f"{address}/book/gated_networks.html")
    name = page.locator("a.code-name[href$='mdsgdln.networks.GatedNetwork']:visible").first
    name.focus()
    page.wait_for_selector("#preview:visible")
    assert "sizes" in page.locator("#preview").inner_text()
    name.click()
    page.wait_for_url("**/api.html#mdsgdln.networks.GatedNetwork")
    assert not page.problems


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("deep_linear.html#deep-fig-depth", "alignment.html#deep-fig-depth"),  # a label
        ("deep_linear.html#more-layers", "alignment.html#more-layers"),  # a heading, as it was
        (
            "deep_linear.html#silent-alignment-measured",
            "alignment.html#silent-alignment",
        ),
        ("apart.html#apart-theorem-cost", "exactness.html#apart-theorem-cost"),  # of a page gone
    ],
)
def test_an_old_address_leads_on(page, address, old, new):
    page.goto(f"{address}/book/{old}")
    page.wait_for_url(f"**/{new}")


def test_an_unknown_anchor_stays_where_it_is(page, address):
    page.goto(f"{address}/book/deep_linear.html#nowhere")
    page.wait_for_function("() => window.moved")
    assert page.url.endswith("deep_linear.html#nowhere")


def test_headings_that_were_renamed_lead_to_parts_that_exist():
    for old, new in leads.renamed().items():
        page, anchor = new.split("#")
        html = (ROOT / f"book/{page}.html").read_text(encoding="utf8")
        soup = BeautifulSoup(html, "html.parser")
        assert soup.find(id=anchor), f"{old} leads to {new}, which is nowhere"

"""Names in code lead to the interface."""


def test_a_name_in_code_leads_to_its_documentation(page, address):
    page.goto(f"{address}/book/gated_networks.html")
    name = page.locator("a.code-name[href$='mdsgdln.networks.GatedNetwork']:visible").first
    name.focus()
    page.wait_for_selector("#preview:visible")
    assert "sizes" in page.locator("#preview").inner_text()
    name.click()
    page.wait_for_url("**/api.html#mdsgdln.networks.GatedNetwork")
    assert not page.problems

"""The site as a whole: its icons, its slides, files and search."""

from built import ROOT

EMPTY = """async () => {
  Reveal.configure({ transition: "none" });
  const slides = Reveal.getSlides();
  const empty = [];
  for (const [index, slide] of slides.entries()) {
    const { h, v } = Reveal.getIndices(slide);
    Reveal.slide(h, v);
    await new Promise((done) => setTimeout(done, 150));
    const pictures = [...slide.querySelectorAll("img")];
    const broken = pictures.some((picture) => !picture.naturalWidth);
    const low = slide.getBoundingClientRect().bottom > innerHeight + 1;
    if (broken || low || slide.querySelector("mjx-merror") || !slide.innerText.trim())
      empty.push(index);
  }
  return [slides.length, empty];
}"""


def test_every_icon_is_drawn(page, address):
    """The font of icons is loaded, and the style sheet gives each icon its place in it."""
    page.goto(f"{address}/book/start.html", wait_until="networkidle")
    loaded = "() => [...document.fonts].filter(f => /Awesome/.test(f.family)).map(f => f.status)"
    assert page.evaluate(loaded) == ["loaded"]
    contents = """() => [...document.querySelectorAll("i[class*='fa-']")]
      .map((icon) => getComputedStyle(icon, "::before").content)"""
    assert set(page.evaluate(contents)) and "none" not in page.evaluate(contents)
    assert "normal" not in page.evaluate(contents)


def test_slides_from_a_file(page):
    page.goto(f"file://{ROOT}/_static/slides.html")
    page.wait_for_function("() => window.Reveal?.isReady()")
    page.wait_for_load_state("networkidle")
    number, empty = page.evaluate(EMPTY)
    assert number >= 12 and empty == []
    assert not [text for text in page.problems if "favicon" not in text]


def test_a_figure_of_a_paper_is_found_first_and_without_code(page, address):
    page.goto(f"{address}/search.html?q=MHS+Fig.+4")
    first = page.locator("#search-results li").first
    first.wait_for()
    assert "MHS Fig. 4" in first.inner_text()
    page.wait_for_timeout(1000)
    assert "\\(" not in page.locator("#search-results").inner_text()
    assert page.locator(".search a, #search-results a").first.get_attribute("href")

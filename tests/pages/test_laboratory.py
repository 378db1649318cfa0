"""The laboratory in a browser: a run to its end, by mouse, keyboard and address, offline."""

import re

import pytest
from built import ROOT
from test_pages import PHONE, SCREEN, TOO_WIDE, UNFOLD, accessibility

SAME_TASK = """hash => {
  const parts = (text) => text.slice(1).split("&").sort().join();
  return parts(location.hash) === parts(hash);
}"""
IN_VIEW = """heading => {
  const { top } = heading.getBoundingClientRect();
  return top >= 0 && top < 300;
}"""
FROM_A_FILE = f"file://{ROOT}/book/laboratory.html"


class Laboratory:
    """The page, and what one does and sees there."""

    def __init__(self, page, address):
        self.page, self.address = page, address
        self.node = page.locator("[data-figure=laboratory]")

    def open(self, task=""):
        self.page.goto("about:blank")
        self.page.goto(self.address + task)
        self.node.locator(".laboratory-go").wait_for()
        return self

    def guess(self, number):
        self.node.locator(".laboratory-bets input").nth(number).check()

    def train(self):
        """Train, and wait until all is said."""
        self.node.locator(".laboratory-go").click()
        self.node.locator(".laboratory-errors").wait_for(timeout=60_000)
        return self.words

    @property
    def words(self):
        return self.node.locator(".interactive-result").inner_text().replace("\xa0", " ")

    @property
    def hash(self):
        return self.page.evaluate("location.hash")

    def fold(self, words):
        self.node.locator("summary", has_text=words).click()

    def cell(self, block, row, item):
        return (
            self.node.locator(".laboratory-cells").nth(block).locator(f"[data-at='{row} {item}']")
        )

    def pressed(self):
        return self.node.locator("[aria-pressed=true]").all_inner_texts()


@pytest.fixture
def laboratory(page, address):
    page.emulate_media(reduced_motion="reduce")
    yield Laboratory(page, f"{address}/book/laboratory.html")
    assert not [text for text in page.problems if re.search("script error|interactive", text)]


@pytest.mark.parametrize("task", ["trees", "xor", "logistic"])
def test_a_task_to_its_end(laboratory, task):
    """All gatings are judged, the guess is answered, and nothing is drawn that is no number."""
    laboratory.open(f"#task={task}")
    assert len(laboratory.pressed()) == 1
    laboratory.guess(0)
    words = laboratory.train()
    assert re.match("You guessed it|Your guess is as good|Not “", words) and "%" in words
    bets = laboratory.node.locator(".laboratory-bets label").count()
    assert laboratory.node.locator(".laboratory-errors i").count() == bets
    assert laboratory.node.locator("svg .line.dash").count() >= bets
    shown = laboratory.node.inner_html()
    assert "NaN" not in shown and "undefined" not in shown
    cards = laboratory.node.locator(".interactive-card:visible").count()
    assert cards == (0 if task == "xor" else 6)


def test_with_motion_curves_come_at_the_end(laboratory, page):
    page.emulate_media(reduced_motion="no-preference")
    laboratory.open("#task=xor")
    laboratory.node.locator(".laboratory-go").click()
    player = laboratory.node.locator(".laboratory-player button")
    page.wait_for_function("document.querySelector('.laboratory-player input').value > 9")
    assert laboratory.node.locator("svg .line.dash").count() == 0
    player.press("Enter")
    before = laboratory.node.locator("output", has_text="step").inner_text()
    page.wait_for_timeout(300)
    assert laboratory.node.locator("output", has_text="step").inner_text() == before
    laboratory.node.locator("[aria-label='training step']").press("End")
    laboratory.node.locator(".laboratory-errors").wait_for(timeout=30_000)
    assert player.inner_text() == "replay"


def test_by_keyboard_alone(laboratory, page):
    """Arrow keys in a grid, which is one stop of the tabulator; what is used keeps the focus."""
    laboratory.open()
    focused = "() => document.activeElement.textContent"
    page.locator("[data-task=two]").press("Enter")
    assert page.evaluate(focused) == "two contexts" and laboratory.hash == "#task=two"
    laboratory.node.locator("summary", has_text="Draw").press("Enter")
    slider = laboratory.node.locator("[data-control=contexts]")
    slider.press("ArrowRight")
    assert slider.evaluate("node => node === document.activeElement")
    assert "contexts=3" in laboratory.hash
    laboratory.cell(1, 0, 0).press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert "in context 1, property 2, item 2: yes" == page.evaluate(
        "document.activeElement.getAttribute('aria-label')"
    )
    page.keyboard.press("Space")
    assert "item 2: no" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert "blocks=tree.f" in laboratory.hash and not laboratory.pressed()
    laboratory.node.locator(".laboratory-bets input").first.press("Space")
    page.keyboard.press("ArrowDown")
    go = laboratory.node.locator(".laboratory-go")
    assert go.inner_text() == "Train"
    go.press("Enter")
    laboratory.node.locator(".laboratory-errors").wait_for(timeout=60_000)


def test_a_drawing_there_and_back(laboratory):
    laboratory.open("#task=trees").fold("Draw your own")
    laboratory.node.locator("[data-control=items]").press("ArrowLeft")
    laboratory.node.get_by_label("structure in context 2").select_option("empty")
    laboratory.cell(2, 3, 1).click()
    there = laboratory.hash
    label = laboratory.cell(2, 3, 1).get_attribute("aria-label")
    laboratory.open(there).fold("Draw your own")
    assert laboratory.hash == there
    assert laboratory.cell(2, 3, 1).get_attribute("aria-label") == label
    assert laboratory.node.get_by_label("structure in context 2").input_value() == "drawn"
    laboratory.page.evaluate("location.hash = '#task=xor&margin=0.8'")
    laboratory.page.wait_for_function(
        "document.querySelector('[data-control=margin]').value === '0.8'"
    )
    assert laboratory.hash == "#task=xor&margin=0.8"


def test_challenges_open_their_task(laboratory, page):
    """They are folded below the laboratory, which then comes into view."""
    laboratory.open().page.evaluate(UNFOLD)
    links = page.locator("a[href^='laboratory.html#task=']")
    assert links.count() == 11
    for link in links.all():
        link.click()
        page.wait_for_function(SAME_TASK, arg=link.evaluate("a => a.hash"))
        page.wait_for_function(IN_VIEW, arg=laboratory.node.locator("h2").first.element_handle())


def test_rule_and_loss(laboratory):
    """Each rule has a rate of its own, each activation its σ; what is chosen is said."""
    laboratory.open("#task=trees").fold("gradient descent")
    laboratory.node.get_by_label("Muon").check()
    laboratory.node.get_by_label("logistic loss").check()
    assert laboratory.hash == "#task=trees&rate=0.01&rule=muon&loss=logistic"
    assert laboratory.node.locator("summary", has_text="ReLU · Muon · logistic loss").is_visible()
    laboratory.node.get_by_label("squared ReLU").check()
    assert (
        laboratory.hash
        == "#task=trees&scale=0.032&rate=0.01&activation=squared&rule=muon&loss=logistic"
    )
    laboratory.page.locator("[data-task=trees]").click()
    assert laboratory.hash == "#task=trees" and laboratory.node.get_by_label("descent").is_checked()


@pytest.mark.parametrize("choice", ["activation=squared", "rule=feedback"])
def test_what_does_not_hold_is_not_shown(laboratory, choice):
    """No forecast for squared ReLUs; for feedback alignment it is that of the feedback."""
    laboratory.open(f"#task=two&{choice}").guess(0)
    words, squared = laboratory.train(), "squared" in choice
    assert words.startswith("Gated networks do not foretell") == squared
    shown = laboratory.node.inner_text()
    assert ("Six neurons" in shown) != squared and ("feedback weights" in shown) != squared
    assert ("The same in Python" in shown) == squared
    assert "NaN" not in laboratory.node.inner_html()


def test_back_leads_to_the_task_before(laboratory, page):
    laboratory.open("#task=trees")
    page.locator("[data-task=two]").click()
    page.locator("[data-task=xor]").click()
    laboratory.train()
    assert laboratory.hash == "#task=xor&seed=1"
    for hash in ("#task=xor", "#task=two", "#task=trees"):
        page.go_back()
        page.wait_for_function(SAME_TASK, arg=hash)
        assert laboratory.node.is_visible()
    assert laboratory.pressed() == ["three trees"]


def test_a_shared_link_shows_the_run(laboratory, page):
    """The second start's, with the same words and losses, without a button."""
    laboratory.open("#task=xor").train()
    laboratory.node.get_by_text("train again").click()
    laboratory.node.locator("li", has_text="earlier runs").wait_for(timeout=30_000)
    assert laboratory.node.locator("[data-series='earlier runs']").count() == 1
    words, shared = laboratory.words, laboratory.hash
    assert shared == "#task=xor&seed=2"
    laboratory.open(shared)
    laboratory.node.locator(".laboratory-errors").wait_for(timeout=60_000)
    assert laboratory.words == words
    laboratory.fold("gradient descent")
    laboratory.node.get_by_label("Muon").check()
    assert "seed" not in laboratory.hash  # another task, not run yet


def test_from_a_file_and_without_requests(laboratory, page):
    """A file's page may start no worker by its address; from a text it may."""
    laboratory.address = FROM_A_FILE
    laboratory.open("#task=xor")
    page.wait_for_load_state("networkidle")
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    laboratory.train()
    assert [url for url in asked if not re.search("^blob:|favicon", url)] == []


@pytest.mark.parametrize("task", ["four", "xor"])
def test_a_run_is_accessible(laboratory, page, task):
    laboratory.open(f"#task={task}").train()
    page.evaluate(UNFOLD)
    page.add_style_tag(content="*, *::before, *::after { transition: none !important; }")
    page.evaluate("scrollTo(0, 0)")  # the button stays at the bottom of a phone, over what is there
    page.set_viewport_size(PHONE)
    page.wait_for_timeout(300)
    found = page.evaluate(TOO_WIDE)
    page.set_viewport_size(SCREEN)
    found += accessibility(page, [])
    assert not found, "\n".join(found)

"""Chapters of a small book: executed once, and again when they failed or changed."""

import pytest

from _ext import execution
from mdsgdln_book import fingerprints

HEADER = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
"""
CHAPTER = """# {name}

```{{code-cell}}
with open("{name}.begun", "a") as file:
    print("begun", file=file)
{code}
print("printed", "by {name}")
```
"""
FAILING = {
    "two": ("raise RuntimeError('said aloud')", "said aloud"),
    "three": ("import time; time.sleep(600)", "timed out"),
    "four": ("import os; os._exit(1)", "died"),
}
NAMES = ("one", *FAILING, "five")


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A book of five chapters, of which three fail."""
    monkeypatch.setattr(execution, "KEPT", tmp_path / "kept")
    monkeypatch.setattr(execution, "TIMEOUT", 5)
    for name in NAMES:
        code, _ = FAILING.get(name, ("", ""))
        (tmp_path / f"{name}.md").write_text(HEADER + CHAPTER.format(name=name, code=code))
    return tmp_path


def begun(book):
    """How often each chapter was executed."""
    counts = (book / f"{name}.begun" for name in NAMES)
    return [len(path.read_text().split()) if path.exists() else 0 for path in counts]


def execute(book):
    return execution.execute_missing([book / f"{name}.md" for name in NAMES])


def edit(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_chapters_are_executed_together_and_again_when_they_failed_or_have_changed(book):
    wrong = execute(book)
    assert len(wrong) == 3
    for name, (_, said) in FAILING.items():
        assert any(text.startswith(f"{name}: ") and said in text for text in wrong), wrong
    assert begun(book) == [1, 1, 1, 1, 1]

    edit(book / "one.md", "# one", "# one\n\nA sentence more.")
    edit(book / "five.md", '"printed"', '"said"')
    for name, (code, _) in FAILING.items():
        edit(book / f"{name}.md", code, "")
    assert execute(book) == []
    assert begun(book) == [1, 2, 2, 2, 2]
    for name, printed in (("one", "printed by one\n"), ("five", "said by five\n")):
        (cell,) = execution.code_cells(execution.kept(book / f"{name}.md"))
        assert cell.outputs[0].text == printed


def test_of_code_all_but_comments_and_docstrings_counts(tmp_path):
    texts = (
        '"""What is in it."""\nSIZE = 3  # of everything\ndef f():\n    """What it does."""\n',
        '"""Other words."""\nSIZE = 3\n\ndef f():\n    """Others."""\n',
        '"""What is in it."""\nSIZE = 4  # of everything\ndef f():\n    """What it does."""\n',
    )
    for number, text in enumerate(texts):
        (tmp_path / f"{number}.py").write_text(text)
    first, same, other = (fingerprints.content(tmp_path / f"{n}.py") for n in range(3))
    assert first == same != other


def test_a_chapter_depends_on_what_decides_its_own_claims(monkeypatch):
    claims = execution.read_claims()
    name = next(name for name, claim in claims.items() if claim.chapter == "xor")
    before = [execution.key.__wrapped__(chapter) for chapter in ("xor", "semantic")]
    rest = {key: claim for key, claim in claims.items() if key != name}
    monkeypatch.setattr(execution, "read_claims", lambda: rest)
    after = [execution.key.__wrapped__(chapter) for chapter in ("xor", "semantic")]
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)

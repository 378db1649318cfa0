"""Builds of small books: chapters are executed together and once."""

import os
import subprocess
import sys

import pytest

from _ext import build as build_command, execution

HEADER = """---
jupytext: {text_representation: {extension: .md, format_name: myst}}
kernelspec: {name: python3, display_name: Python 3, language: python}
---
"""
CHAPTER = """# {name}

```{{code-cell}}
---
mystnb: {{figure: {{caption: Some words.}}}}
---
from pathlib import Path
import time
with open("{name}.begun", "a") as file:
    print(time.time(), file=file)
{code}
print("printed", "by {name}")
```
"""
CONF = """
extensions = ["myst_nb", "_ext.execution"]
exclude_patterns = ["_build"]
nb_execution_mode = "cache"
nb_execution_show_tb = True
nb_execution_timeout = 20
"""
# What fails until it is mended, and then waits until the other has begun a second time.
FAILS = """if not Path("mended").exists():
    {fails}
while len(Path("{other}.begun").read_text().split()) < 2:
    time.sleep(0.1)
"""
FAILING = {
    "two": ("three", "raise RuntimeError('said aloud')", "said aloud"),
    "three": ("two", "time.sleep(600)", "timed out"),
    "four": ("four", "import os; os._exit(1)", "died"),
}
NAMES = ("one", "two", "three", "four", "five")


def write(project, name, code=""):
    (project / f"{name}.md").write_text(HEADER + CHAPTER.format(name=name, code=code))


@pytest.fixture
def project(tmp_path):
    """A book of five chapters, of which three fail."""
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.md").write_text("# Index\n\n```{toctree}\n" + "\n".join(NAMES) + "\n```\n")
    for name in NAMES:
        other, fails, _ = FAILING.get(name, ("", "", ""))
        write(tmp_path, name, FAILS.format(other=other, fails=fails) if fails else "")
    return tmp_path


def build(project, only=""):
    """Build by plain Sphinx, all pages or one; return the exit code and the messages."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-D", f"only_chapter={only}"]
    command += [".", "_build/html", *([f"{only}.md"] if only else [])]
    two = os.environ | {"CORES": "2"}  # on one core, too: two chapters wait for each other
    done = subprocess.run(command, cwd=project, env=two, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def begun(project):
    """How often each chapter was executed."""
    counts = (project / f"{name}.begun" for name in NAMES)
    return [len(path.read_text().split()) if path.exists() else 0 for path in counts]


def edit(path, *changes):
    text = path.read_text()
    for old, new in changes:
        text = text.replace(old, new)
    path.write_text(text)


def test_chapters_are_executed_alone_or_together_and_when_they_failed_or_have_changed(project):
    code, messages = build(project, only="one")
    assert code == 0, messages
    assert (project / "_build/html/one.html").exists() and begun(project) == [1, 0, 0, 0, 0]

    code, messages = build(project)
    assert code != 0
    for name, (_, _, said) in FAILING.items():
        assert f"{name}.md: WARNING: Executing notebook failed" in messages, messages
        assert said in messages
    assert "one.md: WARNING" not in messages and "five.md: WARNING" not in messages
    assert begun(project) == [1, 1, 1, 1, 1]

    (project / "mended").touch()
    edit(project / "one.md", ("Some words", "Others"), ("# one", "# one\n\nA sentence more."))
    edit(project / "five.md", ('"printed"', '"said"'))
    code, messages = build(project)
    assert code == 0, messages
    assert begun(project) == [1, 2, 2, 2, 2]
    page = (project / "_build/html/one.html").read_text()
    assert "printed by one" in page and "A sentence more." in page
    assert "said by five" in (project / "_build/html/five.html").read_text()


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("SIZE = 3", "SIZE = 4", True),
        ("of everything", "of all", False),
        ("What is in it", "This and that", False),
        ("What it does", "What it did", False),
    ],
)
def test_what_counts_of_code(tmp_path, old, new, counts):
    text = '"""What is in it."""\nSIZE = 3  # of everything\ndef f():\n    """What it does."""\n'
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text(text)
    other.write_text(text.replace(old, new))
    assert (execution.content(one) != execution.content(other)) == counts


def test_what_something_else_has_executed_is_kept(monkeypatch, tmp_path):
    monkeypatch.setattr(execution, "place", lambda page: tmp_path / page)
    text = "---\nkernelspec:\n  name: python3\n---\n\n```{code-cell}\n1 + 1\n```\n"
    (tmp_path / "sums.md").write_text(text)
    notebook = execution.read_myst_markdown_notebook(text, path="sums.md")
    kept = execution.get_cache(tmp_path / "book/sums")
    two = {"output_type": "execute_result", "data": {"text/plain": "2"}}
    two |= {"metadata": {}, "execution_count": 1}
    execution.keep("sums", [("1 + 2", [two], 0.5)], tmp_path)
    assert not execution.is_kept(kept, notebook)
    execution.keep("sums", [("1 + 1", [two], 0.5)], tmp_path)
    (cell,) = execution.code_cells(kept.merge_match_into_notebook(notebook)[1])
    assert cell.outputs == [two]


def test_a_chapter_depends_on_its_own_claims(monkeypatch):
    claims = execution.read_claims()
    name = next(name for name, claim in claims.items() if claim.chapter == "xor")
    before = [execution.key.__wrapped__(page) for page in ("book/xor", "book/semantic")]
    rest = {key: claim for key, claim in claims.items() if key != name}
    monkeypatch.setattr(execution, "read_claims", lambda: rest)
    after = [execution.key.__wrapped__(page) for page in ("book/xor", "book/semantic")]
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


def test_a_page_has_to_be_known():
    with pytest.raises(SystemExit, match="expected one of .*semantic.*; got semantics"):
        build_command.main("semantics")


def test_pages_built_alone_one_after_the_other_are_read_anew_with_the_book(project):
    for name in FAILING:
        write(project, name)
    edit(project / "one.md", ("# one", "# one\n\n{ref}`nowhere`"))
    for name, good in (("one", False), ("five", True), ("", False)):
        code, messages = build(project, only=name)
        assert (code == 0) == good and ("nowhere" in messages) != good, messages
    assert begun(project) == [1, 1, 1, 1, 1]

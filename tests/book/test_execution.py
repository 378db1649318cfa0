"""Chapters are executed before a build reads them, several at a time, and no more than once."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

CHAPTER = """---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
kernelspec: {{name: python3, display_name: Python 3, language: python}}
---
# {name}

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
extensions = ["myst_nb", "mdsgdln_book.extensions.execution"]
exclude_patterns = ["_build"]
nb_execution_mode = "cache"
nb_execution_timeout = 60
import os
os.cpu_count = lambda: 2
"""

WAIT = """while not Path("{other}.begun").exists():
    time.sleep(0.1)
"""


@pytest.fixture
def project(tmp_path):
    """A book of two chapters, each of which waits until the other has begun."""
    (tmp_path / "conf.py").write_text(CONF)
    (tmp_path / "index.md").write_text("# Index\n\n```{toctree}\none\ntwo\n```\n")
    for name, other in (("one", "two"), ("two", "one")):
        text = CHAPTER.format(name=name, code=WAIT.format(other=other))
        (tmp_path / f"{name}.md").write_text(text)
    return tmp_path


def begin(project, only="", **settings):
    """Begin to build with -W, all pages or one, in a process group of its own."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going"]
    for name, value in {"only_chapter": only, **settings}.items():
        command += ["-D", f"{name}={value}"]
    command += [".", "_build/html", *([f"{only}.md"] if only else [])]
    where = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=project, start_new_session=True, **where)


def build(project, only="", **settings):
    """Build with -W, all pages or one; return the exit code and the messages."""
    process = begin(project, only, **settings)
    messages = "".join(process.communicate())
    return process.returncode, messages


def begun(project, name):
    """When a chapter was executed."""
    path = project / f"{name}.begun"
    return [float(line) for line in path.read_text().split()] if path.exists() else []


def test_chapters_are_executed_together_and_once(project):
    start = time.time()
    code, messages = build(project)
    assert code == 0, messages
    assert "one: executed in" in messages and ", 2 of 2 chapters" in messages
    assert all(begun(project, name)[0] > start for name in ("one", "two"))
    text = (project / "two.md").read_text().replace("Some words", "Others")
    (project / "two.md").write_text(text + "\nA sentence more.\n")
    code, messages = build(project)
    assert code == 0, messages
    assert "1 changed" in messages and "executed in" not in messages
    page = (project / "_build/html/two.html").read_text()
    assert "printed by two" in page and "A sentence more." in page
    assert [len(begun(project, name)) for name in ("one", "two")] == [1, 1]


def test_a_chapter_that_fails_is_executed_once_a_build(project):
    text = CHAPTER.format(name="two", code="raise RuntimeError('said aloud')")
    (project / "two.md").write_text(text)
    for count in (1, 2):
        code, messages = build(project)
        assert code != 0
        cause = "code cell 1: RuntimeError: said aloud"
        assert f"two.md:7: WARNING: Executing notebook failed: {cause}" in messages
        assert not re.search(r"one.md.*WARNING", messages)
        assert messages.splitlines()[-1] == f"Chapter two failed at line 7, {cause}"
        assert [len(begun(project, name)) for name in ("one", "two")] == [1, count]


def test_one_chapter_alone(project):
    (project / "one.md").write_text(CHAPTER.format(name="one", code=""))
    build(project, only="one")
    assert (project / "_build/html/one.html").exists() and not begun(project, "two")
    code, messages = build(project)
    assert code == 0, messages
    assert [len(begun(project, name)) for name in ("one", "two")] == [1, 1]


def test_a_chapter_that_hangs_is_named(project):
    (project / "two.md").write_text(CHAPTER.format(name="two", code="time.sleep(600)"))
    code, messages = build(project, nb_execution_timeout=5)
    assert code != 0
    last = messages.splitlines()[-1]
    assert re.match("Chapter two failed at line 7, code cell 1: .*timed out", last), messages


def whole(project):
    """Build once more: nothing wrong is left of what was there before, on no page."""
    code, messages = build(project)
    assert code == 0, messages
    for name in ("one", "two"):
        assert f"printed by {name}" in (project / f"_build/html/{name}.html").read_text()


@pytest.mark.nightly
def test_a_build_that_was_killed_is_built_again(project):
    moments = random.Random(10)
    for _ in range(10):
        process = begin(project)
        time.sleep(moments.uniform(0.5, 8))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    whole(project)


@pytest.mark.nightly
def test_two_builds_at_a_time_leave_nothing_wrong(project):
    for process in [begin(project), begin(project)]:
        process.communicate()
    whole(project)

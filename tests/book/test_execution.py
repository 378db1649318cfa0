"""Chapters are executed several at a time before a build reads them."""

import subprocess
import sys
import time

import pytest

CHAPTER = """---
jupytext: {{text_representation: {{extension: .md, format_name: myst}}}}
kernelspec: {{name: python3, display_name: Python 3}}
---
# {name}

```{{code-cell}}
from pathlib import Path
import time
Path("{name}.begun").write_text(str(time.time()))
{code}
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


def build(project):
    """Build with -W; return the exit code and the messages."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", ".", "_build/html"]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def begun(project):
    """When each chapter was last executed."""
    return {name: float((project / f"{name}.begun").read_text()) for name in ("one", "two")}


def test_chapters_are_executed_together_and_once(project):
    start = time.time()
    code, messages = build(project)
    assert code == 0, messages
    assert "one: executed in" in messages
    first = begun(project)
    assert min(first.values()) > start
    (project / "two.md").write_text((project / "two.md").read_text() + "\nA sentence more.\n")
    code, messages = build(project)
    assert code == 0, messages
    assert begun(project) == first  # its code is the same, so it comes from the cache


def test_a_chapter_that_fails_fails_the_build(project):
    text = CHAPTER.format(name="two", code="raise RuntimeError('said aloud')")
    (project / "two.md").write_text(text)
    code, messages = build(project)
    assert code != 0
    assert "two.md: WARNING: Executing notebook failed" in messages
    assert "one.md: WARNING" not in messages

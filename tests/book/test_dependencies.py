"""A chapter's key changes with what its outputs depend on, and with nothing else."""

import pytest
import yaml

from mdsgdln_book import dependencies, places

CHAPTER = """---
kernelspec: {{name: python3, display_name: Python 3}}
---
# {name}

```{{code-cell}}
---
mystnb: {{figure: {{caption: Some words.}}}}
---
{code}
```
"""
CLAIM = {"source": "us", "about": "ours", "kind": "experiment", "statement": "s"}
CLAIM |= {"measure": "m", "bound": {"at_most": 1}}
MODULE = '"""What is in it."""\n\nSIZE = 3  # of everything\n'
FILES = {
    "requirements.txt": "jax==1\n",
    "mdsgdln/training.py": MODULE,
    "book/one.md": CHAPTER.format(
        name="one", code='from mdsgdln_book import tables\n\nraces = tables.load("races")'
    ),
    "book/two.md": CHAPTER.format(
        name="two", code='tables.cost("sweeps")\nprint(places.BOOK / "one")'
    ),
    "book/three.md": CHAPTER.format(name="three", code="from mdsgdln_book import paper_figures"),
    "book/claims.yml": yaml.safe_dump(
        [{**CLAIM, "id": name, "chapter": name} for name in ("one", "two")]
    ),
    "book/mdsgdln_book/tables.py": MODULE,
    "book/mdsgdln_book/helpers.py": MODULE,
    "book/mdsgdln_book/experiments/running.py": "from mdsgdln_book import helpers\n"
    + 'TABLES = {"races": 1}\n',
    "book/mdsgdln_book/experiments/other.py": 'TABLES = {"gates": 1}\n',
    "book/mdsgdln_book/paper_figures/__init__.py": "from mdsgdln_book.paper_figures import drawn\n",
    "book/mdsgdln_book/paper_figures/drawn.py": 'load("gates")\nSIZE = 3\n',
    "book/mdsgdln_book/results/races.jsonl": "{}",
    "book/mdsgdln_book/results/gates.jsonl": "{}",
    "book/mdsgdln_book/results/cost.json": "{}",
}


@pytest.fixture
def book(tmp_path, monkeypatch):
    """A clone of a tiny book: chapter one loads a table, two costs and the code of chapter one."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    package = tmp_path / "book/mdsgdln_book"
    changed = {"ROOT": tmp_path, "BOOK": package.parent, "PACKAGE": package}
    for name, path in {**changed, "RESULTS": package / "results"}.items():
        monkeypatch.setattr(places, name, path)
    return package.parent


@pytest.mark.parametrize(
    ("file", "old", "new", "executed"),
    [
        ("book/one.md", "# one", "# One, in other words", ""),
        ("book/one.md", "Some words", "Other words", ""),
        ("book/one.md", "tables.load", "tables.find", "one two"),
        ("book/one.md", "mystnb:", "tags: [raises-exception]\nmystnb:", "one two"),
        ("book/two.md", "sweeps", "growth", "two"),
        ("mdsgdln/training.py", "of everything", "of all", ""),
        ("mdsgdln/training.py", "What is in it", "This and that", ""),
        ("mdsgdln/training.py", "SIZE = 3", "SIZE = 4", "one two three"),
        ("requirements.txt", "jax==1", "jax==2", "one two three"),
        ("book/claims.yml", "id: two\n  kind: experiment", "id: two\n  kind: theorem check", "two"),
        ("book/mdsgdln_book/tables.py", "SIZE = 3", "SIZE = 4", "one"),
        ("book/mdsgdln_book/helpers.py", "of everything", "of all", ""),
        ("book/mdsgdln_book/helpers.py", "SIZE = 3", "SIZE = 4", "one"),
        ("book/mdsgdln_book/experiments/running.py", "1", "2", "one"),
        ("book/mdsgdln_book/experiments/other.py", "1", "2", "three"),
        ("book/mdsgdln_book/results/races.jsonl", "{}", "{ }", "one"),
        ("book/mdsgdln_book/results/gates.jsonl", "{}", "{ }", "three"),
        ("book/mdsgdln_book/paper_figures/drawn.py", "SIZE = 3", "SIZE = 4", "three"),
        ("book/mdsgdln_book/results/cost.json", "{}", "{ }", "two"),
    ],
)
def test_what_counts(book, file, old, new, executed):
    def keys():
        return {name: dependencies.key(book / f"{name}.md") for name in ("one", "two", "three")}

    before, text = keys(), (book.parent / file).read_text()
    assert before == keys() and old in text
    (book.parent / file).write_text(text.replace(old, new))
    assert [name for name, now in keys().items() if now != before[name]] == executed.split()


def test_what_is_no_python_names_every_word():
    code = dependencies.read_code("%time tables.load('races')")
    assert {"races", "tables"} <= code.texts & code.imports

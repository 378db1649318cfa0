"""What a release needs: one version, packages for any system, archives with equal bytes."""

import ast
import hashlib
import json
import re
import subprocess
import sys
import tarfile

import pytest
import yaml

import mdsgdln
import mdsgdln_book
from mdsgdln_book import release
from mdsgdln_book.places import BOOK, ROOT


def test_one_version_and_one_date_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version, date = re.search(r"^## ([\d.]+), (\d{4}-\d\d-\d\d)$", changes, re.M).groups()
    assert version == mdsgdln.__version__ == mdsgdln_book.__version__ == citation["version"]
    assert date == citation["date-released"] and date.startswith(config["copyright"])
    assert "version" not in archived  # Zenodo takes the tag
    assert archived["title"] == citation["title"] == config["title"]
    assert archived["description"] == citation["abstract"]
    assert archived["keywords"] == citation["keywords"]
    wheels = re.findall(r"mdsgdln(?:_book)?-([\d.]+)-py3", (BOOK / "api.md").read_text("utf8"))
    assert set(wheels) == {version}


# Any system --------------------------------------------------------------------------------------

POSIX = {"crypt", "grp", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"}
SHELLS = {"system", "popen", "spawnl", "spawnv", "execv", "execvp", "fork", "forkpty", "startfile"}


def system_problems(source):
    """What a module does that only some systems can do, or do in another way."""
    guarded = {
        inner
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Try)
        for inner in map(ast.dump, node.body)
    }
    for node in ast.walk(ast.parse(source)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        yield from (f"imports {name}" for name in POSIX.intersection(names))
        if "fcntl" in names and ast.dump(node) not in guarded:
            yield "imports fcntl unguarded"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "os" and node.attr in SHELLS:
                yield f"calls os.{node.attr}"
        if isinstance(node, ast.Constant) and re.match(r"/(tmp|dev|usr|bin)\b", str(node.value)):
            yield f"names {node.value}"
        if isinstance(node, ast.Call):
            given = {keyword.arg: keyword.value for keyword in node.keywords}
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            mode = next((a.value for a in node.args[1:2] if isinstance(a, ast.Constant)), "")
            if "shell" in given:
                yield "uses a shell"
            if called in ("read_text", "write_text") or (called == "open" and "b" not in str(mode)):
                if "encoding" not in given:
                    yield f"{called} without an encoding"


@pytest.mark.parametrize("path", sorted((ROOT / "mdsgdln").rglob("*.py")), ids=lambda p: p.stem)
def test_the_package_asks_for_no_system(path):
    assert list(system_problems(path.read_text(encoding="utf8"))) == []


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import resource", "imports resource"),
        ("import fcntl", "imports fcntl unguarded"),
        ("import os\nos.fork()", "calls os.fork"),
        ("subprocess.run('ls', shell=True)", "uses a shell"),
        ("path.read_text()", "read_text without an encoding"),
        ("open('/tmp/x', 'rb')", "names /tmp/x"),
    ],
)
def test_what_asks_for_a_system_is_seen(source, problem):
    assert problem in set(system_problems(source))


@pytest.mark.nightly  # a minute each
@pytest.mark.parametrize("system", ["win32", "darwin"])
def test_types_hold_where_a_system_lacks_what_others_have(system):
    """Typing knows what each system's library has: os.fork is no attribute on Windows."""
    command = [sys.executable, "-m", "mypy", "--platform", system, "--no-warn-unused-ignores"]
    cache = ["--cache-dir", str(ROOT / f".mypy_cache/{system}")]
    done = subprocess.run([*command, *cache, "mdsgdln"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


# Archives ----------------------------------------------------------------------------------------


def test_packages_have_the_same_bytes_when_built_again(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    for folder in ("one", "two"):
        release.build_packages(tmp_path / folder)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / f).iterdir()} for f in ("one", "two"))
    assert one == two and len(one) == 2
    assert {name.rpartition("-")[2] for name in one} == {"any.whl", "1.0.0.tar.gz"}


def test_a_site_is_packed_into_the_same_bytes_without_what_is_hidden(tmp_path):
    site = tmp_path / "site"
    (site / "book").mkdir(parents=True)
    (site / "book/a.html").write_text("a")
    (site / ".checked").write_text("x")
    first, again = (tmp_path / name / "book-1.tar.gz" for name in ("one", "two"))
    for target in (first, again):
        target.parent.mkdir()
        (site / "index.html").write_text("b")  # a new date
        release.archive(site, target, 1_700_000_000)
    assert first.read_bytes() == again.read_bytes()
    with tarfile.open(first) as tar:
        assert tar.getnames() == ["book-1/book", "book-1/book/a.html", "book-1/index.html"]
        assert {entry.mtime for entry in tar} == {1_700_000_000}


# What is released --------------------------------------------------------------------------------


def test_a_tree_with_changes_is_not_released():
    assert release.refusal(None, None) == "there is no Git repository"
    assert release.refusal("1a2b", "") == ""
    changed = release.refusal("1a2b", " M README.md")
    assert changed == "the tree differs from commit 1a2b:\n M README.md"


def test_what_cannot_be_reproduced_is_not_released(monkeypatch):
    monkeypatch.setattr(release, "git", lambda _, command, *__: "1a2b" * (command == "rev-parse"))
    monkeypatch.setattr(release.reproduction, "reproduce", lambda: {"differ": ["xor", "noise"]})
    assert release.main([]) == "Nothing is released: xor, noise cannot be reproduced"


def test_the_manifest_has_checksums_and_says_what_was_reproduced(tmp_path):
    (tmp_path / "book.pdf").write_bytes(b"pdf")
    found = release.manifest(tmp_path, "1a2b", "2026-11-23", {"tables": 2, "differ": []})
    assert (found["commit"], found["reproduced"]["tables"]) == ("1a2b", 2)
    assert found["files"] == {
        "book.pdf": {"sha256": hashlib.sha256(b"pdf").hexdigest(), "bytes": 3}
    }


# Workflows ---------------------------------------------------------------------------------------

WORKFLOWS = {
    path.name: yaml.load(path.read_text(encoding="utf8"), yaml.BaseLoader)  # "on" stays a word
    for path in (ROOT / ".github/workflows").glob("*.yml")
}
JOBS = [(name, job) for name, found in WORKFLOWS.items() for job in found["jobs"]]
WRITES = {
    ("book.yml", "deploy"): {"pages", "id-token"},
    ("book.yml", "notebooks"): {"contents"},
    ("gpu.yml", "rearm"): {"pull-requests"},
    ("release.yml", "packages"): {"contents"},
    ("release.yml", "pypi"): {"id-token"},
    ("release.yml", "pages"): {"pages", "id-token"},
}


def of_pull_requests(name, job):
    return "pull_request" in WORKFLOWS[name][
        "on"
    ] and "github.event_name != 'pull_request'" not in (WORKFLOWS[name]["jobs"][job].get("if", ""))


@pytest.mark.parametrize(("name", "job"), JOBS)
def test_a_job_has_no_right_and_runs_no_code_that_it_does_not_need(name, job):
    workflow = WORKFLOWS[name]
    found = workflow["jobs"][job]
    assert workflow["permissions"] in ({}, {"contents": "read"})
    given = found.get("permissions", {}).items()
    writes = {right for right, kind in given if kind == "write"}
    assert writes == WRITES.get((name, job), set())
    assert not (writes and of_pull_requests(name, job)) or job == "rearm"
    assert "pull_request_target" not in workflow["on"] and "timeout-minutes" in found or writes
    for step in found["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"].partition(" ")[0])
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] == "false"
        filled_in = re.findall(r"\$\{\{(.*?)\}\}", step.get("run", ""))
        assert {text.strip() for text in filled_in} <= {"matrix.target"}  # of constants
        if "id-token" in writes or name == "release.yml":
            assert "cache" not in step.get("with", {})
    assert "secrets." not in str(found)


def test_the_gpu_runs_for_read_code_of_this_repository_alone():
    jobs = WORKFLOWS["gpu.yml"]["jobs"]
    assert all("head.repo.full_name == github.repository" in job["if"] for job in jobs.values())
    assert "github.event.label.name == 'gpu'" in jobs["gpu"]["if"]
    assert not any("GPU_RUNNER" in str(found) for n, found in WORKFLOWS.items() if n != "gpu.yml")

"""What a release needs: one version, a package for any system, jobs without rights to spare."""

import ast
import json
import re
import subprocess
import sys

import pytest
import yaml

import mdsgdln
import mdsgdln_book
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

"""What a release needs: one version and date, and jobs without rights to spare."""

import json
import re

import pytest
import yaml

import mdsgdln
from mdsgdln_book.places import BOOK, ROOT


def test_one_version_and_one_date_everywhere():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf8"))
    archived = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf8")
    version, date = re.search(r"^## ([\d.]+), (\d{4}-\d\d-\d\d)$", changes, re.M).groups()
    assert version == mdsgdln.__version__ == citation["version"]
    assert date == citation["date-released"] and date.startswith(config["copyright"])
    assert "version" not in archived  # Zenodo takes the tag
    assert archived["title"] == citation["title"] == config["title"]
    assert archived["description"] == citation["abstract"]
    assert archived["keywords"] == citation["keywords"]
    pages = " ".join((BOOK / name).read_text("utf8") for name in ("api.md", "your_network.md"))
    assert {*re.findall(r"mdsgdln(?:_book)?-([\d.]+)-py3", pages)} == {version}


WORKFLOWS = {
    path.name: yaml.load(path.read_text(encoding="utf8"), yaml.BaseLoader)  # "on" stays a word
    for path in (ROOT / ".github/workflows").glob("*.yml")
}
WRITES = {
    ("book.yml", "deploy"): {"pages", "id-token"},
    ("book.yml", "notebooks"): {"contents"},
    ("release.yml", "packages"): {"contents"},
    ("release.yml", "pypi"): {"id-token"},
}


@pytest.mark.parametrize(
    ("name", "job"), [(name, job) for name, found in WORKFLOWS.items() for job in found["jobs"]]
)
def test_a_job_has_no_right_and_runs_no_code_that_it_does_not_need(name, job):
    workflow = WORKFLOWS[name]
    found = workflow["jobs"][job]
    assert workflow["permissions"] in ({}, {"contents": "read"})
    writes = {right for right, kind in found.get("permissions", {}).items() if kind == "write"}
    assert writes == WRITES.get((name, job), set())
    if writes and "pull_request" in workflow["on"]:
        assert "github.event_name != 'pull_request'" in found["if"]
    if "GPU_RUNNER" in str(found):  # a machine of one's own
        assert set(workflow["on"]) == {"schedule", "workflow_dispatch"}
    assert "pull_request_target" not in workflow["on"] and "secrets." not in str(found)
    for step in found["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", step["uses"].partition(" ")[0])
        if step.get("uses", "").startswith("actions/checkout"):
            assert step["with"]["persist-credentials"] == "false"
        filled_in = re.findall(r"\$\{\{(.*?)\}\}", step.get("run", ""))
        assert {text.strip() for text in filled_in} <= {"matrix.target"}  # of constants
        if "id-token" in writes or name == "release.yml":
            assert "cache" not in step.get("with", {})

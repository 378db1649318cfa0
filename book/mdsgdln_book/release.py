"""`make release`: everything of a version that is published, in `_build/release`, with checksums.

    python -m mdsgdln_book.release [--draft]

Everything is reproduced first: what differs is not released. Then wheel and source archive of the
package, the site, the book as PDF, and a manifest that says which commit they were made from and
what was recomputed. Made twice from one commit, all but the PDF have the same bytes. A draft is not
reproduced.
"""

import argparse
import gzip
import hashlib
import json
import os
import platform
import subprocess
import sys
import tarfile
from pathlib import Path
from shutil import rmtree

from mdsgdln import __version__
from mdsgdln._results import git
from mdsgdln_book import reproduction
from mdsgdln_book.pages import pdf
from mdsgdln_book.places import ROOT

SITE, RELEASE = ROOT / "_build/html", ROOT / "_build/release"
MANIFEST = "manifest.json"
PUBLISH = """\
{folder} has version {version}. To publish it, from this commit:

    git tag --annotate v{version} --cleanup=verbatim --file {folder}/{manifest}
    git push origin v{version}

The tag carries the manifest. The workflow `release` builds wheel and source archive again and stops
unless they have the manifest's checksums. Then it makes the release on GitHub, of which Zenodo
keeps a copy described by .zenodo.json (where the repository is switched on there), publishes on
PyPI (project mdsgdln; trusted publisher: workflow release.yml, environment pypi), and builds the
site for Pages. Add what only this machine has made:

    gh release upload v{version} {folder}/{manifest} {others}
"""


def refusal(commit: str | None, changes: str | None) -> str:
    """Return why nothing can be released; empty if it can."""
    if commit is None:
        return "there is no Git repository"
    return f"the tree differs from commit {commit[:12]}:\n{changes}" if changes else ""


def build_packages(folder: Path) -> None:
    """Build wheel and source archive of the package."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-t", "sdist"]
    subprocess.run([*command, "-d", str(folder)], cwd=ROOT, check=True, capture_output=True)


def build_site() -> None:
    """Build all pages anew; chapters that are executed already stay so."""
    for old in (SITE, ROOT / "_build/.doctrees"):
        rmtree(old, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "mdsgdln_book.build"], cwd=ROOT, check=True)


def archive(site: Path, target: Path, date: int) -> None:
    """Pack a site, so that the same site gives the same bytes; hidden files stay out."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = ""
        entry.mtime, entry.mode = date, 0o755 if entry.isdir() else 0o644
        return entry

    with (
        target.open("wb") as file,
        gzip.GzipFile("", "wb", mtime=date, fileobj=file) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for path in sorted(site.rglob("*")):
            place = path.relative_to(site)
            if not any(part.startswith(".") for part in place.parts):
                tar.add(
                    path,
                    f"{target.name.partition('.tar')[0]}/{place.as_posix()}",
                    False,
                    filter=plain,
                )


def manifest(folder: Path, commit: str, date: str, reproduced: dict | str) -> dict:
    """Return what a folder holds, what it was made from, and what was reproduced."""
    files = sorted(path for path in folder.iterdir() if path.name != MANIFEST)
    contents = {path.name: path.read_bytes() for path in files}
    return {
        "version": __version__,
        "commit": commit,
        "date": date,
        "made with": {"python": platform.python_version(), "machine": platform.machine()},
        "reproduced": reproduced,
        "files": {
            name: {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
            for name, content in contents.items()
        },
    }


def main(arguments: list[str]) -> str | None:
    """Make a release, or say why there is none."""
    parser = argparse.ArgumentParser(prog="python -m mdsgdln_book.release")
    parser.add_argument("--draft", action="store_true", help="do not reproduce anything")
    draft = parser.parse_args(arguments).draft
    commit = git(ROOT, "rev-parse", "HEAD")
    reason = refusal(commit, git(ROOT, "status", "--porcelain"))
    if commit is None or reason:
        return f"Nothing is released: {reason}"
    reproduced = "not at all: a draft" if draft else reproduction.reproduce()
    if not draft and reproduced["differ"]:
        return f"Nothing is released: {', '.join(reproduced['differ'])} cannot be reproduced"
    seconds, _, date = str(git(ROOT, "log", "-1", "--format=%ct %cI")).partition(" ")
    os.environ["SOURCE_DATE_EPOCH"] = seconds
    rmtree(RELEASE, ignore_errors=True)
    RELEASE.mkdir(parents=True)
    build_packages(RELEASE)
    build_site()
    name = f"mdsgdln-book-{__version__}"
    archive(SITE, RELEASE / f"{name}.tar.gz", int(seconds))
    if pdf.main(SITE, RELEASE / f"{name}.pdf"):
        return "The PDF lacks something."
    text = json.dumps(manifest(RELEASE, commit, date, reproduced), indent=1) + "\n"
    (RELEASE / MANIFEST).write_text(text, encoding="utf8")
    folder = RELEASE.relative_to(ROOT)
    others = " ".join(str(folder / f"{name}.{ending}") for ending in ("pdf", "tar.gz"))
    print(text)
    print(
        "A draft: nothing was reproduced, so it is not to be published."
        if draft
        else PUBLISH.format(folder=folder, version=__version__, manifest=MANIFEST, others=others)
    )
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Links inside the built site lead somewhere; no page shows a directive or a traceback."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup
from built import ROOT
from test_pages import all_pages

RAW = re.compile(r"(?:```+|:::+)\s*\{|Traceback \(most recent call last\)")


@cache
def places(path: Path) -> set[str]:
    return set(re.findall(r'\sid="([^"]+)"', path.read_text(encoding="utf8")))


def problem(path: Path, link: str) -> str | None:
    """What is wrong with a link of a page."""
    url = urlsplit(link)
    if url.scheme or url.netloc:
        return None
    target = (path.parent / unquote(url.path)).resolve() if url.path else path
    target = target / "index.html" if target.is_dir() else target
    if not target.is_file() or not target.is_relative_to(ROOT):
        return f"broken link {link}"
    if target.name == "laboratory.html" and url.fragment.startswith("task="):
        return None  # its script reads the task
    if url.fragment and target.suffix == ".html" and url.fragment not in places(target):
        return f"link to a missing place {link}"
    return None


@pytest.mark.parametrize("name", all_pages())
def test_links_lead_to_places_and_what_is_shown_is_text(name):
    page = BeautifulSoup((ROOT / name).read_text(encoding="utf8"), "html.parser")
    links = [link["href"] for link in page.find_all("a", href=True)]
    found = [wrong for link in links if (wrong := problem(ROOT / name, link))]
    for text in (page.find("article") or page).find_all(string=RAW):
        if "Traceback" in text or not text.find_parent(["pre", "code"]):
            found.append(f"shows {text.strip()[:60]!r}")
    assert not found, "\n".join(found)

"""Links that leave the site: `python -m mdsgdln_book.links _build/html` says which are dead.

A dead link elsewhere is no fault of the book's code: it is a warning, and the exit status is 0.
"""

import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from .site import parse

TIMEOUT = 20  # seconds
REFUSED = {401, 403, 405, 418, 429}  # a program may not read it; a person may


def external_links(root: Path) -> dict[str, set[str]]:
    """Where the site links to: {address: pages}."""
    found = defaultdict(set)
    for path in sorted(root.rglob("*.html")):
        if "_static" in path.relative_to(root).parts:
            continue
        for link in parse(path).find_all("a", href=True):
            if link["href"].startswith(("http://", "https://")):
                found[link["href"].partition("#")[0]].add(path.stem)
    return dict(found)


def problem(address: str) -> str:
    """What is wrong with an address, empty if nothing is."""
    request = Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urlopen(request, timeout=TIMEOUT):
            return ""
    except HTTPError as error:
        return "" if error.code in REFUSED else f"status {error.code}"
    except (OSError, ValueError) as error:
        return str(error)


def main(arguments: list[str]) -> int:
    """Ask for every address once and print what is dead, in the form that GitHub shows."""
    links = external_links(Path(arguments[0]))
    with ThreadPoolExecutor(8) as pool:
        for address, found in zip(links, pool.map(problem, links), strict=True):
            if found:
                print(f"::warning::{', '.join(sorted(links[address]))}: {address}: {found}")
    print(f"{len(links)} addresses outside the site were asked for.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

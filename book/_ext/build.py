"""`make book`, with CHAPTER or without: Jupyter Book without what concerns only itself.

    python -m _ext.build [chapter]

Builds all pages, or one as it lies in the book; other chapters are then not executed. Every warning
of the whole book is an error. `jupyter-book build .` makes the same site.
"""

import shutil
import sys

from jupyter_book.sphinx import build_sphinx

from mdsgdln_book.places import BOOK, ROOT

SITE = ROOT / "_build/html"


def build(chapter: str = "", builder: str = "html") -> bool:
    """Build the site or one page of it; say whether that was possible without a complaint."""
    settings = {
        "external_toc_path": str(ROOT / "_toc.yml"),
        "latex_individualpages": False,
        "nitpicky": True,
        "only_chapter": f"book/{chapter}" if chapter else "",
    }
    failed = build_sphinx(
        ROOT,
        ROOT / "_build" / builder,
        path_config=ROOT / "_config.yml",
        noconfig=True,
        confoverrides=settings,
        filenames=[str(BOOK / f"{chapter}.md")] if chapter else None,
        warningiserror=not chapter,
        keep_going=True,
        quiet=not sys.stdout.isatty(),
        builder=builder,
    )
    if failed and not chapter:  # what has a warning is read anew by the next build
        shutil.rmtree(ROOT / "_build/.doctrees", ignore_errors=True)
    return not failed


def main(chapter: str = "") -> int:
    """Build, and say which page to open; 1 if anything is wrong."""
    known = sorted(page.stem for page in BOOK.glob("*.md"))
    if chapter and chapter not in known:
        sys.exit(f"CHAPTER: expected one of {', '.join(known)}; got {chapter}")
    good = build(chapter)
    if good:
        page = SITE / (f"book/{chapter}.html" if chapter else "index.html")
        print(f"Open {page.relative_to(ROOT)}, or run 'make serve'.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

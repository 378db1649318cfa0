"""Names in code lead to their documentation."""

import re
from pathlib import Path

MODULE_MEMBER = re.compile(  # in a link already if "> is before it
    r'(?<!">)<span class="n">(\w+)</span><span class="o">\.</span><span class="n">(\w+)</span>'
)
IDENTIFIER = re.compile(r'<[a-z][^>]*?\bid="([^"]+)"')
INTERFACE = "book/api.html"


def public_names(root: Path) -> set[str]:
    """What the interface's page of a built site documents: {"mdsgdln.tasks.xor", …}."""
    page = root / INTERFACE
    found = IDENTIFIER.findall(page.read_text(encoding="utf8")) if page.is_file() else []
    return {name for name in found if name.startswith("mdsgdln.")}


def link_names(html: str, names: set[str], interface: str = "api.html") -> str:
    """Let `tasks.xor` in code lead to its documentation.

    >>> code = '<span class="n">tasks</span><span class="o">.</span><span class="n">xor</span>'
    >>> "#mdsgdln.tasks.xor" in link_names(code, {"mdsgdln.tasks.xor"})
    True
    """

    def linked(match: re.Match) -> str:
        name = f"mdsgdln.{match[1]}.{match[2]}"
        if name not in names:
            return match[0]
        return f'<a class="code-name" href="{interface}#{name}">{match[0]}</a>'

    return MODULE_MEMBER.sub(linked, html)

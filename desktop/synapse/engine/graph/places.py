"""Places in a text as people count them."""

from __future__ import annotations

import re

_LINE_END = re.compile(r"\r\n|\r|\n")


def place_of(text: str, offset: int) -> tuple[int, int]:
    """Line and column, both from 1, of the code point at `offset`; lines end with LF, CR LF or CR."""
    lines = _LINE_END.split(text[:offset])
    return len(lines), len(lines[-1]) + 1


def offset_of(text: str, line: int, column: int) -> int:
    """The reverse for lines that end with LF only, as Oxigraph counts them; never past the end."""
    start = 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if start == 0:
            return len(text)
    return min(start + column - 1, len(text))

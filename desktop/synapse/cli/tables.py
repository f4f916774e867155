"""Columns and paragraphs in a given width: what is too long goes on in the next line, nothing is cut."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

GAP = "  "
_LEAST = 12
"""Columns that a cell keeps at least, where it needs as many."""

_BREAKS = re.compile(r"(?<=[/#;,&?=])(?=\S)|(?<=\s)(?=\S)")
"""Where a line may end; not within a segment of an id, unless it is too long for a line."""


def display_width(text: str) -> int:
    """Columns that a text takes on a terminal."""
    return sum(
        0 if unicodedata.combining(sign) else 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        for sign in text
    )


def flat(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())


def wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` columns, broken after white space, slashes and the like."""
    lines, line = [], ""
    for piece in _BREAKS.split(text):
        if display_width((line + piece).rstrip()) <= width:
            line += piece
            continue
        if line.strip():
            lines.append(line.rstrip())
        line = piece
        while display_width(line.rstrip()) > width:
            head = _head(line, width)
            lines.append(head)
            line = line[len(head) :]
    return [*lines, line.rstrip()] if line.strip() or not lines else lines


def _head(text: str, width: int) -> str:
    """As much of an unbreakable text as fits, at least one character with its combining marks."""
    used = 0
    for place, sign in enumerate(text):
        used += display_width(sign)
        if used > width and place:
            return text[:place]
    return text


def columns(
    rows: Sequence[Sequence[str]],
    width: int,
    indent: int = 0,
    beside: Sequence[Sequence[str]] | None = None,
) -> list[str]:
    """Rows with their cells aligned, in `width` columns; cells too long for that go on below.

    beside: all rows that these are to be aligned with, where they are not all.
    """
    if not rows:
        return []
    cells = [[flat(cell) for cell in row] for row in rows]
    natural = [
        max(display_width(flat(row[place])) for row in beside or cells) for place in range(len(rows[0]))
    ]
    widths = _shared(natural, width - indent - len(GAP) * (len(natural) - 1))
    return [line for row in cells for line in _row(row, widths, " " * indent)]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """Columns under a header and a rule."""
    cells = [list(header), *([flat(cell) for cell in row] for row in rows)]
    natural = [max(display_width(row[place]) for row in cells) for place in range(len(header))]
    widths = _shared(natural, width - len(GAP) * (len(natural) - 1))
    head, *rest = cells
    rule = GAP.join("-" * each for each in widths)
    return [*_row(head, widths, ""), rule, *(line for row in rest for line in _row(row, widths, ""))]


def _shared(natural: Sequence[int], room: int) -> list[int]:
    """Column widths: the natural ones where they fit, else the widest give way first."""
    widths = list(natural)
    while sum(widths) > room:
        widest = max(widths)
        if widest <= _LEAST:
            break
        second = max([each for each in widths if each < widest], default=0)
        place = widths.index(widest)
        widths[place] = max(second, _LEAST, widest - (sum(widths) - room), 1)
        if widths[place] == widest:  # several are the widest: each gives one
            widths[place] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], indent: str) -> list[str]:
    parts = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    height = max(len(part) for part in parts)
    lines = []
    for number in range(height):
        texts = [part[number] if number < len(part) else "" for part in parts]
        padded = (text + " " * (each - display_width(text)) for text, each in zip(texts, widths, strict=True))
        lines.append((indent + GAP.join(padded)).rstrip())
    return lines


def hanging(lead: str, pieces: Iterable[str], width: int) -> list[str]:
    """Pieces in a row after a lead; those that do not fit go on below, indented as the first one."""
    indent = " " * display_width(lead)
    lines, line = [], lead
    for piece in pieces:
        fits = display_width(line + piece.rstrip()) <= width
        if not fits and line.strip() and line not in (lead, indent):
            lines.append(line.rstrip())
            line = indent
        line += piece
    return [*lines, line.rstrip()]


def paragraph(text: str, width: int, indent: int = 0) -> list[str]:
    """A text wrapped in `width` columns, each line indented."""
    return [" " * indent + line for line in wrapped(flat(text), width - indent)]

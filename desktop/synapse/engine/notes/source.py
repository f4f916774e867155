"""A file's bytes as text to parse, and the way back from any place in that text to the file.

The text has no byte-order mark and no generated sections, and U+FFFD in place of every byte that is
not UTF-8 and of U+0000 (RDF text can hold neither). Parsers count bytes of the text's UTF-8 form;
`Source.span` turns such offsets into offsets, line and column of the file.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Final, NamedTuple

from synapse.engine.notes.backlinks import LARGEST_NOTE, generated_spans
from synapse.engine.notes.diagnostics import Diagnostic, Severity, add

_BOM: Final = b"\xef\xbb\xbf"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
_UNREADABLE: Final = re.compile("[\udc80-\udcff\x00]")
_MAPPED: Final = 512 * 1024
"""Characters in which places are kept exact where no body is read: more than any frontmatter."""
_NOT_RDF_TEXT: Final = re.compile("[\ud800-\udfff\x00]")
LARGEST_READ: Final = 5 * 1024 * 1024
"""Bytes of text; of a larger note no body is read."""
REPLACEMENT: Final = "\ufffd"


class Span(NamedTuple):
    """A place in a file: byte offsets, half open; line from 1; column from 1 in code points."""

    start: int
    end: int
    line: int
    column: int


def rdf_text(text: str) -> str:
    """`text` with U+FFFD for U+0000 and lone surrogates, which no RDF literal can hold."""
    return text if text.isascii() and "\0" not in text else _NOT_RDF_TEXT.sub(REPLACEMENT, text)


class Source:
    """The bytes of the note at `path` (vault-relative), decoded for reading.

    text: what is parsed. encoded: its UTF-8 form. diagnostics: a list that readers append to.
    """

    __slots__ = (
        "_ascii",
        "_first",
        "_last",
        "_lines",
        "_maps",
        "data",
        "diagnostics",
        "encoded",
        "path",
        "text",
    )

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data
        self.diagnostics: list[Diagnostic] = []
        self._first = 3 if data.startswith(_BOM) else 0
        self._lines: list[int] | None = None
        self._ascii = data.isascii()
        self._last = (0, 0, 0)
        # Each map: points in the later text, and what to add from there on to get the earlier offset.
        self._maps: list[tuple[list[int], list[int]]] = []
        points, shifts, parts = [0], [self._first], []
        done = self._first
        for section in generated_spans(data) if len(data) <= LARGEST_NOTE else ():
            parts.append(data[done : section.start])
            points.append(points[-1] + section.start - done)
            done = section.end
            shifts.append(done - points[-1])
        kept = b"".join((*parts, data[done:])) if done else data
        if shifts != [0]:
            self._maps.append((points, shifts))
        self.text, self.encoded = "", b""
        if kept.startswith(_UTF_16):
            self.report(0, "error", "utf-16", "The file is UTF-16.", "Save it as UTF-8 to have it read.")
            return
        text = kept.decode("utf-8", "surrogateescape")
        found = _UNREADABLE.search(text)
        self.text, self.encoded = (text, kept) if found is None else self._replaced(text)

    def _replaced(self, text: str) -> tuple[str, bytes]:
        """The text and its UTF-8 form with U+FFFD for what cannot be read; remembers the offsets."""
        points, shifts = [0], [0]
        parts: list[str] = []
        new = done = shift = 0
        first: dict[bool, int] = {}
        for match in _UNREADABLE.finditer(text, 0, len(text) if len(text) <= LARGEST_READ else _MAPPED):
            part = text[done : match.start()]
            parts.append(part)
            new += len(part.encode())
            first.setdefault(match[0] == "\0", new)
            # The one byte became three; the point lies inside them, where nothing begins or ends.
            shift -= 2
            points.append(new + 1)
            shifts.append(shift)
            new += 3
            done = match.end()
        parts.append(_UNREADABLE.sub(REPLACEMENT, text[done:]))
        self._maps.append((points, shifts))
        if False in first:
            self.report(
                first[False], "warning", "not-utf-8", "The file is not UTF-8 here.", "Save it as UTF-8."
            )
        if True in first:
            self.report(first[True], "warning", "nul", "A NUL character was read as U+FFFD.", "Remove it.")
        replaced = REPLACEMENT.join(parts)
        return replaced, replaced.encode()

    def span(self, start: int, end: int) -> Span:
        """The place in the file of the bytes `start` to `end` of `encoded`."""
        if self._maps:
            start, end = self._in_file(start, end)
        lines = self._lines
        if lines is None:
            # Where each line begins; bytes.splitlines knows \n, \r and \r\n only.
            lines = self._lines = list(accumulate(map(len, self.data.splitlines(True)), initial=0))
            lines[0] = self._first
        line = bisect_right(lines, start)
        if not line:  # inside the byte-order mark
            return Span(start, end, 1, 1)
        if self._ascii:
            return Span(start, end, line, start - lines[line - 1] + 1)
        # From the last place in this line if that is before this one: a line may be megabytes long.
        at_line, at, column = self._last
        if at_line != line or at > start:
            at, column = lines[line - 1], 1
        column += len(self.data[at:start].decode("utf-8", "replace"))
        self._last = line, start, column
        return Span(start, end, line, column)

    def _in_file(self, start: int, end: int) -> tuple[int, int]:
        for points, shifts in reversed(self._maps):
            first = bisect_right(points, start) - 1
            last = first if end == start else max(bisect_left(points, end) - 1, 0)
            start += shifts[first]
            end += shifts[last]
        return start, end

    def report(self, offset: int, severity: Severity, code: str, message: str, hint: str = "") -> None:
        """Note a finding at a byte offset of `encoded`."""
        place = self.span(offset, offset)
        self.report_at(place, severity, code, message, hint)

    def report_at(self, place: Span, severity: Severity, code: str, message: str, hint: str = "") -> None:
        """Note a finding at a place of the file."""
        add(
            self.diagnostics,
            Diagnostic(self.path, place.line, place.column, severity, code, message, hint),
        )

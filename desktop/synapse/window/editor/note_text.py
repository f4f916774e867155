"""A note's bytes as text to edit, and back, so that only what was edited differs.

The editor holds the text alone: lines joined by LF, without byte-order mark and without the generated
section. `NoteText` keeps what that leaves out. `encode` puts it back: an untouched line keeps its
ending, a new one takes its neighbour's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from synapse.engine.errors import SectionRefused
from synapse.engine.notes.backlinks import OPENING, find_section, with_section, without_section

BOM = b"\xef\xbb\xbf"
_ENDING = re.compile(r"\r\n|\n|\r")
_LONE_CR = re.compile(r"\r(?!\n)")
_NOT_HELD = re.compile("[\u2029\ufdd0\ufdd1]")
"""Characters that Qt's documents take for the end of a line."""
_MOST_COMPARISONS = 4_000_000


@dataclass(frozen=True, slots=True)
class GeneratedSection:
    """The section Synapse maintains in a note.

    raw: the bytes it takes in the file, with the line ending that belongs to it. lines: its text
    between the markers. index: the code point of the edited text before which it stands.
    """

    raw: bytes
    lines: tuple[str, ...]
    index: int


@dataclass(frozen=True, slots=True)
class NoteText:
    """text: what is edited. endings: of each line but the last, or one for all lines.

    read_only: why the text must not be written back, in a person's words; "" if it may.
    """

    text: str
    bom: bool = False
    endings: str | tuple[str, ...] = "\n"
    section: GeneratedSection | None = None
    read_only: str = ""

    @property
    def lines(self) -> list[str]:
        return self.text.split("\n")


def decode(data: bytes) -> NoteText:
    """A file's bytes as text to edit. Never raises: what cannot be edited is `read_only`."""
    section_bytes, body, cut = _cut_section(data)
    bom = body.startswith(BOM)
    if bom:
        body = body[len(BOM) :]
        cut = max(0, cut - len(BOM))
    try:
        raw = body.decode("utf-8")
    except UnicodeDecodeError as error:
        line = body[: error.start].count(b"\n") + 1
        reason = f"This file is not UTF-8 text (line {line}), so it can be read here but not edited."
        return NoteText(_lf(body.decode("utf-8", "replace")), bom, read_only=reason)
    section = None
    if section_bytes:
        lines = _ENDING.split(section_bytes.decode("utf-8", "replace"))
        index = len(_lf(body[:cut].decode("utf-8", "ignore")))
        section = GeneratedSection(section_bytes, tuple(line for line in lines if line)[1:-1], index)
    endings = _ENDING.findall(raw)
    kinds = set(endings)
    return NoteText(
        text=_lf(raw),
        bom=bom,
        endings=(kinds.pop() if kinds else "\n") if len(kinds) < 2 else tuple(endings),
        section=section,
        read_only=_cannot_hold(raw),
    )


def encode(
    text: str, base: NoteText, earlier: Sequence[NoteText] = (), section_at: int | None = None
) -> bytes:
    """The bytes of an edited text.

    base: what the file held when it was last read or written. earlier: older states, asked for the
    endings of lines that came back by undo. section_at: where the section stands now, if not at the
    end. Raises UnicodeEncodeError for half a surrogate pair, ValueError for a read-only text.
    """
    if base.read_only:
        raise ValueError(base.read_only)
    at = section_at
    if at is None and base.section and base.section.index < len(base.text):
        at = base.section.index
    if base.section is None or at is None or at >= len(text):
        data = _with_endings(text, base, earlier)
        return _with_section_at_end(data, base.section)
    lines = text.split("\n")
    endings = _endings_of(lines, base, earlier)
    whole = "".join(line + ending for line, ending in zip(lines, endings, strict=True))
    before_lines = text[:at].count("\n")
    split = sum(len(lines[i]) + len(endings[i]) for i in range(before_lines))
    if at and text[at - 1] != "\n":
        return _with_section_at_end(_marked(whole, base), base.section)
    data = _marked(whole[:split], base) + base.section.raw + whole[split:].encode("utf-8")
    if find_section(data) is None:
        return _marked(whole, base)
    return data


def newline_of(base: NoteText) -> str:
    """The line ending that prevails in a file."""
    if isinstance(base.endings, str):
        return base.endings
    return max(("\n", "\r\n"), key=base.endings.count)


def _with_endings(text: str, base: NoteText, earlier: Sequence[NoteText]) -> bytes:
    if isinstance(base.endings, str):
        whole = text if base.endings == "\n" else text.replace("\n", base.endings)
    else:
        lines = text.split("\n")
        endings = _endings_of(lines, base, earlier)
        whole = "".join(line + ending for line, ending in zip(lines, endings, strict=True))
    return _marked(whole, base)


def _marked(whole: str, base: NoteText) -> bytes:
    return (BOM if base.bom else b"") + whole.encode("utf-8")


def _with_section_at_end(data: bytes, section: GeneratedSection | None) -> bytes:
    if section is None:
        return data
    if (raw := data + section.raw) and without_section(raw) == data:
        return raw
    try:
        return with_section(data, section.lines[1:])
    except SectionRefused:
        # An open fence would swallow it. The engine writes it again when it can.
        return data


def _cut_section(data: bytes) -> tuple[bytes, bytes, int]:
    """(the section's bytes, the file without them, where they were cut)."""
    # Most notes have none, and the look at the whole document takes a while for a long one.
    found = find_section(data) if OPENING in data else None
    if found is None:
        return b"", data, 0
    body = without_section(data)
    length = len(data) - len(body)
    # `without_section` takes one line ending along, after the section or before it.
    for start in range(found.start, max(0, found.end - length) - 1, -1):
        if data[:start] + data[start + length :] == body:
            return data[start : start + length], body, start
    raise AssertionError("the section is one run of bytes")


def _lf(text: str) -> str:
    return _ENDING.sub("\n", text)


def _cannot_hold(raw: str) -> str:
    lone, held = _LONE_CR.search(raw), _NOT_HELD.search(raw)
    if lone is not None:
        line = len(_ENDING.findall(raw, 0, lone.start())) + 1
        return f"Line {line} ends in a lone carriage return, which editing would change. It can be read only."
    if held is not None:
        line = len(_ENDING.findall(raw, 0, held.start())) + 1
        return (
            f"Line {line} holds the character U+{ord(held.group()):04X}, which editing would change. "
            "It can be read only."
        )
    return ""


def _endings_of(lines: list[str], base: NoteText, earlier: Sequence[NoteText]) -> list[str]:
    """One ending a line; the last line has none."""
    found: list[str | None] = [None] * len(lines)
    for state in (base, *earlier):
        if None not in found[:-1]:
            break
        old = state.lines
        kept = [state.endings] * (len(old) - 1) if isinstance(state.endings, str) else state.endings
        for new_index, old_index in _pairs(old, lines, edited=state is base):
            if found[new_index] is None and old_index < len(kept):
                found[new_index] = kept[old_index]
    first = next((ending for ending in found[:-1] if ending), newline_of(base))
    endings = []
    for ending in found[:-1]:
        first = ending or first
        endings.append(first)
    return [*endings, ""]


def _pairs(old: list[str], new: list[str], *, edited: bool) -> list[tuple[int, int]]:
    """(index in new, index in old) of the lines that are the same, or with `edited` stand in for one."""
    start = 0
    shorter = min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    pairs = [(index, index) for index in range(start)]
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if len(old_middle) * len(new_middle) <= _MOST_COMPARISONS:
        codes = SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes()
    else:
        codes = [("replace", 0, len(old_middle), 0, len(new_middle))]
    for tag, old_from, old_to, new_from, new_to in codes:
        if tag == "equal" or (tag == "replace" and edited):
            both = min(old_to - old_from, new_to - new_from)
            pairs += [(start + new_from + i, start + old_from + i) for i in range(both)]
    return pairs + [(len(new) - 1 - i, len(old) - 1 - i) for i in range(end)]

"""Bringing two versions of a note together, line by line, and the smallest edits between two texts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher

from merge3 import Merge3

_MOST_COMPARISONS = 4_000_000


@dataclass(frozen=True, slots=True)
class Merge:
    """text: both changes together, or None where they touch the same lines (`conflicts` times)."""

    text: str | None
    conflicts: int = 0


def merge(base: str, mine: str, theirs: str) -> Merge:
    """Both changes of `base`. Only whole lines are compared; the same change on both sides is one."""
    if mine in (base, theirs):
        return Merge(theirs)
    if theirs == base:
        return Merge(mine)
    merged: list[str] = []
    conflicts = 0
    groups = Merge3(base.split("\n"), mine.split("\n"), theirs.split("\n")).merge_groups()
    for kind, *lines in groups:
        if kind == "conflict":
            conflicts += 1
        else:
            merged.extend(lines[0])
    return Merge(None, conflicts) if conflicts else Merge("\n".join(merged))


@dataclass(frozen=True, slots=True)
class Edit:
    """Code points `start` up to `end` of the old text become `text`."""

    start: int
    end: int
    text: str


def edits(old: str, new: str) -> list[Edit]:
    """The edits that make `old` into `new`, in order and apart from each other.

    Lines that stay are left alone, so that a caret and the history of undo keep their places.
    """
    old_lines, new_lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    offsets = [0]
    for line in old_lines:
        offsets.append(offsets[-1] + len(line))
    found = []
    for old_from, old_to, new_from, new_to in _changed(old_lines, new_lines):
        before, after = "".join(old_lines[old_from:old_to]), "".join(new_lines[new_from:new_to])
        edit = _trimmed(offsets[old_from], before, after)
        if edit.start != edit.end or edit.text:
            found.append(edit)
    return found


def applied(old: str, changes: list[Edit]) -> str:
    """The text after the edits."""
    parts, at = [], 0
    for edit in changes:
        parts += [old[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, old[at:]])


def _changed(old: list[str], new: list[str]) -> Iterator[tuple[int, int, int, int]]:
    start, shorter = 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    old_middle, new_middle = old[start : len(old) - end], new[start : len(new) - end]
    if len(old_middle) * len(new_middle) > _MOST_COMPARISONS:
        yield start, len(old) - end, start, len(new) - end
        return
    for tag, a, b, c, d in SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes():
        if tag != "equal":
            yield start + a, start + b, start + c, start + d


def _trimmed(offset: int, old: str, new: str) -> Edit:
    """Without the characters that both begin or end with."""
    start, shorter = 0, min(len(old), len(new))
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Edit(offset + start, offset + len(old) - end, new[start : len(new) - end])


def keep_both(base: str, mine: str, theirs: str) -> str:
    """A merge that takes both versions where they touch the same lines, mine first."""
    merged: list[str] = []
    groups = Merge3(base.split("\n"), mine.split("\n"), theirs.split("\n")).merge_groups()
    for kind, *lines in groups:
        if kind == "conflict":
            merged += lines[1]
            merged += [line for line in lines[2] if line not in lines[1]]
        else:
            merged += lines[0]
    return "\n".join(merged)

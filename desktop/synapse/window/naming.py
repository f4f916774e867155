"""Names for new notes: what cannot be one, and what another system could not hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass

_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
_ELSEWHERE = re.compile(r'[<>:"|?*\\]')
_IN_LINKS = re.compile(r"[\[\]#^|]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LONGEST = 240
"""Bytes in one segment; most file systems hold 255, and a temporary file's name must fit too."""


@dataclass(frozen=True, slots=True)
class NoteName:
    """path: where the note would be, "" if it cannot. problem: why not. warning: what to mind."""

    path: str
    problem: str = ""
    warning: str = ""


def note_name(text: str, taken: Collection[str] = ()) -> NoteName:
    """What a person typed as the name of a new note, relative to the vault's root.

    taken: paths of the notes there are.
    """
    name = unicodedata.normalize("NFC", text.strip().strip("/"))
    if name.lower().endswith(".md"):
        name = name[:-3]
    if not name.strip():
        return NoteName("", "Give the note a name.")
    segments = [segment.strip() for segment in name.split("/")]
    if any(segment in ("", ".", "..") for segment in segments):
        return NoteName("", "A folder's name is missing between the slashes.")
    if any(segment.startswith(".") for segment in segments):
        return NoteName("", "A name that begins with a dot would be hidden.")
    if _CONTROL.search(name):
        return NoteName("", "The name holds a control character.")
    if any(len(f"{segment}.md".encode()) > LONGEST for segment in segments):
        return NoteName("", "The name is too long for a file.")
    path = "/".join(segments) + ".md"
    lowered = path.casefold()
    same = next((other for other in taken if other.casefold() == lowered), None)
    if same is not None:
        return NoteName("", f"There is a note {same.removesuffix('.md')} already.")
    return NoteName(path, warning=_warning(segments))


def _warning(segments: list[str]) -> str:
    for segment in segments:
        if _RESERVED.fullmatch(segment):
            return f"Windows cannot hold a file named {segment}."
        if _ELSEWHERE.search(segment):
            return f"Windows cannot hold the character {_ELSEWHERE.search(segment)[0]} in a name."  # type: ignore[index]
        if segment.endswith((".", " ")):
            return "Windows drops a dot or space at the end of a name."
        if _IN_LINKS.search(segment):
            return "[[links]] cannot name a note with [ ] # ^ or | in its name."
    return ""

"""An open note's reads and writes; all of it runs off the interface thread."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from synapse.engine.errors import FileChanged, FileUnreadable, SectionRefused, SynapseError
from synapse.window.editor.note_text import NoteText, decode, encode

if TYPE_CHECKING:
    from synapse.engine import Engine


@dataclass(frozen=True, slots=True)
class Disk:
    """What a file holds."""

    data: bytes
    note: NoteText


@dataclass(frozen=True, slots=True)
class Written:
    """ours: what was written. now: what the file holds after it, with its section brought up to date."""

    ours: Disk
    now: Disk | None


def read_disk(engine: Engine, path: str) -> Disk | None:
    """What a note's file holds, None where there is none. Raises FileUnreadable."""
    try:
        data = engine.read_file(path)
    except FileUnreadable:
        if not (engine.vault / path).exists():
            return None
        raise
    return Disk(data, decode(data))


def write_disk(
    engine: Engine,
    path: str,
    text: str,
    base: bytes | None,
    held: NoteText,
    first: NoteText,
    section_at: int | None,
) -> Written:
    """Write an edited text over `base`, and then its generated section where the vault wants one.

    Raises FileChanged when the file is not `base` any more, WriteFailed.
    """
    data = _encoded(path, text, held, first, section_at)
    if data != base:
        engine.write_note(path, data, base)
    return Written(Disk(data, decode(data)), _with_section(engine, path, data))


def _encoded(path: str, text: str, held: NoteText, first: NoteText, section_at: int | None) -> bytes:
    try:
        return encode(text, held, [first], section_at)
    except UnicodeEncodeError as error:
        line = text[: error.start].count("\n") + 1
        raise _HalfCharacter(
            "Half of a character cannot be saved.", "Delete it and type it again.", path=path, line=line
        ) from error


class _HalfCharacter(SynapseError):
    """A lone surrogate, which UTF-8 cannot hold."""

    kind = "half-character"


def _with_section(engine: Engine, path: str, data: bytes) -> Disk | None:
    """Bring the section of a saved note up to date; another's change meanwhile is left for later."""
    if engine.backlinks_policy() == "write":
        # The text is saved; a section that cannot be written now follows when it can.
        with suppress(SectionRefused, FileChanged):
            now, wanted = engine.section_preview(path)
            if now == data and wanted != data:
                engine.write_note(path, wanted, data)
    return read_disk(engine, path)

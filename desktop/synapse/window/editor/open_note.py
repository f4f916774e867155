"""One open note: its text, what the file held, and how the two stay in step.

The document belongs to one path from beginning to end, so that nothing can be saved into another
note. What the file holds is always known (`base`); a write is refused by the engine when the file is
another one by then, and both changes are merged or shown, never overwritten.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QTextCursor, QTextDocument

from synapse.engine.errors import FileChanged
from synapse.window.editor.files import Disk, Written, read_disk, write_disk
from synapse.window.editor.merging import Edit, Merge, edits, keep_both, merge
from synapse.window.editor.note_text import GeneratedSection, NoteText
from synapse.window.editor.positions import from_qt, to_qt
from synapse.window.editor.spacing import SpacedLayout
from synapse.window.session import Session, in_words

AUTOSAVE_MS = 2000
FILL_PIECE = 32_768
"""Characters put into a document at a time, and what is left of the line."""
FILL_SECONDS = 0.01
ABSENT_MS = 700
"""How long a file may be away, while another program replaces it, before it counts as deleted."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """The file and the editor hold changes of the same lines."""

    base: str
    mine: str
    theirs: Disk


class OpenNote(QObject):
    """A note's document and its way to and from the disk."""

    loaded = Signal()
    stateChanged = Signal()
    """Dirty, read-only, missing or in conflict: something of that is another now."""
    sectionChanged = Signal()
    merged = Signal()
    """Changes from outside were brought into unsaved text."""
    failed = Signal(str, str)
    """A load or save went wrong: what happened, what to do."""
    saved = Signal()

    def __init__(self, session: Session, path: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.path = path
        self.document = QTextDocument(self)
        self.document.setDocumentLayout(SpacedLayout(self.document))
        self.base: bytes | None = None
        self.is_loaded = False
        self.is_missing = False
        self.conflict: Conflict | None = None
        self._held = NoteText("")
        self._first = NoteText("")
        self._anchor: QTextCursor | None = None
        self._saving = False
        self._saving_revision = -1
        self._save_again = False
        self._look_again = False
        self._applying = False
        self._autosave = _timer(self, AUTOSAVE_MS, self.save)
        self._absent = _timer(self, ABSENT_MS, self.look_at_disk)
        self._sure_absent = False
        self._filled = 0
        self._filling = _timer(self, 0, self._fill)
        self.document.contentsChanged.connect(self._edited)
        self.document.modificationChanged.connect(self._modified)

    # -- what it is ----------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """The text as edited: LF line ends, every character as it is."""
        return self.document.toRawText().replace("\u2029", "\n")

    @property
    def is_dirty(self) -> bool:
        return self.document.isModified() or self.is_missing

    @property
    def is_saving(self) -> bool:
        return self._saving

    @property
    def read_only(self) -> str:
        """Why the text cannot be edited, or ""."""
        return self._held.read_only

    @property
    def section(self) -> GeneratedSection | None:
        return self._held.section

    def line_in_text(self, line: int) -> int:
        """The line of the edited text for a line of the file; both count from 1."""
        section = self._held.section
        if section is None:
            return line
        before = self._held.text[: section.index].count("\n")
        if line <= before + 1:
            return line
        return max(before + 1, line - section.raw.count(b"\n"))

    # -- reading -------------------------------------------------------------------------------

    def load(self) -> None:
        """Read the file; `loaded` or `failed` follows."""
        self.session.run(read_disk, self.session.engine, self.path, done=self._read, failed=self._not_read)

    @Slot(object)
    def _read(self, disk: Disk | None) -> None:
        if disk is None:
            self.failed.emit(f"There is no file {self.path}.", "It may have been moved or deleted.")
            return
        self._hold(disk)
        self._first = disk.note
        self._filled = 0
        self.document.setUndoRedoEnabled(False)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        """Put the text into the document in pieces, so that a long one holds nothing up."""
        text, until = self._held.text, time.perf_counter() + FILL_SECONDS
        cursor = QTextCursor(self.document)
        cursor.movePosition(QTextCursor.MoveOperation.End)
        self._applying = True
        while self._filled < len(text) and time.perf_counter() < until:
            # Whole lines: a long line that grows would be laid out again for each piece.
            end = text.find("\n", self._filled + FILL_PIECE) + 1 or len(text)
            cursor.insertText(text[self._filled : end])
            self._filled = end
        self._applying = False
        if self._filled < len(text):
            self._filling.start()
        else:
            self._loaded(text)

    def _loaded(self, text: str) -> None:
        self.document.setUndoRedoEnabled(True)
        self.document.setModified(False)
        if not self.read_only and self.text != text:
            self._held = NoteText(text, read_only="This note holds characters that cannot be edited.")
        self._place_anchor()
        self.is_loaded = True
        self.loaded.emit()
        self.stateChanged.emit()
        self.sectionChanged.emit()

    @Slot(object)
    def _not_read(self, error: BaseException) -> None:
        self.failed.emit(*in_words(error))

    def _hold(self, disk: Disk) -> None:
        self.base, self._held = disk.data, disk.note

    def _place_anchor(self) -> None:
        """Follow the place of a section that a person's lines stand behind."""
        section = self._held.section
        self._anchor = None
        if section is not None and section.index < len(self._held.text):
            self._anchor = QTextCursor(self.document)
            self._anchor.setPosition(to_qt(self._held.text, section.index))

    def _section_at(self, text: str) -> int | None:
        return None if self._anchor is None else from_qt(text, self._anchor.position())

    # -- editing -------------------------------------------------------------------------------

    @Slot()
    def _edited(self) -> None:
        if not self._applying and self.is_loaded and self.document.isModified() and not self.conflict:
            self._autosave.start()

    @Slot(bool)
    def _modified(self, _dirty: bool) -> None:
        self.stateChanged.emit()

    def apply(self, changes: list[Edit]) -> None:
        """Edit the text in one step of undo, from the end to the beginning."""
        if not changes:
            return
        text = self.text
        cursor = QTextCursor(self.document)
        self._applying = True
        cursor.beginEditBlock()
        for edit in reversed(changes):
            cursor.setPosition(to_qt(text, edit.start))
            cursor.setPosition(to_qt(text, edit.end), QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(edit.text)
        cursor.endEditBlock()
        self._applying = False

    # -- writing -------------------------------------------------------------------------------

    @Slot()
    def save(self) -> None:
        """Write the text if it was edited; `saved` or `failed` follows."""
        self._autosave.stop()
        if not self.is_loaded or self.read_only or self.conflict or not self.is_dirty:
            return
        if self._saving:
            self._save_again = True
            return
        self._saving = True
        text = self.text
        self._saving_revision = self.document.revision()
        self.session.run(
            write_disk,
            self.session.engine,
            self.path,
            text,
            None if self.is_missing else self.base,
            self._held,
            self._first,
            self._section_at(text),
            done=self._written,
            failed=self._not_written,
        )

    @Slot(object)
    def _written(self, written: Written) -> None:
        self._saving = False
        self.is_missing = False
        self._hold(written.ours)
        if self.document.revision() == self._saving_revision:
            self.document.setModified(False)
        else:
            self._autosave.start()
        self.stateChanged.emit()
        self.saved.emit()
        if written.now is not None and written.now.data != written.ours.data:
            self._disk_arrived(written.now)
        else:
            self.sectionChanged.emit()
        if self._save_again:
            self._save_again = False
            self.save()
        if self._look_again:
            self.look_at_disk()

    @Slot(object)
    def _not_written(self, error: BaseException) -> None:
        self._saving = self._save_again = False
        if isinstance(error, FileChanged):
            self.look_at_disk()
        else:
            self.failed.emit(*in_words(error))
        self.stateChanged.emit()

    # -- changes from outside ------------------------------------------------------------------

    @Slot()
    def look_at_disk(self) -> None:
        """Take over what others wrote; harmless at any time."""
        if not self.is_loaded:
            return
        self._look_again = self._saving
        if not self._saving:
            self.session.run(
                read_disk, self.session.engine, self.path, done=self._disk_arrived, failed=self._not_read
            )

    @Slot(object)
    def _disk_arrived(self, disk: Disk | None) -> None:
        if self._saving:
            self._look_again = True
            return
        if disk is None:
            self._is_absent()
            return
        self._sure_absent = False
        if self.is_missing:
            self.is_missing = False
            self.stateChanged.emit()
        if disk.data == self.base:
            return
        if disk.note.text == self._held.text and not disk.note.read_only:
            self._hold(disk)
            self._place_anchor()
            self.sectionChanged.emit()
        elif disk.note.read_only or not self.document.isModified():
            if self.document.isModified():
                self._in_conflict(disk)
            else:
                self._take(disk, disk.note.text)
        else:
            self._merge(disk)

    def _is_absent(self) -> None:
        if not self._sure_absent:
            self._sure_absent = True
            self._absent.start()
        elif not self.is_missing:
            self.is_missing = True
            self._autosave.stop()
            self.stateChanged.emit()

    def _take(self, disk: Disk, text: str) -> None:
        """The file holds `disk` now and the editor `text`."""
        self.apply(edits(self.text, text))
        self._hold(disk)
        self._place_anchor()
        self.conflict = None
        self.document.setModified(text != disk.note.text)
        if self.document.isModified():
            self._autosave.start()
        self.stateChanged.emit()
        self.sectionChanged.emit()

    def _merge(self, disk: Disk) -> None:
        base, mine, revision = self._held.text, self.text, self.document.revision()
        self.session.run(_merged_with, base, mine, disk, revision, done=self._merge_arrived)

    @Slot(object)
    def _merge_arrived(self, found: tuple[Merge, str, Disk, int]) -> None:
        merge_found, mine, disk, revision = found
        if self._saving or self.document.revision() != revision:
            self.look_at_disk()
        elif merge_found.text is None:
            self._in_conflict(disk, mine)
        else:
            self._take(disk, merge_found.text)
            self.merged.emit()

    def _in_conflict(self, disk: Disk, mine: str | None = None) -> None:
        self._autosave.stop()
        self.conflict = Conflict(self._held.text, self.text if mine is None else mine, disk)
        self.stateChanged.emit()

    def resolve(self, choice: str) -> None:
        """End a conflict: keep `mine`, take `theirs`, or keep `both` versions of the lines in question."""
        conflict = self.conflict
        if conflict is None:
            return
        self.conflict = None
        theirs = conflict.theirs.note.text
        if choice == "theirs":
            text = theirs
        elif choice == "both":
            text = keep_both(conflict.base, self.text, theirs)
        else:
            text = self.text
        self._take(conflict.theirs, text)
        self.save()

    def revive(self) -> None:
        """Write a note that was deleted outside again."""
        if self.is_missing:
            self.save()

    def close(self) -> None:
        """Stop the timers; the document lives as long as this object."""
        self._autosave.stop()
        self._absent.stop()
        self._filling.stop()


def _merged_with(base: str, mine: str, disk: Disk, revision: int) -> tuple[Merge, str, Disk, int]:
    return merge(base, mine, disk.note.text), mine, disk, revision


def _timer(parent: QObject, interval: int, slot: object) -> QTimer:
    timer = QTimer(parent)
    timer.setSingleShot(True)
    timer.setInterval(interval)
    timer.timeout.connect(slot)
    return timer

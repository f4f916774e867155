"""A tab: a note's editor below the bars that speak about it."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from synapse.window.bar import Bars
from synapse.window.diff_view import DiffDialog, Versions
from synapse.window.editor.links import Target, line_of_anchor, link_target
from synapse.window.editor.note_edit import NoteEdit
from synapse.window.editor.open_note import OpenNote
from synapse.window.editor.positions import from_qt
from synapse.window.session import Session
from synapse.window.theme import Theme

_SAFE_SCHEMES = ("http", "https", "mailto")


class NotePage(QWidget):
    """Shows one note and saves it; `closeRequested` when it should go."""

    stateChanged = Signal()
    closeRequested = Signal()
    zoomRequested = Signal(int)

    def __init__(self, session: Session, path: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("panel")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.session = session
        self.theme = theme
        self.note = OpenNote(session, path, self)
        self.bars = Bars(theme, self)
        self.edit = NoteEdit(self.note, theme, self)
        self._line = 0
        self._anchor_path = ""
        self.closes_when_saved = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.bars)
        column.addWidget(self.edit, 1)
        self.setFocusProxy(self.edit)
        self.edit.setReadOnly(True)
        self.edit.setPlaceholderText(self.tr("Loading…"))
        self.edit.linkActivated.connect(self.follow)
        self.edit.focusLeft.connect(self.note.save)
        self.edit.zoomRequested.connect(self.zoomRequested)
        self.edit.section.linkActivated.connect(self._open_id)
        self.note.loaded.connect(self._loaded)
        self.note.stateChanged.connect(self._state_changed)
        self.note.sectionChanged.connect(self._section_changed)
        self.note.failed.connect(self._failed)
        self.note.merged.connect(self._merged)
        self.note.saved.connect(self._saved)
        self.note.load()

    # -- what it is ----------------------------------------------------------------------------

    @property
    def path(self) -> str:
        return self.note.path

    @property
    def title(self) -> str:
        """The tab's title: the file's name without its ending."""
        return PurePosixPath(self.path).stem

    def go_to_line(self, line: int) -> None:
        """Show a line of the file (from 1), now or when it is loaded."""
        if not line:
            return
        if self.note.is_loaded:
            self.edit.go_to(self.note.line_in_text(line))
        else:
            self._line = line

    # -- states --------------------------------------------------------------------------------

    @Slot()
    def _loaded(self) -> None:
        self.bars.withdraw("load")
        self.edit.show_note()
        self.edit.setReadOnly(bool(self.note.read_only))
        self.edit.setPlaceholderText(self.tr("Write here. Link to another note with [[its name]]."))
        if self.note.read_only:
            self.bars.bar("read-only").say(self.note.read_only, icon="lock", color="muted")
        line, self._line = self._line, 0
        self.go_to_line(line)

    @Slot()
    def _state_changed(self) -> None:
        note = self.note
        if note.conflict is not None:
            self.edit.setReadOnly(False)
            self.bars.bar("conflict").say(
                self.tr("Others changed the lines you are editing. Nothing was overwritten."),
                [
                    (self.tr("Compare"), self.compare),
                    (self.tr("Keep both"), lambda: note.resolve("both")),
                    (self.tr("Keep mine"), lambda: note.resolve("mine")),
                    (self.tr("Take theirs"), lambda: note.resolve("theirs")),
                ],
                icon="warning",
                color="warning",
                closable=False,
            )
        else:
            self.bars.withdraw("conflict")
        if note.is_missing:
            self.bars.bar("missing").say(
                self.tr("This note was deleted or moved outside Synapse."),
                [
                    (self.tr("Write it again"), note.revive),
                    (self.tr("Close it"), lambda: self.closeRequested.emit()),
                ],
                icon="warning",
                color="warning",
                closable=False,
            )
        else:
            self.bars.withdraw("missing")
        self.stateChanged.emit()

    @Slot()
    def compare(self) -> None:
        """Show what differs between the two versions."""
        conflict = self.note.conflict
        if conflict is None:
            return
        dialog = DiffDialog(
            self.theme,
            self.tr("Two versions of {name}").format(name=self.title),
            self.tr("Lines with + are yours, lines with - are in the file now."),
            [
                ("both", self.tr("Keep both")),
                ("mine", self.tr("Keep mine")),
                ("theirs", self.tr("Take theirs")),
            ],
            self,
        )
        dialog.set_versions([Versions(self.path, conflict.theirs.note.text, self.note.text)])
        dialog.accepted.connect(lambda: self.note.resolve(dialog.choice))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    @Slot()
    def _section_changed(self) -> None:
        self.edit.show_section(self.note.section)

    @Slot()
    def _merged(self) -> None:
        self.bars.bar("merged").say(
            self.tr("Changes made outside were merged with yours."), icon="check", passing=True
        )

    @Slot()
    def _saved(self) -> None:
        self.bars.withdraw("save")

    @Slot(str, str)
    def _failed(self, text: str, hint: str) -> None:
        if not self.note.is_loaded:
            self.bars.bar("load").say_error(text, hint, [(self.tr("Try again"), self.note.load)])
            self.edit.setPlaceholderText("")
            return
        self.bars.bar("save").say_error(
            self.tr("Not saved. {text}").format(text=text),
            hint,
            [(self.tr("Try again"), self.note.save), (self.tr("Save a copy…"), self.save_a_copy)],
        )
        self.stateChanged.emit()

    @Slot()
    def save_a_copy(self) -> None:
        """Write the text to another place that a person chooses."""
        name, _ = QFileDialog.getSaveFileName(self, self.tr("Save a copy"), self.title + ".md")
        if name:
            self.session.run(Path(name).write_text, self.note.text, "utf-8", newline="\n", done=self._copied)

    @Slot(object)
    def _copied(self, _count: object) -> None:
        self.bars.bar("copied").say(self.tr("A copy was saved."), icon="check", passing=True)

    # -- links ---------------------------------------------------------------------------------

    @Slot()
    def follow_at_caret(self) -> None:
        """Follow the link the caret stands in."""
        self.follow(self.edit.textCursor().position())

    @Slot(int)
    def follow(self, position: int) -> None:
        """Follow the link at a position (UTF-16 units)."""
        text = self.note.text
        self.session.run(
            link_target, self.session.engine, self.path, text, from_qt(text, position), done=self._follow
        )

    @Slot(object)
    def _follow(self, target: Target | None) -> None:
        if target is None:
            self.bars.bar("link").say(self.tr("There is no link here."), passing=True)
        elif target.url:
            self._follow_url(QUrl(target.url))
        elif target.path is not None and not target.path.lower().endswith(".md"):
            self._offer_attachment(target.path)
        elif target.anchor and (target.path or not target.entity):
            self._go_to_anchor(target.path or self.path, target.anchor)
        elif target.entity:
            self.session.open(target.path or target.entity)

    def _follow_url(self, url: QUrl) -> None:
        if url.scheme() in _SAFE_SCHEMES:
            QDesktopServices.openUrl(url)
        else:
            self.bars.bar("link").say(
                self.tr("Synapse opens web and mail addresses only; this is a {scheme} address.").format(
                    scheme=url.scheme() or "nameless"
                ),
                icon="warning",
                color="warning",
                passing=True,
            )

    def _offer_attachment(self, path: str) -> None:
        file = QUrl.fromLocalFile(str(self.session.engine.vault / path))
        self.bars.bar("link").say(
            self.tr("{name} is an attachment.").format(name=PurePosixPath(path).name),
            [(self.tr("Open it in its application"), lambda: QDesktopServices.openUrl(file))],
            passing=True,
        )

    def _go_to_anchor(self, path: str, anchor: str) -> None:
        self._anchor_path = path
        self.session.run(line_of_anchor, self.session.engine, path, anchor, done=self._anchor_found)

    @Slot(object)
    def _anchor_found(self, line: int) -> None:
        self.session.open(self._anchor_path, line or None)

    @Slot(str)
    def _open_id(self, entity: str) -> None:
        self.session.open(entity)

    @Slot()
    def close_if_saved(self) -> None:
        """For a tab that was closed with unsaved text."""
        if self.closes_when_saved and not self.note.is_dirty:
            self.closeRequested.emit()

    def close_note(self) -> None:
        """Stop the note's timers."""
        self.note.close()

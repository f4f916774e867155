"""The query editor: colours, brackets, indentation, completion, and the place of an error."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QRect, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFontDatabase,
    QHelpEvent,
    QKeyEvent,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit, QToolTip, QWidget

from synapse.window.console.completion import Known, Proposal, place_at, proposals
from synapse.window.console.highlighter import SparqlHighlighter
from synapse.window.console.popup import CompletionPopup
from synapse.window.console.tokens import matching_bracket
from synapse.window.editor.positions import from_qt, to_qt
from synapse.window.theme import Theme

INDENT = "  "
CODE_SCALE = 0.92
NEAR = 20_000
"""Brackets and completion look at no more text than this; beyond, a key would take too long."""
PAUSE_MS = 300


class QueryEditor(QPlainTextEdit):
    """Keys: Ctrl+Space completes, Ctrl+/ comments, Ctrl+D doubles a line, Ctrl+Shift+K deletes it,
    Tab and Shift+Tab indent, F6 leaves."""

    runRequested = Signal()
    paused = Signal()
    """The text stood still for PAUSE_MS after a change."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.known = Known()
        self._error: tuple[int, int, str] | None = None
        self.setAccessibleName(self.tr("SPARQL query"))
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._set_font()
        self._highlighter = SparqlHighlighter(self.document(), theme)
        self._popup = CompletionPopup(self, theme)
        self._popup.chosen.connect(self._insert)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self.paused)
        self.textChanged.connect(self._on_text)
        self.cursorPositionChanged.connect(self._mark)
        theme.changed.connect(self._mark)

    def _set_font(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        font.setPointSizeF(self.font().pointSizeF() * CODE_SCALE + 0.5)
        self.setFont(font)
        self.setTabStopDistance(self.fontMetrics().horizontalAdvance(INDENT))

    # -- text ----------------------------------------------------------------------------------

    def text(self) -> str:
        """The query as it stands, no character changed."""
        return self.document().toRawText().replace("\u2029", "\n")

    def set_text(self, text: str) -> None:
        """Replaces the text in one step that can be undone."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)
        cursor.endEditBlock()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes text only."""
        if source.hasText():
            self.textCursor().insertText(source.text())

    def cursor_index(self) -> int:
        """Where the cursor is, in code points."""
        return from_qt(self.text(), self.textCursor().position())

    # -- error ---------------------------------------------------------------------------------

    def show_error(self, line: int | None, column: int | None, message: str) -> None:
        """Underlines the word at a place (both from 1), or the last one where the place is the end."""
        self._error = (line or 1, column or 1, message) if line is not None else None
        self._mark()

    def clear_error(self) -> None:
        if self._error is not None:
            self._error = None
            self._mark()

    @property
    def error(self) -> str:
        return self._error[2] if self._error is not None else ""

    def go_to_error(self) -> None:
        if self._error is not None:
            cursor = self._error_cursor()
            cursor.setPosition(cursor.selectionStart())
            self.setTextCursor(cursor)
            self.setFocus()

    def _error_cursor(self) -> QTextCursor:
        assert self._error is not None
        line, column, _ = self._error
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            block = self.document().lastBlock()
            column = len(block.text()) + 1
        text = block.text()
        start = min(column - 1, len(text))
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] in "_:-?$@<>/"):
            end += 1
        if end == start:
            end = min(start + 1, len(text))
        if end == start:
            start = max(start - 1, 0)
        cursor = QTextCursor(block)
        cursor.setPosition(block.position() + to_qt(text, start))
        cursor.setPosition(block.position() + to_qt(text, end), QTextCursor.MoveMode.KeepAnchor)
        return cursor

    # -- marks ---------------------------------------------------------------------------------

    @Slot()
    def _on_text(self) -> None:
        self._pause.start()

    @Slot()
    def _mark(self) -> None:
        marks = []
        for position in self._brackets():
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self.document())
            mark.cursor.setPosition(position)
            mark.cursor.setPosition(position + 1, QTextCursor.MoveMode.KeepAnchor)
            look = QTextCharFormat()
            look.setBackground(self._theme.color("selection"))
            mark.format = look
            marks.append(mark)
        if self._error is not None:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = self._error_cursor()
            look = QTextCharFormat()
            look.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
            look.setUnderlineColor(self._theme.color("error"))
            mark.format = look
            marks.append(mark)
        self.setExtraSelections(marks)

    def _brackets(self) -> list[int]:
        """Qt positions of the bracket at the cursor and of the one that belongs to it."""
        document: QTextDocument = self.document()
        if document.characterCount() > NEAR:
            return []
        text = self.text()
        at = from_qt(text, self.textCursor().position())
        for index in (at, at - 1):
            if 0 <= index < len(text) and text[index] in "(){}[]":
                other = matching_bracket(text, index)
                if other is not None:
                    return [to_qt(text, index), to_qt(text, other)]
        return []

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip and self._error is not None:
            at = self.cursorForPosition(self.viewport().mapFrom(self, event.pos())).position()
            marked = self._error_cursor()
            if marked.selectionStart() <= at <= marked.selectionEnd():
                QToolTip.showText(event.globalPos(), self._error[2], self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    # -- completion ----------------------------------------------------------------------------

    def complete(self, *, asked: bool) -> None:
        """Offers what fits at the cursor. Unasked only once something was typed."""
        text, at = self.text(), self.cursor_index()
        near = max(at - NEAR, 0)
        place = place_at(text[near:], at - near)
        if not asked and not place.typed:
            self._popup.hide()
            return
        found = proposals(text[near : at + NEAR], place, self.known)
        self._start = place.start + near
        if not found:
            self._popup.hide()
            return
        cursor = self.textCursor()
        cursor.setPosition(to_qt(text, self._start))
        rect = self.cursorRect(cursor)
        corner = self.viewport().mapTo(self, rect.bottomLeft())
        self._popup.offer(found, QRect(corner, rect.size()))

    @Slot(object)
    def _insert(self, proposal: Proposal) -> None:
        text = self.text()
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.setPosition(to_qt(text, self._start), QTextCursor.MoveMode.KeepAnchor)
        following = text[self.cursor_index() : self.cursor_index() + 1]
        inserted = proposal.text
        if inserted.endswith(">") and following == ">":
            inserted = inserted[:-1]
        cursor.insertText(inserted)
        if proposal.declares is not None:
            top = QTextCursor(self.document())
            top.insertText(f"PREFIX {proposal.declares}: <{self.known.prefixes[proposal.declares]}>\n")
        cursor.endEditBlock()
        self.setTextCursor(cursor)

    # -- keys ----------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._popup.isVisible() and self._popup.takes(event):
            return
        key, modifiers = event.key(), event.modifiers()
        control = bool(modifiers & Qt.KeyboardModifier.ControlModifier)
        shift = bool(modifiers & Qt.KeyboardModifier.ShiftModifier)
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if control and enter:
            self._popup.hide()
            self.runRequested.emit()
        elif control and key == Qt.Key.Key_Space:
            self.complete(asked=True)
        elif control and key == Qt.Key.Key_Slash:
            self._toggle_comment()
        elif control and key == Qt.Key.Key_D:
            self._duplicate_line()
        elif control and shift and key == Qt.Key.Key_K:
            self._delete_line()
        elif key == Qt.Key.Key_Tab and not control:
            self._indent()
        elif key == Qt.Key.Key_Backtab:
            self._unindent()
        elif key == Qt.Key.Key_F6:
            self.focusNextPrevChild(not shift)
        elif enter and not modifiers:
            self._new_line()
        else:
            super().keyPressEvent(event)
            typed = event.text()
            goes_on = typed.isalnum() or (typed and typed in "_:/<?$-")
            shrinks = key == Qt.Key.Key_Backspace and self._popup.isVisible()
            if (goes_on or shrinks) and not control:
                self.complete(asked=False)
            else:
                self._popup.hide()

    def focusNextPrevChild(self, forward: bool) -> bool:
        return QWidget.focusNextPrevChild(self, forward)

    def _new_line(self) -> None:
        cursor = self.textCursor()
        before = cursor.block().text()
        head = before[: from_qt(before, cursor.positionInBlock())]
        indent = head[: len(head) - len(head.lstrip())]
        if head.rstrip().endswith(("{", "(", "[")):
            indent += INDENT
        cursor.insertText(f"\n{indent}")
        self.setTextCursor(cursor)
        self.ensureCursorVisible()

    def _lines(self) -> list[QTextCursor]:
        """A cursor at the start of each selected line."""
        chosen = self.textCursor()
        block = self.document().findBlock(chosen.selectionStart())
        last = self.document().findBlock(max(chosen.selectionEnd() - 1, chosen.selectionStart()))
        found = []
        while block.isValid() and block.blockNumber() <= last.blockNumber():
            found.append(QTextCursor(block))
            block = block.next()
        return found

    def _indent(self) -> None:
        cursor = self.textCursor()
        if not cursor.hasSelection():
            cursor.insertText(INDENT)
            return
        cursor.beginEditBlock()
        for line in self._lines():
            line.insertText(INDENT)
        cursor.endEditBlock()

    def _unindent(self) -> None:
        cursor = self.textCursor()
        cursor.beginEditBlock()
        for line in self._lines():
            text = line.block().text()
            for _ in range(min(len(text) - len(text.lstrip(" ")), len(INDENT))):
                line.deleteChar()
        cursor.endEditBlock()

    def _toggle_comment(self) -> None:
        lines = [line for line in self._lines() if line.block().text().strip()]
        commented = all(line.block().text().lstrip().startswith("#") for line in lines)
        cursor = self.textCursor()
        cursor.beginEditBlock()
        for line in lines:
            text = line.block().text()
            line.setPosition(line.block().position() + len(text) - len(text.lstrip()))
            if not commented:
                line.insertText("# ")
                continue
            line.deleteChar()
            if text.lstrip().startswith("# "):
                line.deleteChar()
        cursor.endEditBlock()

    def _duplicate_line(self) -> None:
        cursor = self.textCursor()
        text = cursor.block().text()
        end = QTextCursor(cursor.block())
        end.movePosition(QTextCursor.MoveOperation.EndOfBlock)
        end.insertText(f"\n{text}")

    def _delete_line(self) -> None:
        cursor = self.textCursor()
        cursor.beginEditBlock()
        cursor.select(QTextCursor.SelectionType.LineUnderCursor)
        cursor.removeSelectedText()
        if cursor.atEnd():
            cursor.deletePreviousChar()
        else:
            cursor.deleteChar()
        cursor.endEditBlock()

"""The widget in which a note is written."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QMimeData, QPoint, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from synapse.window.editor.highlighter import NoteHighlighter
from synapse.window.editor.note_text import GeneratedSection
from synapse.window.editor.open_note import OpenNote
from synapse.window.editor.patterns import link_at
from synapse.window.editor.positions import from_qt
from synapse.window.editor.section_view import SectionView
from synapse.window.theme import NOTE_POINTS, NOTE_WIDTH, PADDING, Theme

LONGEST_WRAPPED = 10_000
"""Characters in a line from which on nothing is wrapped; wrapping 1 MB costs a second a key."""
_SCANNED = 20_000
"""Lines looked through for a very long one."""


class NoteEdit(QPlainTextEdit):
    """Plain text with live styles, at most `NOTE_WIDTH` wide, its generated section below it."""

    linkActivated = Signal(int)
    """A link at a position (UTF-16 units) was followed."""
    focusLeft = Signal()
    zoomRequested = Signal(int)

    def __init__(self, note: OpenNote, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("noteEditor")
        self.setAccessibleName(self.tr("Note"))
        self._theme = theme
        self._points = NOTE_POINTS
        self._note = note
        note.document.setDefaultFont(self._font())
        self.setFont(self._font())
        self.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setTabChangesFocus(False)
        self.setMouseTracking(True)
        self.viewport().setMouseTracking(True)
        self.highlighter = NoteHighlighter(note.document, theme)
        self.highlighter.visible = self._visible_blocks
        self.section = SectionView(theme, self.viewport())
        self.updateRequest.connect(self._place_section)
        theme.changed.connect(self.viewport().update)
        self._set_tab()

    def show_note(self) -> None:
        """The note is loaded: show its document. Before, an empty one stands in, so that filling a
        long document lays nothing out."""
        self.setDocument(self._note.document)
        self._set_tab()
        self.fit_long_lines()
        self.highlighter.start()
        self.moveCursor(QTextCursor.MoveOperation.Start)

    # -- size and place ------------------------------------------------------------------------

    def _font(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(self._points)
        return font

    def set_points(self, points: float) -> None:
        """The size of plain text."""
        self._points = points
        self._note.document.setDefaultFont(self._font())
        self.setFont(self._font())
        self.highlighter.set_points(points)
        self._set_tab()
        self._fit()

    def _set_tab(self) -> None:
        self.setTabStopDistance(4.0 * self.fontMetrics().horizontalAdvance(" "))

    def _fit(self) -> None:
        """Keep lines at a length that reads well, in the middle of a wide window."""
        scale = self._points / NOTE_POINTS
        free = self.width() - self.verticalScrollBar().sizeHint().width()
        side = max(2 * PADDING, (free - round(NOTE_WIDTH * scale)) // 2)
        self.setViewportMargins(side, PADDING, side, 0)

    def fit_long_lines(self) -> None:
        """Wrap lines, unless one is so long that wrapping would make each key slow."""
        block, count, long = self.document().firstBlock(), 0, False
        while block.isValid() and count < _SCANNED and not long:
            long = block.length() > LONGEST_WRAPPED
            block, count = block.next(), count + 1
        mode = QPlainTextEdit.LineWrapMode
        self.setLineWrapMode(mode.NoWrap if long else mode.WidgetWidth)

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._fit()
        super().resizeEvent(event)
        self._place_section()

    def _visible_blocks(self) -> tuple[int, int]:
        first = self.firstVisibleBlock().blockNumber()
        return first, first + self.viewport().height() // max(1, self.fontMetrics().height()) + 1

    def show_section(self, section: GeneratedSection | None) -> None:
        """Show the generated section below the text, or nothing for None."""
        self.section.show_section(section)
        # The last line may then be scrolled up, to make room for what stands below it.
        self.setCenterOnScroll(section is not None)
        self._place_section()

    @Slot()
    def _place_section(self) -> None:
        """The section goes along below the last line."""
        if not self.section.has_lines:
            self.section.hide()
            return
        last = self.document().lastBlock()
        place = self.blockBoundingGeometry(last).translated(self.contentOffset())
        top, view = int(place.bottom()) + 3 * PADDING, self.viewport().rect()
        if place.isNull() or top > view.height() or place.top() < -view.height():
            self.section.hide()
            return
        most = max(120, view.height() - self.fontMetrics().height() * 3 - 4 * PADDING)
        height = min(self.section.height_for(view.width()), most)
        self.section.setGeometry(QRect(0, top, view.width(), height))
        self.section.show()

    def go_to(self, line: int, column: int = 1) -> None:
        """Put the caret at a line of the text (from 1) and show it."""
        block = self.document().findBlockByNumber(max(0, line - 1))
        cursor = QTextCursor(block if block.isValid() else self.document().lastBlock())
        cursor.setPosition(cursor.position() + min(column - 1, max(0, cursor.block().length() - 1)))
        self.setTextCursor(cursor)
        self.centerCursor()

    # -- painting ------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        self._paint_grounds(event.rect())
        super().paintEvent(event)

    def _paint_grounds(self, area: QRect) -> None:
        """Code and frontmatter stand on a ground of their own, as wide as the text."""
        painter = QPainter(self.viewport())
        code = self._theme.color("code")
        block = self.firstVisibleBlock()
        top = self.blockBoundingGeometry(block).translated(self.contentOffset()).top()
        while block.isValid() and top <= area.bottom():
            height = self.blockBoundingRect(block).height()
            before, after = self.highlighter.context_of(block), self.highlighter.context_after(block)
            if (before.kind or after.kind) in ("fence", "frontmatter", "math"):
                gap = 0 if after.kind else self.fontMetrics().descent() * 1.5
                painter.fillRect(QRectF(0, top, self.viewport().width(), height - gap), code)
            block, top = block.next(), top + height
        painter.end()

    # -- keys and mouse ------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if (
            event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            and event.modifiers() == Qt.KeyboardModifier.AltModifier
        ):
            self.linkActivated.emit(self.textCursor().position())
            event.accept()
            return
        super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton and _follows(event):
            position = self._link_position(event.position().toPoint())
            if position is not None:
                self.linkActivated.emit(position)
                return
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        on_link = _follows(event) and self._link_position(event.position().toPoint()) is not None
        shape = Qt.CursorShape.PointingHandCursor if on_link else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def _link_position(self, point: QPoint) -> int | None:
        cursor = self.cursorForPosition(point)
        text = cursor.block().text()
        if len(text) > LONGEST_WRAPPED:
            return None
        index = from_qt(text, cursor.positionInBlock())
        found = link_at(text, index) or (link_at(text, index - 1) if index else None)
        return cursor.position() if found else None

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoomRequested.emit(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
            return
        super().wheelEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self.focusLeft.emit()

    # -- clipboard -----------------------------------------------------------------------------

    def createMimeDataFromSelection(self) -> QMimeData:
        """Copies what is there: Qt would turn no-break spaces into spaces."""
        data = QMimeData()
        cursor = self.textCursor()
        raw = self.document().toRawText()
        start, end = (from_qt(raw, place) for place in (cursor.selectionStart(), cursor.selectionEnd()))
        data.setText(raw[start:end].replace("\u2029", "\n"))
        return data

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Pastes plain text only, as it is."""
        if source.hasText():
            self.textCursor().insertText(source.text())
            self.ensureCursorVisible()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.viewport().update()


def _follows(event: QMouseEvent) -> bool:
    return bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)

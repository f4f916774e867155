"""The list of proposals under the cursor."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from synapse.window.console.completion import Proposal
from synapse.window.theme import PADDING, Theme

SHOWN = 10
WIDTH = 380
ROLE = Qt.ItemDataRole.UserRole + 1


class _Delegate(QStyledItemDelegate):
    """The text left, what it means muted at the right."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(WIDTH, QFontMetrics(option.font).height() + 6)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        proposal: Proposal = index.data(ROLE)
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        painter.save()
        if selected:
            painter.fillRect(option.rect, self._theme.color("selection"))
        box = option.rect.adjusted(PADDING, 0, -PADDING, 0)
        metrics = QFontMetrics(option.font)
        text = metrics.elidedText(proposal.shown, Qt.TextElideMode.ElideMiddle, int(box.width() * 0.66))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
        painter.setFont(option.font)
        painter.setPen(self._theme.color("text"))
        painter.drawText(box, flags | int(Qt.AlignmentFlag.AlignLeft), text)
        rest = box.adjusted(metrics.horizontalAdvance(text) + PADDING, 0, 0, 0)
        painter.setPen(self._theme.color("muted"))
        detail = metrics.elidedText(proposal.detail, Qt.TextElideMode.ElideRight, rest.width())
        painter.drawText(rest, flags | int(Qt.AlignmentFlag.AlignRight), detail)
        painter.restore()


class CompletionPopup(QListWidget):
    """Lies over the editor's window and never takes the focus: the editor hands keys on by `takes`."""

    chosen = Signal(object)
    """A Proposal."""

    def __init__(self, editor: QWidget, theme: Theme) -> None:
        super().__init__(editor)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QFrame.Shape.Box)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Completions"))
        self.setItemDelegate(_Delegate(theme, self))
        self.setObjectName("completions")
        self.itemClicked.connect(self._on_clicked)
        self._on_theme()
        theme.changed.connect(self._on_theme)
        self.hide()

    @Slot()
    def _on_theme(self) -> None:
        ground, line = self._theme.color("raised").name(), self._theme.color("border").name()
        self.setStyleSheet(f"QListWidget {{ background: {ground}; border: 1px solid {line}; }}")

    def offer(self, found: list[Proposal], below: QRect) -> None:
        """Shows proposals under a rectangle of the editor, or over it where there is more room."""
        self.clear()
        for proposal in found:
            item = QListWidgetItem(proposal.shown)
            item.setData(ROLE, proposal)
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, proposal.detail)
            self.addItem(item)
        self.setCurrentRow(0)
        parent = self.parentWidget()
        assert parent is not None
        row = self.sizeHintForRow(0)
        height = min(len(found), SHOWN) * row + 2 * self.frameWidth() + 2
        space_below = parent.height() - below.top() - 2
        space_above = below.top() - below.height()
        top = below.top() + 2
        if space_below < min(height, 3 * row) and space_above > space_below:
            height = min(height, space_above)
            top = space_above - height
        else:
            height = min(height, max(space_below, 3 * row))
        width = min(WIDTH, parent.width() - 8)
        self.setGeometry(min(below.left(), parent.width() - width - 4), top, width, height)
        self.show()
        self.raise_()

    def takes(self, event: QKeyEvent) -> bool:
        """Uses a key that belongs to the list; False leaves it to the editor."""
        key = event.key()
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: SHOWN, Qt.Key.Key_PageUp: -SHOWN}
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            return False
        if key in steps:
            row = self.currentRow() + steps[Qt.Key(key)]
            self.setCurrentRow(max(0, min(row, self.count() - 1)))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            item = self.currentItem()
            if item is not None:
                self._on_clicked(item)
        elif key == Qt.Key.Key_Escape:
            self.hide()
        else:
            return False
        return True

    def _on_clicked(self, item: QListWidgetItem) -> None:
        self.hide()
        self.chosen.emit(item.data(ROLE))

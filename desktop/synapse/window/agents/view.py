"""How lines are shown: a list of them, and a label that ends in an ellipsis."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLabel, QListView, QWidget

from synapse.window.agents.rows import LineDelegate, LinesModel
from synapse.window.theme import GRID, Theme


class ElidedLabel(QLabel):
    """One line that ends in an ellipsis where there is no room for all of it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.full = ""

    def say(self, text: str) -> None:
        self.full = text
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._elide()

    def _elide(self) -> None:
        mode = Qt.TextElideMode.ElideRight
        self.setText(self.fontMetrics().elidedText(self.full, mode, self.width()))


class LinesView(QListView):
    """A list of lines; Enter or a click opens one."""

    opened = Signal(int)

    def __init__(self, theme: Theme, name: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.lines = LinesModel(self)
        self.setModel(self.lines)
        self.setItemDelegate(LineDelegate(theme, self))
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setEditTriggers(QListView.EditTrigger.NoEditTriggers)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setMinimumHeight(56)
        self.setViewportMargins(0, GRID, 0, GRID)
        self.clicked.connect(self._clicked)
        theme.changed.connect(self.viewport().update)

    @Slot(QModelIndex)
    def _clicked(self, index: QModelIndex | QPersistentModelIndex) -> None:
        self.opened.emit(index.row())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self.opened.emit(self.currentIndex().row())
        else:
            super().keyPressEvent(event)

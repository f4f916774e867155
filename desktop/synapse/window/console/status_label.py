"""One line of words that is cut to its room: news must not move what stands below it."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from synapse.window.theme import Theme


class StatusLabel(QWidget):
    """Shows a line, in the colour of an error if it is one; the whole of it as tooltip."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._text = ""
        self._token = "muted"
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        theme.changed.connect(self.update)

    def text(self) -> str:
        return self._text

    def say(self, text: str, *, error: bool = False) -> None:
        self._text, self._token = text, "error" if error else "muted"
        self.setToolTip(text if error else "")
        self.setAccessibleName(text)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, self.fontMetrics().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self._theme.color(self._token))
        line = " ".join(self._text.split())
        shown = self.fontMetrics().elidedText(line, Qt.TextElideMode.ElideRight, self.width())
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(self.rect(), flags, shown)
        painter.end()

"""Line height for plain text: Qt's plain layout knows none, so lines are moved apart after it."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QTextBlock, QTextDocument
from PySide6.QtWidgets import QPlainTextDocumentLayout

LINE_HEIGHT = 1.5


class SpacedLayout(QPlainTextDocumentLayout):
    """Lines stand `LINE_HEIGHT` apart, measured on what the font says to be one line."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.factor = LINE_HEIGHT

    def blockBoundingRect(self, block: QTextBlock) -> QRectF:
        rect = super().blockBoundingRect(block)
        layout = block.layout()
        count = layout.lineCount()
        if not count or not block.isVisible():
            return rect
        top = 0.0
        for number in range(count):
            line = layout.lineAt(number)
            height = line.height()
            # Natural line heights of fonts are about 1.17; the rest is shared above and below.
            extra = max(0.0, height * (self.factor / 1.17 - 1.0))
            line.setPosition(QPointF(line.x(), top + extra / 2))
            top += height + extra
        rect.setHeight(top)
        return rect

"""Draws rows: the name, where it comes from, the line it is written on, and Why?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from synapse.window.facts.model import ROW_ROLE
from synapse.window.facts.rows import Mark, Row, is_address
from synapse.window.panel import grouped
from synapse.window.theme import GRID, PADDING, Theme

Part = OneOf["row", "place", "why", "toggle"]
Index = QModelIndex | QPersistentModelIndex

CHEVRON = 12
SAMPLE = 16
"""Width of the piece of line that goes with a mark, as in the subgraph's legend."""
_TEXT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the parts of a row are, in the view's pixels; an empty rectangle is a part it has not."""

    chevron: QRect
    text: QRect
    mark: QRect
    why: QRect
    place: QRect
    detail: QRect


@dataclass(frozen=True, slots=True)
class Fonts:
    """A view's font, its semibold and its small one."""

    plain: QFont
    bold: QFont
    small: QFont
    plain_metrics: QFontMetrics
    small_metrics: QFontMetrics

    @classmethod
    def of(cls, font: QFont) -> Fonts:
        plain, bold, small = QFont(font), QFont(font), QFont(font)
        bold.setWeight(QFont.Weight.DemiBold)
        small.setPointSizeF(max(plain.pointSizeF() - 1.0, 7.0))
        return cls(plain, bold, small, QFontMetrics(plain), QFontMetrics(small))


class RowDelegate(QStyledItemDelegate):
    """Two lines for a fact with a source, one for everything else."""

    def __init__(self, theme: Theme, why: str, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._why = why
        self._fonts: Fonts | None = None
        self.hovered: tuple[int, Part] | None = None
        """Internal id of the row under the pointer, and which part of it."""

    def fonts(self, option: QStyleOptionViewItem) -> Fonts:
        if self._fonts is None or self._fonts.plain != option.font:
            self._fonts = Fonts.of(option.font)
        return self._fonts

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row = index.data(ROW_ROLE)
        fonts = self.fonts(option)
        height = fonts.plain_metrics.height() + 2 * GRID
        if row.kind in ("fact", "hint") and (row.detail or row.place):
            height += fonts.small_metrics.height() + 1
        if row.kind == "section":
            height += GRID
        return QSize(80, max(height, 24))

    def layout(self, option: QStyleOptionViewItem, index: Index) -> Layout:
        row: Row = index.data(ROW_ROLE)
        fonts = self.fonts(option)
        none = QRect()
        box = QRect(option.rect)
        if row.kind == "section":
            box.setTop(box.top() + GRID)
        right = box.right() - PADDING
        two_lines = row.kind in ("fact", "hint") and bool(row.detail or row.place)
        height = fonts.plain_metrics.height()
        top = box.top() + GRID if two_lines else box.center().y() - height // 2
        left = box.left() + GRID
        chevron = none
        if row.inside is not None or row.kind in ("section", "group"):
            chevron = QRect(left, top + (height - CHEVRON) // 2, CHEVRON, CHEVRON)
        left += CHEVRON + GRID
        why = none
        if row.fact is not None:
            width = fonts.small_metrics.horizontalAdvance(self._why) + 2 * GRID
            why = QRect(right - width + GRID, top - 1, width, height + 2)
            right = why.left() - GRID
        place = detail = mark = none
        words = 0
        if row.mark is not None:
            words = fonts.small_metrics.horizontalAdvance(row.mark.text) + 2
            words = min(words, max((right - left) // 2 - SAMPLE, 20)) + SAMPLE + GRID
        # A mark stands at the right of the name, or before the reason, where there is more room.
        below = two_lines and row.place is None
        if words and not below:
            mark = QRect(right - words - GRID, top, words, height)
            right = mark.left() - PADDING
        text = QRect(left, top, max(right - left, 10), height)
        if two_lines:
            small_height = fonts.small_metrics.height()
            line, end = top + height + 1, box.right() - PADDING
            if words and below:
                mark = QRect(left, line, words, small_height)
                left = mark.right() + PADDING
            if row.place is not None:
                wanted = fonts.small_metrics.horizontalAdvance(row.place.short) + 2
                place = QRect(left, line, min(wanted, end - left), small_height)
                left = place.right() + PADDING
            if row.detail and end - left > 24:
                detail = QRect(left, line, end - left, small_height)
        return Layout(chevron, text, mark, why, place, detail)

    def part_at(self, option: QStyleOptionViewItem, index: Index, point: QPointF) -> Part:
        """What of a row is under a point of the view."""
        row: Row = index.data(ROW_ROLE)
        parts, at = self.layout(option, index), point.toPoint()
        if parts.why.contains(at):
            return "why"
        if parts.place.contains(at):
            return "place"
        if row.kind in ("section", "group") or parts.chevron.adjusted(-4, -4, 4, 4).contains(at):
            return "toggle"
        return "row"

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(ROW_ROLE)
        color = self._theme.color
        fonts = self.fonts(option)
        parts = self.layout(option, index)
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hover = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or (hover and row.kind != "hint"):
            painter.setPen(Qt.PenStyle.NoPen)
            if selected and state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(QPen(color("accent"), 1))
            painter.setBrush(color("selection" if selected else "hover"))
            painter.drawRoundedRect(QRectF(option.rect).adjusted(2.5, 0.5, -2.5, -0.5), 4, 4)
        if not parts.chevron.isNull():
            self._chevron(painter, QRectF(parts.chevron), bool(state & QStyle.StateFlag.State_Open))
        heading = row.kind == "section"
        painter.setFont(fonts.bold if heading else fonts.plain)
        ink = "muted" if row.kind in ("group", "hint") else "accent" if row.kind == "more" else "text"
        self._line(painter, parts.text, row.text, color(ink), italic=row.hollow)
        if row.count is not None:
            metrics = QFontMetrics(painter.font())
            offset = min(metrics.horizontalAdvance(row.text), parts.text.width()) + PADDING
            painter.setFont(fonts.plain)
            self._line(painter, parts.text.adjusted(offset, 0, 0, 0), grouped(row.count), color("muted"))
        painter.setFont(fonts.small)
        if row.mark is not None:
            self._mark(painter, QRectF(parts.mark), row.mark)
        number = index.internalId() if isinstance(index, QModelIndex) else -1
        if row.fact is not None:
            self._link(painter, parts.why, self._why, underlined=self.hovered == (number, "why"))
        if row.place is not None and not parts.place.isNull():
            name = row.place.short
            self._link(painter, parts.place, name, underlined=self.hovered == (number, "place"))
        if not parts.detail.isNull():
            self._line(painter, parts.detail, row.detail, color("muted"))
        painter.restore()

    def _line(self, painter: QPainter, box: QRect, text: str, color: QColor, *, italic: bool = False) -> None:
        font = painter.font()
        if italic:
            slanted = QFont(font)
            slanted.setItalic(True)
            painter.setFont(slanted)
        painter.setPen(color)
        mode = Qt.TextElideMode.ElideMiddle if is_address(text) else Qt.TextElideMode.ElideRight
        shown = QFontMetrics(painter.font()).elidedText(text, mode, box.width())
        painter.drawText(box, _TEXT, shown)
        painter.setFont(font)

    def _link(self, painter: QPainter, box: QRect, text: str, *, underlined: bool) -> None:
        font = QFont(painter.font())
        font.setUnderline(underlined)
        painter.save()
        painter.setFont(font)
        painter.setPen(self._theme.color("accent"))
        elide = Qt.TextElideMode.ElideLeft
        painter.drawText(box, _TEXT, QFontMetrics(font).elidedText(text, elide, box.width()))
        painter.restore()

    def _mark(self, painter: QPainter, box: QRectF, mark: Mark) -> None:
        kind = mark.kind if mark.kind in ("inferred", "agent") else "stated"
        draw_sample(painter, self._theme, kind, QRectF(box.left(), box.top(), SAMPLE, box.height()))
        words = box.adjusted(SAMPLE + GRID, 0, 0, 0).toRect()
        ink = self._theme.color("muted") if kind == "stated" else self._theme.edge(kind).color
        self._line(painter, words, mark.text, ink)

    def _chevron(self, painter: QPainter, box: QRectF, is_open: bool) -> None:
        painter.setPen(QPen(self._theme.color("muted"), 1.5))
        middle = box.center()
        if is_open:
            points = [QPointF(-3.5, -1.75), QPointF(0, 1.75), QPointF(3.5, -1.75)]
        else:
            points = [QPointF(-1.75, -3.5), QPointF(1.75, 0), QPointF(-1.75, 3.5)]
        painter.drawPolyline([middle + point for point in points])


def draw_sample(painter: QPainter, theme: Theme, kind: str, box: QRectF) -> None:
    """A piece of line as the subgraph draws this kind of edge: stated, inferred or agent."""
    edge = theme.edge(kind)
    pen = QPen(edge.color, 2.0 if kind == "agent" else 1.6)
    if kind == "inferred":
        pen.setDashPattern([2.6, 1.6])
    elif kind == "agent":
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setDashPattern([0.1, 2.0])
    painter.save()
    painter.setPen(pen)
    y = box.center().y()
    painter.drawLine(QPointF(box.left() + 0.5, y), QPointF(box.right() - 0.5, y))
    painter.restore()

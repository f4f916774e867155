"""Two lists: the agents, and what one of them stated. Both draw a line and a muted one below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from typing import Literal as OneOf

from PySide6.QtCore import (
    QAbstractListModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPen
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from synapse.engine.questions.results import AssertionSummary
from synapse.window.agents.plain import plain
from synapse.window.agents.state import AgentState, local_time
from synapse.window.panel import counted
from synapse.window.theme import GRID, ICON, PADDING, Theme

Index = QModelIndex | QPersistentModelIndex

LINE_ROLE = Qt.ItemDataRole.UserRole + 1
MOST_FACTS = 20
"""Facts of one statement that are listed; the rest is counted."""

_TEXT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextSingleLine)


def tr(text: str) -> str:
    return QCoreApplication.translate("AgentsPanel", text)


@dataclass(frozen=True, slots=True)
class Line:
    """One row. text, detail, below: its lines, fit to be shown. entity: what a click opens, "" for nothing.

    note: at the right of the first line, in `tone`. kind `more` asks for more rows.
    """

    kind: OneOf["agent", "assertion", "fact", "more"]
    text: str
    detail: str = ""
    below: str = ""
    note: str = ""
    tone: str = "muted"
    icon: str = ""
    entity: str = ""
    gone: bool = False


def access_words(agent: AgentState) -> tuple[str, str]:
    """What an agent may do, in words and in the colour of it."""
    if agent.wants_to_write:
        return tr("wants to write"), "warning"
    return {
        "read": (tr("read-only"), "muted"),
        "write": (tr("may write"), "success"),
        "paused": (tr("writes paused"), "warning"),
        "revoked": (tr("revoked"), "error"),
        None: (tr("not known here"), "muted"),
    }[agent.access]


def agent_line(agent: AgentState) -> Line:
    words, tone = access_words(agent)
    first = agent.attached[0] if agent.attached else None
    detail = ""
    if first is not None:
        detail = plain(f"{first.client} {first.client_version}".strip(), 60)
        below = tr("attached since {time}").format(time=local_time(first.since))
        if (many := len(agent.attached)) > 1:
            below += f" ({counted(many, tr('connection'), tr('connections'))})"
    elif agent.last_seen:
        below = tr("last attached {time}").format(time=local_time(agent.last_seen))
    else:
        below = tr("never attached")
    if not agent.is_proven:
        detail = " · ".join(part for part in (tr("name not proven"), detail) if part)
    return Line("agent", plain(agent.name, 80), detail, below, words, tone, "agent", gone=first is None)


def assertion_lines(assertions: Sequence[AssertionSummary], more: bool) -> list[Line]:
    """Statements with their facts. more: there are older ones to be asked for."""
    lines: list[Line] = []
    for one in assertions:
        total = len(one.facts)
        if not one.standing:
            note, tone = tr("withdrawn"), "muted"
        elif one.standing < total:
            note, tone = tr("{some} of {all} stand").format(some=one.standing, all=total), "warning"
        else:
            note, tone = (tr("stands") if total == 1 else tr("all {all} stand").format(all=total)), "muted"
        source = tr("from {source}").format(source=plain(one.source)) if one.source else ""
        detail = " · ".join(part for part in (local_time(one.time), source) if part)
        lines.append(Line("assertion", plain(one.reason), detail, "", note, tone, gone=not one.standing))
        for sentence, entity in list(zip(one.facts, one.entities, strict=True))[:MOST_FACTS]:
            lines.append(Line("fact", plain(sentence), entity=entity, gone=not one.standing))
        if total > MOST_FACTS:
            rest = counted(total - MOST_FACTS, tr("more fact"), tr("more facts"))
            lines.append(Line("fact", f"… {rest}"))
    if more:
        lines.append(Line("more", tr("Show older statements")))
    return lines


class LinesModel(QAbstractListModel):
    """A list of lines."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.lines: list[Line] = []

    def set_lines(self, lines: list[Line]) -> None:
        """Show other lines; where the number stays, selection and place stay too."""
        if len(lines) == len(self.lines):
            changed = [row for row, line in enumerate(lines) if line != self.lines[row]]
            self.lines = lines
            for row in changed:
                self.dataChanged.emit(self.index(row), self.index(row))
            return
        self.beginResetModel()
        self.lines = lines
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self.lines[index.row()]
        if role == LINE_ROLE:
            return line
        if role == Qt.ItemDataRole.DisplayRole:
            return line.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return ", ".join(part for part in (line.text, line.note, line.detail, line.below) if part)
        return None


class LineDelegate(QStyledItemDelegate):
    """Draws lines; text is drawn as characters, never as markup."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: Line = index.data(LINE_ROLE)
        height = QFontMetrics(option.font).height() + 2 * GRID
        height += _lines_below(line) * (QFontMetrics(_small(option.font)).height() + 2)
        if line.kind == "agent":
            height += GRID
        return QSize(80, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: Line = index.data(LINE_ROLE)
        color = self._theme.color
        plain_font, small, bold = QFont(option.font), _small(option.font), QFont(option.font)
        bold.setWeight(QFont.Weight.DemiBold)
        state = option.state
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hover = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if selected or hover:
            painter.setPen(Qt.PenStyle.NoPen)
            if selected and state & QStyle.StateFlag.State_HasFocus:
                painter.setPen(QPen(color("accent"), 1))
            painter.setBrush(color("selection" if selected else "hover"))
            painter.drawRoundedRect(QRectF(option.rect).adjusted(2.5, 0.5, -2.5, -0.5), 4, 4)
        box = option.rect.adjusted(PADDING + GRID, 0, -PADDING - GRID, 0)
        if line.icon:
            size = QSize(ICON, ICON)
            icon = self._theme.icon(line.icon, "muted" if line.gone else "accent").pixmap(size)
            painter.drawPixmap(box.left(), box.center().y() - ICON // 2 + 1, icon)
            box.setLeft(box.left() + ICON + PADDING)
        if line.kind == "fact":
            box.setLeft(box.left() + 2 * PADDING)
        height, small_height = QFontMetrics(plain_font).height(), QFontMetrics(small).height()
        content = height + _lines_below(line) * (small_height + 2)
        top = box.top() + (box.height() - content) // 2
        first = QRect(box.left(), top, box.width(), height)
        if line.note:
            metrics = QFontMetrics(small)
            width = min(metrics.horizontalAdvance(line.note) + 2, box.width() // 2)
            note = QRect(first.right() - width, top, width + 1, height)
            self._line(painter, small, note, line.note, line.tone)
            first.setRight(note.left() - PADDING)
        ink = "accent" if line.kind == "more" or (line.entity and not line.gone) else "text"
        if line.kind == "fact" and (line.gone or not line.entity):
            ink = "muted"
        font = bold if line.kind == "agent" else plain_font
        self._line(painter, font, first, line.text, ink)
        below = QRect(box.left(), top + height + 2, box.width(), small_height)
        for text in (line.detail, line.below):
            if text:
                self._line(painter, small, below, text, "muted")
                below.translate(0, small_height + 2)
        painter.restore()

    def _line(self, painter: QPainter, font: QFont, box: QRect, text: str, ink: str) -> None:
        painter.setFont(font)
        painter.setPen(self._theme.color(ink))
        shown = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, box.width())
        painter.drawText(box, _TEXT, shown)


def _lines_below(line: Line) -> int:
    return bool(line.detail) + bool(line.below)


def _small(font: QFont) -> QFont:
    small = QFont(font)
    small.setPointSizeF(max(font.pointSizeF() - 1.0, 7.0))
    return small

"""The legend: what colours, shapes and lines mean, how many there are, and a switch for each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from synapse.engine.layout import AGENT, INFERRED, STATED, Subgraph
from synapse.window.facts.delegate import draw_sample
from synapse.window.graph.flow import FlowLayout
from synapse.window.graph.look import UNTYPED, Look, look_of_type
from synapse.window.graph.painter import draw_shape
from synapse.window.panel import grouped
from synapse.window.theme import GRID, PADDING, Theme

EDGE_NAMES = {STATED: "stated", INFERRED: "inferred", AGENT: "agent"}
MOST_TYPES = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the legend. key: what the switch hides: `edge:1`, `type:Person`, `type:` for none,
    `unwritten`."""

    key: str
    text: str
    count: int


def entries(graph: Subgraph, look: Look, words: dict[int, str], untyped: str, unwritten: str) -> list[Entry]:
    """Edge kinds that occur, then the most frequent types, then nodes without one and unwritten ones."""
    kinds = Counter(graph.kind.tolist())
    found = [Entry(f"edge:{kind}", words[kind], kinds[kind]) for kind in EDGE_NAMES if kinds[kind]]
    written = [
        name for name, hollow in zip(look.type_label, look.hollow.tolist(), strict=True) if not hollow
    ]
    types = Counter(name for name in written if name)
    ordered = sorted(types.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_TYPES]
    found += [Entry(f"type:{name}", name, count) for name, count in ordered]
    if count := sum(1 for name in written if not name):
        found.append(Entry("type:", untyped, count))
    if count := int(look.hollow.sum()):
        found.append(Entry("unwritten", unwritten, count))
    return found


class Chip(QAbstractButton):
    """One switch of the legend: a sample, a word, a count."""

    def __init__(self, theme: Theme, entry: Entry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.entry = entry
        self.setCheckable(True)
        self.setChecked(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setText(entry.text)
        self.setAccessibleName(f"{entry.text}, {grouped(entry.count)}")
        self.setToolTip(self.tr("Show or hide: {name}").format(name=entry.text))

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(max(font.pointSizeF() - 1.0, 7.0))
        return font

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._small())
        words = metrics.horizontalAdvance(self._shown(metrics)) + GRID
        return QSize(
            2 * GRID + self._sample() + GRID + words + metrics.horizontalAdvance(grouped(self.entry.count)),
            metrics.height() + 6,
        )

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def _sample(self) -> int:
        return 18 if self.entry.key.startswith("edge:") else 10

    def _shown(self, metrics: QFontMetrics) -> str:
        return metrics.elidedText(self.entry.text, Qt.TextElideMode.ElideRight, 130)

    def paintEvent(self, event: QPaintEvent) -> None:
        color = self._theme.color
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse() or self.hasFocus():
            pen = QPen(color("accent"), 1) if self.hasFocus() else QPen(Qt.PenStyle.NoPen)
            painter.setPen(pen)
            painter.setBrush(color("hover"))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setOpacity(1.0 if self.isChecked() else 0.4)
        kind, _, rest = self.entry.key.partition(":")
        sample = QRectF(GRID, 0, self._sample(), self.height())
        if kind == "edge":
            draw_sample(painter, self._theme, EDGE_NAMES[int(rest)], sample)
        else:
            number, shape = look_of_type(rest) if rest else (UNTYPED, 0)
            ink = color(f"node.{number}")
            painter.setPen(QPen(ink, 1.6))
            painter.setBrush(color("panel") if kind == "unwritten" else ink)
            draw_shape(painter, shape, QPointF(sample.center()), 4.2)
        painter.setOpacity(1.0)
        font = self._small()
        font.setStrikeOut(not self.isChecked())
        painter.setFont(font)
        metrics = QFontMetrics(font)
        text = self._shown(metrics)
        left = GRID + self._sample() + GRID
        painter.setPen(color("text" if self.isChecked() else "muted"))
        flags = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        painter.drawText(QRectF(left, 0, self.width() - left, self.height()), flags, text)
        left += metrics.horizontalAdvance(text) + GRID
        painter.setPen(color("muted"))
        painter.drawText(
            QRectF(left, 0, self.width() - left, self.height()), flags, grouped(self.entry.count)
        )
        painter.end()


class Legend(QWidget):
    """The switches that apply to what is shown. `hidden` survives a change of the picture."""

    hiddenChanged = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.hidden: set[str] = set()
        self._flow = FlowLayout(self, gap=2)
        self._flow.setContentsMargins(PADDING, GRID, PADDING, GRID)
        self._chips: list[Chip] = []
        self.setAccessibleName(self.tr("Legend"))
        theme.changed.connect(self.update)

    def set_entries(self, found: list[Entry]) -> None:
        if [chip.entry for chip in self._chips] == found:
            return
        for chip in self._chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._chips = []
        for entry in found:
            chip = Chip(self._theme, entry, self)
            chip.setChecked(entry.key not in self.hidden)
            chip.toggled.connect(self._on_toggled)
            self._flow.addWidget(chip)
            chip.show()
            self._chips.append(chip)
        self.updateGeometry()

    def chips(self) -> list[Chip]:
        return list(self._chips)

    @Slot()
    def _on_toggled(self) -> None:
        for chip in self._chips:
            if chip.isChecked():
                self.hidden.discard(chip.entry.key)
            else:
                self.hidden.add(chip.entry.key)
        self.hiddenChanged.emit()

"""Shows a picture in a widget: what is selected, where it looks, what lies under a point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QPointF,
    QSize,
    QSizeF,
    Qt,
    QTimer,
    QVariantAnimation,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QToolTip, QWidget

from synapse.engine.layout import Subgraph
from synapse.window.graph.camera import Camera
from synapse.window.graph.look import boxes, look_of
from synapse.window.graph.painter import Painter
from synapse.window.graph.picture import Colours, Picture, edge_curves, radii

Floats = NDArray[np.float64]

GRAB = 5.0
"""Pixels around a disc or an edge that still count as on it."""
TRANSITION_MS = 140
REST_MS = 120
"""A picture that has not moved for so long is painted in full."""


class PictureView(QWidget):
    """Shows one subgraph. Node and edge arguments are indexes of it; -1 is none."""

    selectionChanged = Signal(int, int)
    """Selected node, selected edge."""

    def __init__(self, colours: Colours, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(120, 120)
        self.setAccessibleName(self.tr("Subgraph"))
        self.camera = Camera()
        self.picture: Picture | None = None
        self._painter = Painter(colours, self.font())
        self._follow_fit = True
        self.steady = False
        """While true a change of size leaves the picture where it is."""
        self._animation = QVariantAnimation(self)
        self._animation.setDuration(TRANSITION_MS)
        self._animation.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._animation.setStartValue(0.0)
        self._animation.setEndValue(1.0)
        self._animation.valueChanged.connect(self._on_transition)
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self.update)
        self._from = self._to = np.zeros((0, 2))

    # -- what is shown -------------------------------------------------------------------------

    def show_graph(
        self, graph: Subgraph, place: Floats, *, keep_view: bool = False, animate: bool = True
    ) -> None:
        """Shows another subgraph. Nodes that were shown before glide to their new places."""
        before = self.places()
        pins = self.picture.pinned if self.picture is not None else set()
        chosen = self._iri(self.picture.selected) if self.picture is not None else None
        self._animation.stop()  # it moves the nodes of the picture before
        self.picture = Picture(
            graph,
            look_of(graph),
            place,
            np.zeros(len(graph.nodes), dtype=bool),
            np.zeros(len(graph.ends), dtype=bool),
            pinned=pins & {node.entity.iri for node in graph.nodes},
        )
        for index, node in enumerate(graph.nodes):
            if chosen is not None and node.entity.iri == chosen:
                self.picture.selected = index
        self._follow_fit = self._follow_fit or not keep_view
        if self._follow_fit:
            self.fit()
        shared = [before.get(node.entity.iri) for node in graph.nodes]
        if animate and self.isVisible() and any(start is not None for start in shared):
            centre = place[graph.centre] if len(place) else np.zeros(2)
            starts = [start if start is not None else tuple(centre) for start in shared]
            self._from, self._to = np.array(starts), place
            self.picture.place = self._from
            self._animation.start()
        self._tell_selection()
        self.update()

    def clear(self) -> None:
        self._animation.stop()
        self.picture = None
        self._follow_fit = True
        self.update()

    def hide_parts(self, nodes: NDArray[np.bool_], edges: NDArray[np.bool_]) -> None:
        """Leaves out the masked nodes (n,) and edges (m,); the centre stays whatever the mask says."""
        if self.picture is None:
            return
        self.picture.hidden_nodes = nodes.copy()
        self.picture.hidden_nodes[self.picture.graph.centre : self.picture.graph.centre + 1] = False
        self.picture.hidden_edges = edges.copy()
        if self.picture.selected >= 0 and self.picture.hidden_nodes[self.picture.selected]:
            self.select(-1)
        self.picture.hovered = self.picture.hovered_edge = -1
        self.update()

    def set_colours(self, colours: Colours) -> None:
        self._painter = Painter(colours, self.font())
        self._painter.fit_labels(self.width())
        self.update()

    def places(self) -> dict[str, tuple[float, float]]:
        """Scene positions by IRI of what is shown, at the end of any transition."""
        if self.picture is None:
            return {}
        running = self._animation.state() == QVariantAnimation.State.Running
        place = self._to if running else self.picture.place
        return {
            node.entity.iri: (float(x), float(y))
            for node, (x, y) in zip(self.picture.graph.nodes, place.tolist(), strict=True)
        }

    def pins(self) -> frozenset[str]:
        return frozenset(self.picture.pinned) if self.picture is not None else frozenset()

    def unpin(self, node: int) -> None:
        if self.picture is not None:
            self.picture.pinned.discard(self._iri(node) or "")
            self.update()

    def sizes(self, graph: Subgraph) -> Floats:
        """What a layout keeps free for each node (n, 2), by this canvas's font."""
        look = look_of(graph)
        metrics, most = QFontMetricsF(self.font()), self._painter.label_most
        widths = [min(metrics.horizontalAdvance(text), most) for text in look.label]
        return boxes(look.radius, np.array(widths), metrics.height())

    def aspect(self) -> float:
        """Height by width of the room that is left for discs once labels have theirs."""
        return max(self.height() - 60, 60) / max(self.width() - self._painter.label_most, 60)

    # -- view ----------------------------------------------------------------------------------

    @Slot()
    def fit(self) -> None:
        """Shows everything that is not hidden."""
        picture = self.picture
        if picture is None or not len(picture.place):
            return
        running = self._animation.state() == QVariantAnimation.State.Running
        place = (self._to if running else picture.place)[~picture.hidden_nodes]
        half = self.sizes(picture.graph)[~picture.hidden_nodes]
        self.camera.fit(place, half, self.width(), self.height())
        self._follow_fit = True
        self.update()

    @Slot()
    def zoom_in(self) -> None:
        self._zoom(1.25, np.array([self.width(), self.height()]) / 2)

    @Slot()
    def zoom_out(self) -> None:
        self._zoom(0.8, np.array([self.width(), self.height()]) / 2)

    def move_on(self) -> None:
        """Paints the picture as one that moves."""
        self._rest.start()
        self.update()

    def _zoom(self, factor: float, at: Floats) -> None:
        self.camera.zoom(factor, at)
        self._follow_fit = False
        self.move_on()

    def select(self, node: int, edge: int = -1) -> None:
        """Selects a node or an edge, or nothing, and brings it into view."""
        picture = self.picture
        if picture is None or (picture.selected, picture.selected_edge) == (node, edge):
            return
        picture.selected, picture.selected_edge = node, edge
        if node >= 0:
            self.reveal(node)
        self._tell_selection()
        self.update()

    def reveal(self, node: int) -> None:
        assert self.picture is not None
        x, y = self.camera.to_screen(self.picture.place[node]).tolist()
        margin = 30.0
        move = np.array([
            max(margin - x, 0.0) or min(self.width() - margin - x, 0.0),
            max(margin - y, 0.0) or min(self.height() - margin - y, 0.0),
        ])
        if move.any():
            self.camera.pan(move)
            self._follow_fit = False

    def _tell_selection(self) -> None:
        picture = self.picture
        if picture is None:
            return
        text = self.tr("%n nodes", "", int((~picture.hidden_nodes).sum()))
        if picture.selected >= 0:
            node = picture.graph.nodes[picture.selected]
            text = ", ".join([picture.look.label[picture.selected], *node.types[:1]])
        elif picture.selected_edge >= 0:
            text = "; ".join(fact.sentence for fact in picture.graph.facts[picture.selected_edge])
        self.setAccessibleDescription(text)
        QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.DescriptionChanged))
        self.selectionChanged.emit(picture.selected, picture.selected_edge)

    def _iri(self, node: int) -> str | None:
        if self.picture is None or node < 0:
            return None
        return self.picture.graph.nodes[node].entity.iri

    @Slot(object)
    def _on_transition(self, share: float) -> None:
        if self.picture is not None and len(self._from) == len(self.picture.place):
            done = share >= 1.0
            self.picture.place = self._to if done else self._from + (self._to - self._from) * share
            self.move_on()

    # -- what is under the pointer -------------------------------------------------------------

    def node_at(self, point: QPointF) -> int:
        picture = self.picture
        if picture is None or not len(picture.place):
            return -1
        gap = self.camera.to_screen(picture.place) - np.array([point.x(), point.y()])
        off = np.hypot(gap[:, 0], gap[:, 1]) - radii(picture, self.camera)
        off[picture.hidden_nodes] = np.inf
        node = int(off.argmin())
        return node if off[node] <= GRAB else -1

    def edge_at(self, point: QPointF) -> int:
        picture = self.picture
        if picture is None or not len(picture.graph.ends):
            return -1
        off = edge_curves(picture, self.camera).distances(np.array([point.x(), point.y()]))
        off[~picture.shown_edges()] = np.inf
        edge = int(off.argmin())
        return edge if off[edge] <= GRAB else -1

    # -- events --------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._painter.colours.background)
        if self.picture is not None:
            size = QSizeF(self.size())
            self._painter.paint(painter, self.picture, self.camera, size, moving=self._rest.isActive())
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            painter.setOpacity(1.0)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(self._painter.colours.accent), 1))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._painter.fit_labels(self.width())
        if self._follow_fit and not self.steady:
            self.fit()
        super().resizeEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        if event.type() == QEvent.Type.FontChange:
            self.set_colours(self._painter.colours)
        super().changeEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()
        super().focusOutEvent(event)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            text = self.tooltip_at(QPointF(event.pos()))
            if text:
                QToolTip.showText(event.globalPos(), text, self)
            else:
                QToolTip.hideText()
            return True
        return super().event(event)

    def tooltip_at(self, point: QPointF) -> str:
        """What is under the pointer, in words: a node with its types and relations, an edge's facts."""
        picture = self.picture
        if picture is None:
            return ""
        node = self.node_at(point)
        if node >= 0:
            entity = picture.graph.nodes[node]
            lines = [picture.look.label[node], ", ".join(entity.types[:3])]
            if entity.entity.kind == "unwritten":
                lines.append(self.tr("not written yet"))
            lines.append(self.tr("%n relations", "", entity.degree))
            return "\n".join(line for line in lines if line)
        edge = self.edge_at(point)
        return "\n".join(fact.sentence for fact in picture.graph.facts[edge]) if edge >= 0 else ""

    def sizeHint(self) -> QSize:
        return QSize(320, 320)

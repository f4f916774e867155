"""Paints a picture of a subgraph. Reads a `Picture`; knows nothing of mouse and keyboard."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen, QPolygonF
from shiboken6 import Shiboken

from synapse.engine.layout import AGENT, INFERRED, STATED, Subgraph
from synapse.window.graph.camera import Camera
from synapse.window.graph.curves import DASH, DOT, Curves, arrow_heads, broken, curves, solid
from synapse.window.graph.labels import Room, fading, in_order
from synapse.window.graph.look import LABEL_GAP, Look

Floats = NDArray[np.float64]

FADED = 0.14
BESIDE_SELECTED = 0.4
LABEL_MOST, LABEL_LEAST = 170.0, 84.0
EDGE_LABEL_MOST = 130.0
ALWAYS_LABELLED = 12
"""So many of the largest nodes keep their labels at any zoom."""
KINDS = (STATED, INFERRED, AGENT)


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a canvas; edges by kind, nodes by colour number (the last is "no type")."""

    background: QColor
    text: QColor
    muted: QColor
    accent: QColor
    edges: tuple[QColor, QColor, QColor]
    nodes: tuple[QColor, ...]


@dataclass(slots=True, eq=False)
class Picture:
    """What is painted. place: (n, 2) scene units. hidden_nodes (n,), hidden_edges (m,): masks.

    hovered, selected: node indexes or -1; edge: index of the selected or hovered edge or -1.
    """

    graph: Subgraph
    look: Look
    place: Floats
    hidden_nodes: NDArray[np.bool_]
    hidden_edges: NDArray[np.bool_]
    pinned: set[str] = field(default_factory=set)
    hovered: int = -1
    selected: int = -1
    hovered_edge: int = -1
    selected_edge: int = -1

    def shown_edges(self) -> NDArray[np.bool_]:
        ends = self.graph.ends
        return ~(self.hidden_edges | self.hidden_nodes[ends[:, 0]] | self.hidden_nodes[ends[:, 1]])

    def neighbours(self, node: int) -> NDArray[np.bool_]:
        """Mask (n,) of a node and the nodes that a shown edge joins to it."""
        ends = self.graph.ends[self.shown_edges()]
        mask = np.zeros(len(self.place), dtype=bool)
        mask[node] = True
        mask[ends[(ends == node).any(axis=1)].ravel()] = True
        return mask

    def emphasised(self) -> NDArray[np.bool_] | None:
        """Mask (n,) of the nodes that stand out while something is hovered, else None."""
        if self.hovered >= 0:
            return self.neighbours(self.hovered)
        if self.hovered_edge >= 0:
            mask = np.zeros(len(self.place), dtype=bool)
            mask[self.graph.ends[self.hovered_edge]] = True
            return mask
        return None


def edge_curves(picture: Picture, camera: Camera) -> Curves:
    screen = camera.to_screen(picture.place)
    return curves(screen, radii(picture, camera), picture.graph.ends, picture.graph.lane)


def radii(picture: Picture, camera: Camera) -> Floats:
    """Pixels (n,): discs shrink more slowly than the scene when zooming out, and stay visible."""
    found: Floats = np.maximum(picture.look.radius * camera.scale**0.7, 2.5)
    return found


class Painter:
    """Paints with one font and one set of colours."""

    def __init__(self, colours: Colours, font: QFont) -> None:
        self.colours = colours
        self.label_most = LABEL_MOST
        """Pixels after which a label is cut."""
        self.font = font
        self.metrics = QFontMetricsF(font)
        self.bold = QFont(font)
        self.bold.setWeight(QFont.Weight.DemiBold)
        self.bold_metrics = QFontMetricsF(self.bold)
        self.small = QFont(font)
        self.small.setPointSizeF(max(font.pointSizeF() * 0.86, 6.5))
        self.small_metrics = QFontMetricsF(self.small)

    def fit_labels(self, width: float) -> None:
        """In a narrow view long labels would leave no room for the picture."""
        self.label_most = float(np.clip(0.32 * width, LABEL_LEAST, LABEL_MOST))

    def paint(self, painter: QPainter, picture: Picture, camera: Camera, width: float, height: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        screen = camera.to_screen(picture.place)
        radius = radii(picture, camera)
        view = QRectF(0, 0, width, height)
        shape = curves(screen, radius, picture.graph.ends, picture.graph.lane)
        bright = picture.emphasised()
        edges = self._visible_edges(picture, shape, view)
        lit = self._lit_edges(picture, bright)
        many = float(np.clip(1.15 - edges.sum() / 250, 0.45, 1.0))
        if lit.any():
            many = min(many, BESIDE_SELECTED)
        self._edges(painter, picture, shape, edges & ~lit, FADED if bright is not None else many)
        self._edges(painter, picture, shape, edges & lit, 1.0)
        self._nodes(painter, picture, screen, radius, bright, view)
        room = Room(4 * len(screen) + len(edges))
        self._node_labels(painter, picture, screen, radius, bright, view, camera.scale, room)
        # In a crowd the words on the lines come with zooming in.
        words = 1.0 if edges.sum() <= 60 else float(np.clip((camera.scale - 0.7) / 0.2, 0.0, 1.0))
        self._edge_labels(painter, picture, shape, edges if words else edges & lit, lit, bright, room, words)

    # -- edges ---------------------------------------------------------------------------------

    def _visible_edges(self, picture: Picture, shape: Curves, view: QRectF) -> NDArray[np.bool_]:
        points = np.stack([shape.start, shape.control, shape.stop], axis=1)
        points = np.where(shape.loop[:, None, None], shape.start[:, None, :], points)
        reach = np.where(shape.loop, shape.control[:, 0], 0.0)[:, None]
        low, high = points.min(axis=1) - reach, points.max(axis=1) + reach
        inside = (high >= 0).all(axis=1) & (low[:, 0] <= view.width()) & (low[:, 1] <= view.height())
        mask: NDArray[np.bool_] = inside & picture.shown_edges()
        return mask

    def _lit_edges(self, picture: Picture, bright: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Edges that belong to what is hovered; with nothing hovered to what is selected."""
        lit = np.zeros(len(picture.graph.ends), dtype=bool)
        if picture.hovered >= 0:
            lit = (picture.graph.ends == picture.hovered).any(axis=1)
        elif picture.hovered_edge >= 0:
            lit[picture.hovered_edge] = True
        elif picture.selected >= 0:
            lit = (picture.graph.ends == picture.selected).any(axis=1)
        if picture.selected_edge >= 0 and bright is None:
            lit[picture.selected_edge] = True
        return lit

    def _edges(
        self, painter: QPainter, picture: Picture, shape: Curves, mask: NDArray[np.bool_], opacity: float
    ) -> None:
        if not mask.any():
            return
        painter.setOpacity(opacity)
        for kind in KINDS:
            edges = np.flatnonzero(mask & (picture.graph.kind == kind))
            if not len(edges):
                continue
            pen = QPen(self.colours.edges[kind], 1.9 if kind == AGENT else 1.4)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap if kind == AGENT else Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            if kind == STATED:
                draw_lines(painter, solid(shape, edges))
            else:
                draw_lines(painter, broken(shape, edges, DOT if kind == AGENT else DASH))
            long = edges[shape.length[edges] > 22]
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.colours.edges[kind])
            for triangle in arrow_heads(shape, long).tolist():
                painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in triangle]))
        chosen = picture.selected_edge
        if chosen >= 0 and mask[chosen]:
            painter.setPen(QPen(self.colours.accent, 3.2))
            draw_lines(painter, solid(shape, np.array([chosen])))
        painter.setOpacity(1.0)

    # -- nodes ---------------------------------------------------------------------------------

    def _nodes(
        self,
        painter: QPainter,
        picture: Picture,
        screen: Floats,
        radius: Floats,
        bright: NDArray[np.bool_] | None,
        view: QRectF,
    ) -> None:
        margin = 30.0
        inside = _inside(screen, view, margin)
        look = picture.look
        for node in np.flatnonzero(inside & ~picture.hidden_nodes).tolist():
            centre, r = QPointF(*screen[node].tolist()), float(radius[node])
            faded = bright is not None and not bright[node]
            colour = self.colours.nodes[look.colour[node]]
            # The edges end at the disc: its ground hides what would shine through a faded one.
            outline = QPen(colour, 1.8) if look.hollow[node] else QPen(self.colours.background, 1.2)
            if look.hollow[node]:
                outline.setDashPattern([2.0, 1.4])
            shape = int(look.shape[node])
            if faded:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self.colours.background)
                draw_shape(painter, shape, centre, r)
                painter.setOpacity(FADED + 0.1)
            painter.setPen(outline)
            painter.setBrush(self.colours.background if look.hollow[node] else colour)
            draw_shape(painter, shape, centre, r)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            if node in (picture.selected, picture.hovered):
                painter.setPen(QPen(self.colours.accent, 2.4))
                painter.drawEllipse(centre, r + 4.0, r + 4.0)
            elif node == picture.graph.centre:
                painter.setPen(QPen(self.colours.text, 1.4))
                painter.drawEllipse(centre, r + 3.5, r + 3.5)
            if picture.graph.nodes[node].entity.iri in picture.pinned:
                painter.setPen(QPen(self.colours.background, 1.0))
                painter.setBrush(self.colours.text)
                painter.drawEllipse(QPointF(centre.x() + r * 0.75, centre.y() - r * 0.75), 3.2, 3.2)
            painter.setOpacity(1.0)

    # -- labels --------------------------------------------------------------------------------

    def _node_labels(
        self,
        painter: QPainter,
        picture: Picture,
        screen: Floats,
        radius: Floats,
        bright: NDArray[np.bool_] | None,
        view: QRectF,
        scale: float,
        room: Room,
    ) -> None:
        graph = picture.graph
        opacity = fading(scale, picture.look.radius)
        importance = picture.look.radius.copy()
        always = in_order(importance, ~picture.hidden_nodes)[:ALWAYS_LABELLED]
        opacity[always] = 1.0
        importance[graph.centre] += 1_000
        if bright is not None:
            importance[bright] += 10_000
            opacity = np.where(bright, 1.0, np.minimum(opacity, FADED))
        for node in (picture.selected, picture.hovered):
            if node >= 0:
                importance[node] += 100_000
                opacity[node] = 1.0
        opacity[graph.centre] = max(opacity[graph.centre], 1.0 if bright is None else opacity[graph.centre])
        inside = _inside(screen, view, 20.0)
        wanted = inside & ~picture.hidden_nodes & (opacity > 0.12)
        for node in np.flatnonzero(inside & ~picture.hidden_nodes).tolist():
            x, y, r = *screen[node].tolist(), float(radius[node])
            room.take(x - r, y - r, x + r, y + r)
        height, names = self.metrics.height(), Room(len(screen))
        for node in in_order(importance, wanted).tolist():
            strong = node in (graph.centre, picture.selected, picture.hovered)
            metrics = self.bold_metrics if strong else self.metrics
            text = metrics.elidedText(picture.look.label[node], Qt.TextElideMode.ElideRight, self.label_most)
            width = metrics.horizontalAdvance(text)
            x = float(screen[node, 0])
            top = float(screen[node, 1]) + float(radius[node]) + LABEL_GAP + (3.0 if strong else 0.0)
            box = (x - width / 2 - 3, top, x + width / 2 + 3, top + height)
            # The most important may cover discs, but not each other.
            free = (names if node in always else room).is_free(*box)
            if not free and not strong:
                continue
            room.take(*box)
            names.take(*box)
            painter.setFont(self.bold if strong else self.font)
            frame = QRectF(box[0], top, width + 6, height)
            self._text(painter, frame, text, self.colours.text, float(opacity[node]))

    def _edge_labels(
        self,
        painter: QPainter,
        picture: Picture,
        shape: Curves,
        edges: NDArray[np.bool_],
        lit: NDArray[np.bool_],
        bright: NDArray[np.bool_] | None,
        room: Room,
        opacity: float,
    ) -> None:
        candidates = edges & (lit if bright is not None else True)
        painter.setFont(self.small)
        height = self.small_metrics.height()
        middles = shape.middles()
        for edge in in_order(shape.length + 10_000.0 * lit, candidates).tolist():
            chosen = bool(lit[edge])
            free = float(shape.length[edge] * (shape.end[edge] - shape.begin[edge]))
            if free < 44 and not chosen:
                continue
            text = self.small_metrics.elidedText(
                picture.graph.relation(edge), Qt.TextElideMode.ElideRight, EDGE_LABEL_MOST
            )
            width = self.small_metrics.horizontalAdvance(text)
            if width > free * (1.6 if chosen else 1.05) and not shape.loop[edge]:
                continue
            x, y = middles[edge].tolist()
            box = (x - width / 2 - 3, y - height / 2, x + width / 2 + 3, y + height / 2)
            if not room.take_if_free(*box):
                continue
            kind = int(picture.graph.kind[edge])
            colour = self.colours.muted if kind == STATED else self.colours.edges[kind]
            frame = QRectF(box[0], box[1], width + 6, height)
            self._text(painter, frame, text, colour, 1.0 if chosen else opacity)

    def _text(self, painter: QPainter, box: QRectF, text: str, colour: QColor, opacity: float) -> None:
        """Text on a veil of the background, so that lines under it do not cross it out."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colours.background)
        painter.setOpacity(0.82 * opacity)
        painter.drawRoundedRect(box, 3, 3)
        painter.setOpacity(opacity)
        painter.setPen(colour)
        painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextSingleLine), text)
        painter.setOpacity(1.0)


def _inside(screen: Floats, view: QRectF, margin: float) -> NDArray[np.bool_]:
    """Mask (n,) of the points in the view or within `margin` pixels of it."""
    size = np.array([view.width(), view.height()])
    return ((screen > -margin) & (screen < size + margin)).sum(axis=1) == 2


def draw_lines(painter: QPainter, segments: Floats) -> None:
    """Draws (k, 4) segments straight from their memory: QLineF is four doubles."""
    if len(segments):
        segments = np.ascontiguousarray(segments, dtype=np.float64)
        painter.drawLines(Shiboken.wrapInstance(segments.ctypes.data, QLineF), len(segments))


def draw_shape(painter: QPainter, shape: int, centre: QPointF, r: float) -> None:
    """One of look.SHAPES with about the area of a disc of radius r pixels."""
    if shape == 0:
        painter.drawEllipse(centre, r, r)
    elif shape == 1:
        side = r * 0.9
        painter.drawRoundedRect(QRectF(centre.x() - side, centre.y() - side, 2 * side, 2 * side), 2.5, 2.5)
    else:
        corners = 4 if shape == 2 else 6
        reach = r * (1.22 if shape == 2 else 1.08)
        angles = np.arange(corners) * (2 * np.pi / corners) + (0.0 if shape == 2 else np.pi / 6)
        points = zip(np.cos(angles).tolist(), np.sin(angles).tolist(), strict=True)
        painter.drawPolygon(
            QPolygonF([QPointF(centre.x() + reach * x, centre.y() + reach * y) for x, y in points])
        )

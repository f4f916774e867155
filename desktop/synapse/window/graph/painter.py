"""Paints a picture: edges, nodes, and as many words as there is room for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPen, QPolygonF

from synapse.engine.layout import STATED
from synapse.window.graph.camera import Camera
from synapse.window.graph.captions import Captions
from synapse.window.graph.curves import Curves, curves
from synapse.window.graph.edge_painter import FADED, EdgePainter
from synapse.window.graph.labels import Room, fading, in_order
from synapse.window.graph.look import LABEL_GAP, LABELLED
from synapse.window.graph.picture import Bools, Colours, Floats, Picture, radii

LABEL_MOST, LABEL_LEAST = 170.0, 84.0
ALWAYS_LABELLED = 12
"""So many of the largest nodes keep their labels at any zoom."""
CROWD = 60
"""Edges from which on the words on them come only with zooming in."""
FAINTEST = 0.12


class Painter:
    """Paints with one font and one set of colours."""

    def __init__(self, colours: Colours, font: QFont) -> None:
        self.colours = colours
        self.font = font
        self.label_most = LABEL_MOST
        """Pixels after which a label is cut."""
        self._edges = EdgePainter(colours)
        self._captions: Captions | None = None

    def fit_labels(self, width: float) -> None:
        """In a narrow view long labels would leave no room for the picture."""
        self.label_most = float(np.clip(0.32 * width, LABEL_LEAST, LABEL_MOST))

    def captions(self, picture: Picture) -> Captions:
        kept = self._captions
        if kept is None or kept.graph is not picture.graph or kept.most != self.label_most:
            kept = self._captions = Captions(picture, self.font, self.label_most)
        return kept

    def paint(
        self, painter: QPainter, picture: Picture, camera: Camera, size: QSizeF, *, moving: bool = False
    ) -> None:
        """Paints on the whole of a view. moving: faster and coarser, while it is panned or zoomed."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        screen, radius = camera.to_screen(picture.place), radii(picture, camera)
        shape = curves(screen, radius, picture.graph.ends, picture.graph.lane)
        edges = self._edges.visible(picture, shape, size)
        self._edges.paint(painter, picture, camera, shape, edges, size, moving=moving)
        bright = picture.emphasised()
        inside = _inside(screen, size, 30.0) & ~picture.hidden_nodes
        self._nodes(painter, picture, screen, radius, inside, bright)
        room = Room(4 * len(screen) + len(edges))
        self._node_labels(painter, picture, screen, radius, inside, bright, camera.scale, room)
        if not moving or len(edges) <= CROWD:
            self._edge_labels(painter, picture, shape, edges, bright, camera.scale, room)

    # -- nodes ---------------------------------------------------------------------------------

    def _nodes(
        self,
        painter: QPainter,
        picture: Picture,
        screen: Floats,
        radius: Floats,
        inside: Bools,
        bright: Bools | None,
    ) -> None:
        look = picture.look
        for node in np.flatnonzero(inside).tolist():
            centre, r = QPointF(*screen[node].tolist()), float(radius[node])
            colour = self.colours.nodes[look.colour[node]]
            outline = QPen(colour, 1.8) if look.hollow[node] else QPen(self.colours.background, 1.2)
            if look.hollow[node]:
                outline.setDashPattern([2.0, 1.4])
            shape = int(look.shape[node])
            if bright is not None and not bright[node]:
                # The ground under a faded disc hides the edges that would shine through it.
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

    # -- words ---------------------------------------------------------------------------------

    def _node_labels(
        self,
        painter: QPainter,
        picture: Picture,
        screen: Floats,
        radius: Floats,
        inside: Bools,
        bright: Bools | None,
        scale: float,
        room: Room,
    ) -> None:
        words, centre = self.captions(picture), picture.graph.centre
        opacity = fading(scale, picture.look.radius)
        importance = picture.look.radius.copy()
        importance[centre] += 1_000
        always = in_order(importance, ~picture.hidden_nodes)[:ALWAYS_LABELLED].tolist()
        opacity[always] = 1.0
        if bright is not None:
            importance[bright] += 10_000
            opacity = np.where(bright, 1.0, np.minimum(opacity, FADED))
        for node in (picture.selected, picture.hovered):
            if node >= 0:
                importance[node] += 100_000
                opacity[node] = 1.0
        for node in np.flatnonzero(inside).tolist():
            x, y, r = float(screen[node, 0]), float(screen[node, 1]), float(radius[node])
            room.take(x - r, y - r, x + r, y + r)
        names, crowded = Room(len(screen)), len(screen) > LABELLED
        for node in in_order(importance, inside & (opacity > FAINTEST)).tolist():
            strong = node in (centre, picture.selected, picture.hovered)
            text, width = words.strong(node) if strong else (words.nodes[node], words.node_widths[node])
            x = float(screen[node, 0])
            top = float(screen[node, 1]) + float(radius[node]) + LABEL_GAP + (3.0 if strong else 0.0)
            box = (x - width / 2 - 3, top, x + width / 2 + 3, top + words.height)
            # Where the layout left no room for words, the most important ones may cover discs.
            free = (names if crowded and node in always else room).is_free(*box)
            if not free and not strong:
                continue
            room.take(*box)
            names.take(*box)
            painter.setFont(words.bold if strong else words.plain)
            frame = QRectF(box[0], top, width + 6, words.height)
            self._text(painter, frame, text, self.colours.text, float(opacity[node]))

    def _edge_labels(
        self,
        painter: QPainter,
        picture: Picture,
        shape: Curves,
        edges: Bools,
        bright: Bools | None,
        scale: float,
        room: Room,
    ) -> None:
        words = self.captions(picture)
        lit = picture.hovered_edges() if bright is not None else picture.chosen_edges()
        opacity = 1.0 if edges.sum() <= CROWD else float(np.clip((scale - 0.7) / 0.2, 0.0, 1.0))
        candidates = edges & lit if bright is not None or opacity == 0.0 else edges
        free = shape.length * (shape.end - shape.begin)
        fits = (words.edge_widths <= free * np.where(lit, 1.6, 1.05)) | shape.loop
        candidates = candidates & fits & ((free >= 44) | lit)
        if not candidates.any():
            return
        painter.setFont(words.small)
        height, middles = words.small_height, shape.middles()
        for edge in in_order(shape.length + 10_000.0 * lit, candidates).tolist():
            x, y = middles[edge].tolist()
            width = float(words.edge_widths[edge])
            box = (x - width / 2 - 3, y - height / 2, x + width / 2 + 3, y + height / 2)
            if not room.take_if_free(*box):
                continue
            kind = int(picture.graph.kind[edge])
            colour = self.colours.muted if kind == STATED else self.colours.edges[kind]
            frame = QRectF(box[0], box[1], width + 6, height)
            self._text(painter, frame, words.edges[edge], colour, 1.0 if lit[edge] else opacity)

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


def _inside(screen: Floats, size: QSizeF, margin: float) -> Bools:
    """Mask (n,) of the points in the view or within `margin` pixels of it."""
    far = np.array([size.width(), size.height()]) + margin
    found: Bools = ((screen > -margin) & (screen < far)).sum(axis=1) == 2
    return found


def draw_shape(painter: QPainter, shape: int, centre: QPointF, r: float) -> None:
    """One of look.SHAPES with about the area of a disc of radius r pixels."""
    if shape == 0:
        painter.drawEllipse(centre, r, r)
    elif shape == 1:
        side = r * 0.9
        painter.drawRoundedRect(QRectF(centre.x() - side, centre.y() - side, 2 * side, 2 * side), 2.5, 2.5)
    else:
        painter.drawPolygon(_DIAMOND.scaled(r, centre) if shape == 2 else _HEXAGON.scaled(r, centre))


class _Corners:
    """A regular polygon around the origin. reach: how far its corners are for a radius of 1."""

    def __init__(self, corners: int, reach: float, turn: float) -> None:
        angles = np.arange(corners) * (2 * np.pi / corners) + turn
        self._points = (np.stack([np.cos(angles), np.sin(angles)], axis=1) * reach).tolist()

    def scaled(self, r: float, centre: QPointF) -> QPolygonF:
        x, y = centre.x(), centre.y()
        return QPolygonF([QPointF(x + r * dx, y + r * dy) for dx, dy in self._points])


_DIAMOND = _Corners(4, 1.22, 0.0)
_HEXAGON = _Corners(6, 1.08, np.pi / 6)

"""Paints edges. What stands still is kept as a layer, so that hovering paints only what changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from PySide6.QtCore import QLineF, QPointF, QSizeF, Qt
from PySide6.QtGui import QPainter, QPen, QPixmap, QPolygonF
from shiboken6 import Shiboken

from synapse.engine.layout import AGENT, INFERRED, STATED
from synapse.window.graph.camera import Camera
from synapse.window.graph.curves import DASH, DOT, Curves, arrow_heads, broken, solid
from synapse.window.graph.picture import Bools, Colours, Floats, Picture

KINDS = (STATED, INFERRED, AGENT)
FADED = 0.14
BESIDE_SELECTED = 0.4
SMOOTH_UP_TO = 30_000.0
"""Pixels of line that are drawn smoothly while the picture moves."""
SMOOTH_AT_REST = 260_000.0
"""Pixels of line that are drawn smoothly at all, once for each layer."""
SHORTEST_WITH_ARROW = 22.0


@dataclass(frozen=True, slots=True, eq=False)
class _Layer:
    """A painted layer and all that it depends on."""

    pixmap: QPixmap
    key: tuple[object, ...]
    arrays: tuple[object, ...]

    def serves(self, key: tuple[object, ...], arrays: tuple[object, ...]) -> bool:
        same = all(mine is theirs for mine, theirs in zip(self.arrays, arrays, strict=True))
        return same and self.key == key


class EdgePainter:
    def __init__(self, colours: Colours) -> None:
        self._colours = colours
        self._layer: _Layer | None = None

    def visible(self, picture: Picture, shape: Curves, size: QSizeF) -> Bools:
        """Mask (m,) of the shown edges that may touch the view."""
        points = np.stack([shape.start, shape.control, shape.stop], axis=1)
        points = np.where(shape.loop[:, None, None], shape.start[:, None, :], points)
        reach = np.where(shape.loop, shape.control[:, 0], 0.0)[:, None]
        low, high = points.min(axis=1) - reach, points.max(axis=1) + reach
        inside = (high[:, 0] >= 0) & (high[:, 1] >= 0)
        inside &= (low[:, 0] <= size.width()) & (low[:, 1] <= size.height())
        found: Bools = inside & picture.shown_edges()
        return found

    def paint(
        self,
        painter: QPainter,
        picture: Picture,
        camera: Camera,
        shape: Curves,
        edges: Bools,
        size: QSizeF,
        *,
        moving: bool,
    ) -> None:
        """The edges in the mask; those of what is hovered in full, the rest faded behind them."""
        hovering = picture.hovered >= 0 or picture.hovered_edge >= 0
        if moving:
            self._ground(painter, picture, shape, edges, moving=True)
            return
        ratio = painter.device().devicePixelRatioF()
        key = (
            camera.scale,
            tuple(camera.offset.tolist()),
            (size.width(), size.height()),
            ratio,
            picture.selected,
            picture.selected_edge,
        )
        arrays = (picture.graph, picture.place, picture.hidden_nodes, picture.hidden_edges)
        if self._layer is None or not self._layer.serves(key, arrays):
            pixmap = QPixmap((size * ratio).toSize())
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            inner = QPainter(pixmap)
            self._ground(inner, picture, shape, edges, moving=False)
            inner.end()
            self._layer = _Layer(pixmap, key, arrays)
        painter.setOpacity(FADED if hovering else 1.0)
        painter.drawPixmap(0, 0, self._layer.pixmap)
        painter.setOpacity(1.0)
        if hovering:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._draw(painter, picture, shape, edges & picture.hovered_edges())

    def _ground(
        self, painter: QPainter, picture: Picture, shape: Curves, edges: Bools, *, moving: bool
    ) -> None:
        """All edges, paler in a crowd and beside what is selected."""
        pixels = float(shape.length[edges].sum())
        painter.setRenderHint(
            QPainter.RenderHint.Antialiasing, pixels <= (SMOOTH_UP_TO if moving else SMOOTH_AT_REST)
        )
        chosen = picture.chosen_edges() & edges
        opacity = float(np.clip(1.15 - edges.sum() / 250, 0.45, 1.0))
        if chosen.any():
            opacity = min(opacity, BESIDE_SELECTED)
        painter.setOpacity(opacity)
        self._draw(painter, picture, shape, edges & ~chosen)
        painter.setOpacity(1.0)
        self._draw(painter, picture, shape, chosen)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def _draw(self, painter: QPainter, picture: Picture, shape: Curves, mask: Bools) -> None:
        for kind in KINDS:
            edges = np.flatnonzero(mask & (picture.graph.kind == kind))
            if not len(edges):
                continue
            pen = QPen(self._colours.edges[kind], 1.9 if kind == AGENT else 1.3)
            pen.setCapStyle(Qt.PenCapStyle.RoundCap if kind == AGENT else Qt.PenCapStyle.FlatCap)
            painter.setPen(pen)
            if kind == STATED:
                draw_lines(painter, solid(shape, edges))
            else:
                draw_lines(painter, broken(shape, edges, DOT if kind == AGENT else DASH))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._colours.edges[kind])
            heads = arrow_heads(shape, edges[shape.length[edges] > SHORTEST_WITH_ARROW])
            for tip, left, right in heads.tolist():
                painter.drawPolygon(QPolygonF([QPointF(*tip), QPointF(*left), QPointF(*right)]))
        chosen = picture.selected_edge
        if chosen >= 0 and mask[chosen]:
            painter.setPen(QPen(self._colours.accent, 3.2))
            draw_lines(painter, solid(shape, np.array([chosen])))


def draw_lines(painter: QPainter, segments: Floats) -> None:
    """Draws (k, 4) segments straight from their memory: QLineF is four doubles."""
    if len(segments):
        segments = np.ascontiguousarray(segments, dtype=np.float64)
        first = cast(QLineF, Shiboken.wrapInstance(segments.ctypes.data, QLineF))
        painter.drawLines(first, len(segments))

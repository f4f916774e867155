"""Edges as line segments in screen pixels: curved aside where several join two nodes, dashed or
dotted by arithmetic (Qt's own dashes start anew at every segment and are slow), with arrow heads.

Arrays: starts, ends, controls are (m, 2); an edge is the quadratic Bézier curve through them.
Self loops are circles that touch their node from above.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LANE = 18.0
"""Pixels between the middles of two edges that join the same nodes."""
SAMPLES = 16
ARROW = 8.0
DASH = (6.0, 4.0)
DOT = (0.4, 4.2)
MOST_DASHES = 600


@dataclass(frozen=True, slots=True, eq=False)
class Curves:
    """m edges in screen pixels. begin, end: (m,) part of the curve outside its nodes' discs.
    loop: (m,) self loops, whose `start` is the circle's centre and `control[:, 0]` its radius."""

    start: Floats
    control: Floats
    stop: Floats
    begin: Floats
    end: Floats
    length: Floats
    loop: NDArray[np.bool_]

    def at(self, edges: NDArray[np.intp], t: Floats) -> Floats:
        """Points (k, 2) of the edges (k,) at their parameters t (k,) between 0 and 1."""
        t = t[:, None]
        start, control, stop = self.start[edges], self.control[edges], self.stop[edges]
        points = (1 - t) ** 2 * start + 2 * (1 - t) * t * control + t**2 * stop
        loops = self.loop[edges]
        if loops.any():
            # Clockwise once around, from the bottom, where the node is.
            angle = np.pi / 2 + 2 * np.pi * t[loops, 0]
            ray = np.stack([np.cos(angle), np.sin(angle)], axis=1)
            points[loops] = start[loops] + control[loops, :1] * ray
        return points

    def middles(self) -> Floats:
        """(m, 2), where an edge's label goes."""
        every = np.arange(len(self.start))
        return self.at(every, np.where(self.loop, 0.5, (self.begin + self.end) / 2))

    def distances(self, point: Floats) -> Floats:
        """(m,) distance in pixels of a point from each edge."""
        m = len(self.start)
        edges = np.repeat(np.arange(m), SAMPLES + 1)
        t = np.tile(np.linspace(0, 1, SAMPLES + 1), m)
        points = self.at(edges, t).reshape(m, SAMPLES + 1, 2)
        first, line = points[:, :-1], np.diff(points, axis=1)
        square = np.maximum(np.einsum("msk,msk->ms", line, line), 1e-12)
        along = np.clip(np.einsum("msk,msk->ms", point - first, line) / square, 0, 1)
        gap = first + along[:, :, None] * line - point
        nearest: Floats = np.sqrt(np.einsum("msk,msk->ms", gap, gap)).min(axis=1)
        return nearest


def curves(screen: Floats, radius: Floats, ends: NDArray[np.int32], lane: Floats) -> Curves:
    """The edges of a picture. screen: (n, 2) node positions in pixels; radius: (n,) pixels;
    ends: (m, 2) node indexes; lane: (m,) as in `Subgraph.lane`."""
    source, target = ends[:, 0], ends[:, 1]
    start, stop = screen[source].copy(), screen[target].copy()
    line = stop - start
    chord = np.hypot(line[:, 0], line[:, 1])
    loop = source == target
    safe = np.where(chord > 1e-6, chord, 1.0)
    # Lanes count left of the direction from the lower to the higher index, whichever way the edge goes.
    way = np.where(source < target, 1.0, -1.0) / safe
    normal = np.stack([line[:, 1], -line[:, 0]], axis=1) * way[:, None]
    aside = np.clip(2 * LANE * lane, -0.7 * chord, 0.7 * chord)
    control = (start + stop) / 2 + normal * aside[:, None]
    # Within 1 % for curves this flat.
    length = np.where(loop, 0.0, chord + (2 / 3) * aside**2 / safe)
    begin = np.minimum((radius[source] + 1.0) / np.maximum(length, 1.0), 0.5)
    end = np.maximum(1 - (radius[target] + 2.0) / np.maximum(length, 1.0), 0.5)
    if loop.any():
        size = 9.0 + 5.0 * lane[loop] + radius[source[loop]] * 0.4
        start[loop, 1] -= radius[source[loop]] + size - 3.0
        control[loop, 0], control[loop, 1] = size, 0.0
        length[loop] = 2 * np.pi * size
        begin[loop], end[loop] = 0.06, 0.94
    return Curves(start, control, stop, begin, end, length, loop)


def solid(shape: Curves, edges: NDArray[np.intp]) -> Floats:
    """Segments (k, 4) of the given edges as unbroken lines; one each where the edge is straight."""
    middle = (shape.start[edges] + shape.stop[edges]) / 2
    straight = (np.abs(shape.control[edges] - middle).max(axis=1, initial=0) < 0.1) & ~shape.loop[edges]
    pieces = np.where(straight, 1, SAMPLES)
    return _pieces(shape, edges, pieces, np.ones(len(edges)))


def broken(shape: Curves, edges: NDArray[np.intp], pattern: tuple[float, float]) -> Floats:
    """Segments (k, 4) of the given edges as dashes of pattern[0] pixels with gaps of pattern[1]."""
    drawn = shape.length[edges] * (shape.end[edges] - shape.begin[edges])
    pieces = np.clip(np.round(drawn / sum(pattern)), 1, MOST_DASHES).astype(np.intp)
    return _pieces(shape, edges, pieces, np.full(len(edges), pattern[0] / sum(pattern)))


def _pieces(shape: Curves, edges: NDArray[np.intp], pieces: NDArray[np.intp], filled: Floats) -> Floats:
    owner = np.repeat(np.arange(len(edges)), pieces)
    first = np.cumsum(pieces) - pieces
    number = np.arange(len(owner)) - first[owner]
    step = (shape.end[edges] - shape.begin[edges]) / pieces
    low = shape.begin[edges][owner] + number * step[owner]
    high = low + step[owner] * filled[owner]
    of = edges[owner]
    return np.concatenate([shape.at(of, low), shape.at(of, high)], axis=1)


def arrow_heads(shape: Curves, edges: NDArray[np.intp]) -> Floats:
    """Triangles (k, 3, 2): tip, left, right, at the end of each of the given edges."""
    end = shape.end[edges]
    tip = shape.at(edges, end)
    back = shape.at(edges, np.maximum(end - ARROW / np.maximum(shape.length[edges], ARROW), 0.0))
    way = tip - back
    way /= np.maximum(np.hypot(way[:, 0], way[:, 1]), 1e-9)[:, None]
    base = tip - way * ARROW
    side = np.stack([-way[:, 1], way[:, 0]], axis=1) * (ARROW * 0.42)
    return np.stack([tip, base + side, base - side], axis=1)

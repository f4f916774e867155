"""What the canvas paints: a subgraph, where its nodes are, and what of it stands out."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QColor

from synapse.engine.layout import Subgraph
from synapse.window.graph.camera import Camera
from synapse.window.graph.curves import Curves, curves
from synapse.window.graph.look import Look

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


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
    """What is painted. place: (n, 2) scene units; hidden_nodes (n,), hidden_edges (m,): masks. These
    arrays are replaced as a whole, never changed in place: what was painted is kept by them.

    hovered, selected: node indexes or -1; hovered_edge, selected_edge: edge indexes or -1.
    """

    graph: Subgraph
    look: Look
    place: Floats
    hidden_nodes: Bools
    hidden_edges: Bools
    pinned: set[str] = field(default_factory=set)
    hovered: int = -1
    selected: int = -1
    hovered_edge: int = -1
    selected_edge: int = -1

    def shown_edges(self) -> Bools:
        ends = self.graph.ends
        return ~(self.hidden_edges | self.hidden_nodes[ends[:, 0]] | self.hidden_nodes[ends[:, 1]])

    def touching(self, node: int) -> Bools:
        """Mask (m,) of the edges that have the node as an end."""
        ends = self.graph.ends
        found: Bools = (ends[:, 0] == node) | (ends[:, 1] == node)
        return found

    def neighbours(self, node: int) -> Bools:
        """Mask (n,) of a node and the nodes that a shown edge joins to it."""
        mask = np.zeros(len(self.place), dtype=bool)
        mask[node] = True
        mask[self.graph.ends[self.shown_edges() & self.touching(node)].ravel()] = True
        return mask

    def emphasised(self) -> Bools | None:
        """Mask (n,) of the nodes that stand out while something is hovered, else None."""
        if self.hovered >= 0:
            return self.neighbours(self.hovered)
        if self.hovered_edge >= 0:
            mask = np.zeros(len(self.place), dtype=bool)
            mask[self.graph.ends[self.hovered_edge]] = True
            return mask
        return None

    def chosen_edges(self) -> Bools:
        """Mask (m,) of the edges that belong to what is selected."""
        if self.selected >= 0:
            return self.touching(self.selected)
        return self._only(self.selected_edge)

    def hovered_edges(self) -> Bools:
        """Mask (m,) of the edges that belong to what is hovered."""
        if self.hovered >= 0:
            return self.touching(self.hovered)
        return self._only(self.hovered_edge)

    def _only(self, edge: int) -> Bools:
        mask = np.zeros(len(self.graph.ends), dtype=bool)
        if edge >= 0:
            mask[edge] = True
        return mask


def radii(picture: Picture, camera: Camera) -> Floats:
    """Pixels (n,): discs shrink more slowly than the scene when zooming out, and stay visible."""
    found: Floats = np.maximum(picture.look.radius * camera.scale**0.7, 2.5)
    return found


def edge_curves(picture: Picture, camera: Camera) -> Curves:
    """The edges in pixels."""
    screen = camera.to_screen(picture.place)
    return curves(screen, radii(picture, camera), picture.graph.ends, picture.graph.lane)

"""The words of a picture, cut and measured once for each picture and font."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QFontMetricsF

from synapse.window.facts.rows import is_address
from synapse.window.graph.picture import Floats, Picture

EDGE_MOST = 130.0
SMALLER, SMALLEST = 0.86, 6.5


class Captions:
    """Texts of nodes (plain, and semibold for those that stand out) and of edges, with their widths
    in pixels. most: where a node's label is cut."""

    def __init__(self, picture: Picture, font: QFont, most: float) -> None:
        self.graph = picture.graph
        self.most = most
        self.plain = font
        self.bold = QFont(font)
        self.bold.setWeight(QFont.Weight.DemiBold)
        self.small = QFont(font)
        self.small.setPointSizeF(max(font.pointSizeF() * SMALLER, SMALLEST))
        self._bold_metrics = QFontMetricsF(self.bold)
        metrics, small = QFontMetricsF(font), QFontMetricsF(self.small)
        self.height, self.small_height = metrics.height(), small.height()
        self._labels = picture.look.label
        self.nodes = [_cut(metrics, text, most) for text in self._labels]
        self.node_widths = _widths(metrics, self.nodes)
        relations = [picture.graph.relation(edge) for edge in range(len(picture.graph.ends))]
        shown = {text: _cut(small, text, EDGE_MOST) for text in set(relations)}
        self.edges = [shown[text] for text in relations]
        widths = {text: small.horizontalAdvance(text) for text in set(self.edges)}
        self.edge_widths = np.array([widths[text] for text in self.edges])

    def strong(self, node: int) -> tuple[str, float]:
        """A node's label in semibold, and its width."""
        text = _cut(self._bold_metrics, self._labels[node], self.most)
        return text, self._bold_metrics.horizontalAdvance(text)


def _cut(metrics: QFontMetricsF, text: str, most: float) -> str:
    mode = Qt.TextElideMode.ElideMiddle if is_address(text) else Qt.TextElideMode.ElideRight
    return metrics.elidedText(text, mode, most)


def _widths(metrics: QFontMetricsF, texts: list[str]) -> Floats:
    return np.array([metrics.horizontalAdvance(text) for text in texts])

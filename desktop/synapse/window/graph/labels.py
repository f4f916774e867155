"""Which labels of a picture are shown: in order of importance, none over another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

ALL_UP_TO = 40
"""So few nodes have all their labels at any zoom, as far as there is room."""


def fading(scale: float, radius: Floats) -> Floats:
    """Opacity (n,) of each label at a zoom: large nodes keep theirs the longest."""
    if len(radius) <= ALL_UP_TO:
        return np.ones(len(radius))
    found: Floats = np.clip((scale * (0.5 + radius / 10.0) - 0.42) / 0.2, 0.0, 1.0)
    return found


class Room:
    """Rectangles that are taken; answers whether another one fits beside them."""

    def __init__(self, capacity: int) -> None:
        self._taken = np.empty((max(capacity, 1), 4))
        self._count = 0

    def take(self, left: float, top: float, right: float, bottom: float) -> None:
        if self._count == len(self._taken):
            self._taken = np.concatenate([self._taken, np.empty_like(self._taken)])
        self._taken[self._count] = (left, top, right, bottom)
        self._count += 1

    def is_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        taken = self._taken[: self._count]
        clash = (taken[:, 0] < right) & (taken[:, 2] > left) & (taken[:, 1] < bottom) & (taken[:, 3] > top)
        return not clash.any()

    def take_if_free(self, left: float, top: float, right: float, bottom: float) -> bool:
        free = self.is_free(left, top, right, bottom)
        if free:
            self.take(left, top, right, bottom)
        return free


def in_order(importance: Floats, candidates: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Indexes of the candidates, the most important first, ties by index."""
    order = np.lexsort((np.arange(len(importance)), -importance))
    return order[candidates[order]]

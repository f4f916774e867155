"""Where the canvas looks: scene units to pixels and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LEAST, MOST = 0.05, 6.0
FIT_MOST = 1.25
"""A picture of two nodes is not blown up beyond this."""


class Camera:
    """screen = scene * scale + offset, in pixels."""

    def __init__(self) -> None:
        self.scale = 1.0
        self.offset = np.zeros(2)

    def to_screen(self, place: Floats) -> Floats:
        found: Floats = place * self.scale + self.offset
        return found

    def to_scene(self, point: Floats) -> Floats:
        found: Floats = (point - self.offset) / self.scale
        return found

    def pan(self, by: Floats) -> None:
        self.offset = self.offset + by

    def zoom(self, factor: float, at: Floats) -> None:
        """Zooms so that the scene point under `at` (pixels) stays under it."""
        scale = float(np.clip(self.scale * factor, LEAST, MOST))
        self.offset = at - (at - self.offset) * (scale / self.scale)
        self.scale = scale

    def fit(self, place: Floats, sizes: Floats, width: float, height: float, margin: float = 8.0) -> None:
        """Shows all of `place` (n, 2) in a view of width x height pixels.

        sizes: (n, 2) half width and half height in pixels of what stands around each point; it
        keeps its size at every zoom, so the zoom that just fits is found by halving.
        """
        room = np.maximum(np.array([width, height]) - 2 * margin, 20.0)
        low, high = LEAST, FIT_MOST
        for _ in range(24):
            middle = (low + high) / 2
            need = (place * middle + sizes).max(axis=0) - (place * middle - sizes).min(axis=0)
            low, high = (middle, high) if (need <= room).all() else (low, middle)
        self.scale = low
        top, bottom = (place * low - sizes).min(axis=0), (place * low + sizes).max(axis=0)
        self.offset = np.array([width, height]) / 2 - (top + bottom) / 2

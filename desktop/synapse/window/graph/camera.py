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

    def fit(self, low: Floats, high: Floats, width: float, height: float, margin: float = 16.0) -> None:
        """Shows the scene rectangle from `low` to `high` in a view of width x height pixels."""
        size = np.maximum(high - low, 1.0)
        room = np.maximum(np.array([width, height]) - 2 * margin, 20.0)
        self.scale = float(np.clip((room / size).min(), LEAST, FIT_MOST))
        self.offset = np.array([width, height]) / 2 - (low + high) / 2 * self.scale

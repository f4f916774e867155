"""Taking nodes apart that lie over each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synapse.engine.layout.start import GOLDEN_ANGLE, Floats

SWEEPS = 40
GROWTH = 1.06
ROUNDS = 60
"""GROWTH ** ROUNDS = 33."""


def overlaps(place: Floats, sizes: Floats) -> NDArray[np.int64]:
    """Pairs (k, 2) of nodes whose boxes overlap. sizes: (n, 2), half width and half height."""
    depth = _depth(place, sizes)
    low, high = np.nonzero(np.triu(depth.min(axis=2) > 1e-6, 1))
    return np.stack([low, high], axis=1)


def separate(place: Floats, sizes: Floats, fixed: NDArray[np.bool_] | None = None) -> Floats:
    """Positions in which no two boxes overlap, as near to the given ones as few sweeps reach.

    Each sweep pushes every overlapping pair apart along the axis where it overlaps least. What
    is still tangled after SWEEPS is spread by GROWTH around the middle and swept again, so that
    it ends. Nodes in `fixed` (n,) do not move; two of them may stay over each other.
    """
    place = place.copy()
    held = np.zeros(len(place), dtype=bool) if fixed is None else fixed
    if len(place) < 2 or held.all():
        return place
    give = np.where(held, 0.0, 1.0)
    total = give[:, None] + give[None, :]
    share = np.divide(give[:, None], total, out=np.zeros_like(total), where=total > 0)
    # Nodes at one point have no direction to go: a tiny spiral gives them one, the same each time.
    turn = np.arange(len(place)) * GOLDEN_ANGLE
    spiral = np.stack([np.cos(turn), np.sin(turn)], axis=1) * (1e-3 * np.sqrt(np.arange(len(place)))[:, None])
    place += np.where(held[:, None], 0.0, spiral)
    for spread in range(ROUNDS):
        for _ in range(SWEEPS):
            gap = place[:, None, :] - place[None, :, :]
            depth = _depth(place, sizes)
            touching = (depth.min(axis=2) > 1e-7) & (total > 0)
            if not touching.any():
                return place
            along_x = touching & (depth[:, :, 0] < depth[:, :, 1])
            along_y = touching & ~along_x
            for axis, along in ((0, along_x), (1, along_y)):
                push = np.where(along, share * (1.02 * depth[:, :, axis] + 1e-4), 0.0)
                place[:, axis] += (push * np.sign(gap[:, :, axis])).sum(axis=1)
        middle = place.mean(axis=0)
        place = np.where(held[:, None], place, middle + (place - middle) * GROWTH)
        # Spreading does not free a node that stands in the very middle of fixed ones: it walks out.
        caught = touching[:, held].any(axis=1) & ~held
        way = turn + spread
        walk = 0.3 * (spread + 1) * sizes.max() * np.stack([np.cos(way), np.sin(way)], axis=1)
        place += np.where(caught[:, None], walk, 0.0)
    return place


def _depth(place: Floats, sizes: Floats) -> Floats:
    """How deep each pair of boxes overlaps in x and y: (n, n, 2), negative where they do not."""
    depth: Floats = sizes[:, None, :] + sizes[None, :, :] - np.abs(place[:, None, :] - place[None, :, :])
    index = np.arange(len(place))
    depth[index, index] = -1.0
    return depth

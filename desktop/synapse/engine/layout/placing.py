"""A force-directed layout for the few hundred nodes around a note.

Fruchterman and Reingold's scheme (1991: all pairs repel, edges pull, steps bounded by a cooling
temperature) with charges by degree and springs weaker at hubs, so that a hub's leaves fan out
around it. All pairs at once in numpy: exact, and at these sizes faster than a tree.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from synapse.engine.layout.separation import separate
from synapse.engine.layout.start import GOLDEN_ANGLE, Floats, Ints, breadth_first, radial_start

Bools = NDArray[np.bool_]

SPOTS = 2_000
"""Places tried for each further component."""
LENGTH = 96.0
"""Rest length of a spring in scene units (pixels at zoom 1), between the edges of two nodes."""
REPULSION = 0.30
PULL_TO_MIDDLE = 0.02
MOST_STRETCH = 1.9
ROUNDS = 260
"""Rounds for up to 150 nodes; larger graphs get fewer, so that none takes much over half a second."""


def lay_out(
    n: int,
    ends: Ints,
    sizes: Floats,
    *,
    centre: int = 0,
    start: Floats | None = None,
    fixed: Bools | None = None,
    aspect: float | None = None,
    seed: int = 0,
) -> Floats:
    """Positions (n, 2) in scene units (pixels at zoom 1), the same for the same arguments.

    ends: (m, 2) node indexes; self loops and parallel edges pull once at most. sizes: (n, 2),
    half width and half height of what must not be covered. start: (n, 2) earlier positions, NaN
    where there is none; those in `fixed` (n,) stay. No two boxes overlap in the result, unless
    both are fixed. aspect: height by width of the view; the picture is stretched some way towards
    it, unless a node is fixed. Time O(rounds * n^2), memory O(n^2): meant for n up to about 600.
    """
    if n == 0:
        return np.zeros((0, 2))
    held = np.zeros(n, dtype=bool) if fixed is None else fixed.copy()
    known: Bools = np.zeros(n, dtype=bool) if start is None else np.isfinite(start).sum(axis=1) == 2
    held &= known
    reach = np.hypot(sizes[:, 0], sizes[:, 1])
    place = radial_start(n, ends, centre, LENGTH + 2 * float(np.median(reach)), seed)
    if start is not None and known.any():
        place = _from_known(place, start, known, ends, n, centre)
    if n == 1:
        return place if held.any() else np.zeros((1, 2))
    pairs = _springs(ends)
    components = _components(n, ends, centre)
    rounds = round(ROUNDS * min(1.0, 150 / n) ** 0.7 * (0.5 if known.mean() > 0.5 else 1.0))
    place = _relax(place, pairs, reach, held, rounds, warm=bool(known.any()))
    if aspect is not None and not held.any():
        place = _stretched(place, aspect)
    place = _together(place, sizes, components, held)
    place = separate(place, sizes, held)
    return place if held.any() else place - place[centre]


def _springs(ends: Ints) -> Ints:
    """Each pair of linked nodes once, without self loops."""
    linked = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    if not len(linked):
        return linked
    linked = linked[np.lexsort((linked[:, 1], linked[:, 0]))]
    first = np.ones(len(linked), dtype=bool)
    first[1:] = (linked[1:] != linked[:-1]).any(axis=1)
    return linked[first]


def _from_known(place: Floats, start: Floats, known: Bools, ends: Ints, n: int, centre: int) -> Floats:
    """Known nodes where they were; each other at its offset from its parent in the radial start."""
    order, parent, _ = breadth_first(n, ends, centre)
    ring = place
    place = np.where(known[:, None], start, ring + (start[known] - ring[known]).mean(axis=0))
    for node in order:
        if not known[node] and parent[node] >= 0:
            place[node] = place[parent[node]] + (ring[node] - ring[parent[node]])
    return place


def _relax(
    place: Floats, pairs: Ints, reach: Floats, held: Bools, rounds: int, *, warm: bool
) -> Floats:
    n = len(place)
    degree = np.bincount(pairs.ravel(), minlength=n).astype(np.float64)
    charge = 1.0 + 0.35 * np.sqrt(degree)
    low, high = pairs[:, 0], pairs[:, 1]
    strength = 0.7 / np.sqrt(np.maximum(np.minimum(degree[low], degree[high]), 1.0))
    rest = LENGTH + reach[low] + reach[high]
    # Falls with the square of the distance: near nodes keep apart, far ones do not push a crowd wide.
    repel = REPULSION * LENGTH**3 * np.outer(charge, charge)
    heat = LENGTH * (0.35 if warm else 1.0)
    cooling = (1.0 / heat) ** (1.0 / rounds)
    x, y = place[:, 0].copy(), place[:, 1].copy()
    gap_x, gap_y, weight = np.empty((n, n)), np.empty((n, n)), np.empty((n, n))
    for _ in range(rounds):
        np.subtract(x[:, None], x[None, :], out=gap_x)
        np.subtract(y[:, None], y[None, :], out=gap_y)
        np.multiply(gap_x, gap_x, out=weight)
        weight += gap_y * gap_y
        weight += 64.0
        np.divide(repel, weight * np.sqrt(weight), out=weight)
        force_x = np.einsum("ij,ij->i", weight, gap_x) - PULL_TO_MIDDLE * x * charge
        force_y = np.einsum("ij,ij->i", weight, gap_y) - PULL_TO_MIDDLE * y * charge
        line_x, line_y = x[high] - x[low], y[high] - y[low]
        length = np.hypot(line_x, line_y) + 1e-9
        pull = strength * (length - rest) / length
        force_x += np.bincount(low, pull * line_x, n) - np.bincount(high, pull * line_x, n)
        force_y += np.bincount(low, pull * line_y, n) - np.bincount(high, pull * line_y, n)
        size = np.hypot(force_x, force_y) + 1e-9
        step = np.where(held, 0.0, np.minimum(size, heat) / size)
        x += force_x * step
        y += force_y * step
        heat *= cooling
    return np.stack([x, y], axis=1)


def _stretched(place: Floats, aspect: float) -> Floats:
    """Positions drawn out in one direction and in from the other, never more than MOST_STRETCH."""
    extent = np.maximum(np.ptp(place, axis=0), LENGTH)
    by = float(np.clip(aspect * extent[0] / extent[1], 1 / MOST_STRETCH, MOST_STRETCH))
    scale: Floats = np.array([by**-0.5, by**0.5])
    return place * scale


def _components(n: int, ends: Ints, centre: int) -> NDArray[np.int64]:
    """(n,) number of each node's component; the centre's is 0."""
    order, parent, _ = breadth_first(n, ends, centre)
    number = np.zeros(n, dtype=np.int64)
    found = -1
    for node in order:
        if parent[node] < 0:
            found += 1
            number[node] = found
        else:
            number[node] = number[parent[node]]
    return number


def _together(place: Floats, sizes: Floats, component: NDArray[np.int64], held: Bools) -> Floats:
    """Moves each further component as a whole beside the others: the nearest free place, tried
    outwards on a spiral around the first."""
    count = int(component.max()) + 1
    if count == 1 or held.any():
        return place
    place = place.copy()
    margin = LENGTH / 3
    lows = np.stack([(place - sizes)[component == number].min(axis=0) for number in range(count)])
    highs = np.stack([(place + sizes)[component == number].max(axis=0) for number in range(count)])
    halves = (highs - lows) / 2 + margin
    middles = (highs + lows) / 2
    # A disc that has room for all their boxes twice over, measured by their half diagonals.
    turns = np.arange(SPOTS)
    wide = 2 * np.sqrt((np.hypot(halves[:, 0], halves[:, 1]) ** 2).sum())
    angles = turns * GOLDEN_ANGLE
    rays = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    spots = middles[0] + (wide * np.sqrt(turns / SPOTS))[:, None] * rays
    for number in range(1, count):
        apart = np.abs(spots[:, None, :] - middles[:number]) >= halves[number] + halves[:number] - margin
        free = np.flatnonzero(apart.any(axis=2).all(axis=1))
        if len(free):
            place[component == number] += spots[free[0]] - middles[number]
            middles[number] = spots[free[0]]
    return place

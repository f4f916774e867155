"""Where a force layout begins: rings around the centre, each branch in a sector of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]

GOLDEN_ANGLE = np.pi * (3 - 5**0.5)


def breadth_first(n: int, ends: Ints, centre: int) -> tuple[list[int], list[int], list[int]]:
    """Order, parent and depth of all nodes, breadth first from `centre`, neighbours by index.

    Further components follow, each from its node of highest degree; roots have parent -1 and
    depth 0.
    """
    neighbours: list[list[int]] = [[] for _ in range(n)]
    for source, target in ends.tolist():
        if source != target:
            neighbours[source].append(target)
            neighbours[target].append(source)
    parent, depth, order = [-2] * n, [0] * n, []
    by_degree = sorted(range(n), key=lambda node: (-len(neighbours[node]), node))
    for root in [centre, *by_degree] if n else []:
        if parent[root] != -2:
            continue
        parent[root] = -1
        ring = [root]
        while ring:
            order += ring
            following = []
            for node in ring:
                for neighbour in sorted(set(neighbours[node])):
                    if parent[neighbour] == -2:
                        parent[neighbour], depth[neighbour] = node, depth[node] + 1
                        following.append(neighbour)
            ring = following
    return order, parent, depth


def radial_start(n: int, ends: Ints, centre: int, step: float, seed: int = 0) -> Floats:
    """Positions (n, 2): depth d of the breadth-first tree lies on the ring of radius d * step.

    Every branch has an angle in proportion to its size. Components stand beside each other on a
    golden spiral. `seed` turns and jitters the picture by less than a hundredth of a step, which
    keeps symmetric graphs from standing still on a saddle.
    """
    order, parent, depth = breadth_first(n, ends, centre)
    weight = [1] * n
    for node in reversed(order):
        if parent[node] >= 0:
            weight[parent[node]] += weight[node]
    rng = np.random.default_rng(seed)
    turn = float(rng.random()) * 2 * np.pi if seed else 0.0
    place = np.zeros((n, 2))
    begin, width = [0.0] * n, [2 * np.pi] * n
    taken = [0.0] * n
    components, reach = 0, 0.0
    origin = [(0.0, 0.0)] * n
    for node in order:
        if parent[node] < 0:
            radius = step * (max(depth, default=0) + 1 + 0.7 * components**0.5) if components else 0.0
            angle = components * GOLDEN_ANGLE
            origin[node] = (radius * np.cos(angle), radius * np.sin(angle))
            begin[node] = turn
            components += 1
            reach = max(reach, radius)
            place[node] = origin[node]
            continue
        above = parent[node]
        origin[node] = origin[above]
        share = width[above] * weight[node] / max(weight[above] - 1, 1)
        begin[node], width[node] = begin[above] + taken[above], share
        taken[above] += share
        angle = begin[node] + share / 2
        place[node] = (
            origin[node][0] + depth[node] * step * np.cos(angle),
            origin[node][1] + depth[node] * step * np.sin(angle),
        )
    return place + rng.normal(scale=step / 300, size=(n, 2))

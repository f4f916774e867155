"""What a node or edge looks like, as numbers: sizes, colour numbers, shapes. No Qt, no colours."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from synapse.engine.layout import Subgraph

Floats = NDArray[np.float64]

COLOURS = 6
"""Colours that types share out; the one after them is for nodes without a type."""
UNTYPED = COLOURS
SHAPES = ("circle", "square", "diamond", "hexagon")
LABEL_GAP = 3.0
LONGEST = 400
"""Characters of a label that are kept; the painter cuts it to its room."""


def look_of_type(type_label: str) -> tuple[int, int]:
    """Colour number and shape number of a type, the same in every picture and session.

    The shape says what the colour says, for whoever cannot tell the colours apart, and keeps
    types apart that share a colour.
    """
    number = crc32(type_label.casefold().encode())
    return number % COLOURS, (number // COLOURS) % len(SHAPES)


def one_line(text: str, most: int = 120) -> str:
    """A label without line ends and runs of white space, cut with an ellipsis."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Per node of a subgraph.

    radius: (n,) pixels. colour, shape: (n,) numbers as of `look_of_type`. hollow: (n,) unwritten
    notes. label: shown text. type_label: the type that gave the colour, or "".
    """

    radius: Floats
    colour: NDArray[np.int8]
    shape: NDArray[np.int8]
    hollow: NDArray[np.bool_]
    label: tuple[str, ...]
    type_label: tuple[str, ...]


def look_of(graph: Subgraph) -> Look:
    degree = np.array([node.degree for node in graph.nodes], dtype=np.float64)
    radius = np.minimum(5.0 + 1.6 * np.sqrt(degree), 15.0)
    types = tuple(node.types[0] if node.types else "" for node in graph.nodes)
    looks = [look_of_type(name) if name else (UNTYPED, 0) for name in types]
    labels = []
    for node in graph.nodes:
        text = one_line(node.entity.label, LONGEST) or node.entity.id
        labels.append(f"#{text.lstrip('#')}" if node.entity.kind == "tag" else text)
    return Look(
        radius=radius,
        colour=np.array([look[0] for look in looks], dtype=np.int8),
        shape=np.array([look[1] for look in looks], dtype=np.int8),
        hollow=np.array([node.entity.kind == "unwritten" for node in graph.nodes], dtype=bool),
        label=tuple(labels),
        type_label=types,
    )


def boxes(radius: Floats, label_widths: Floats, label_height: float) -> Floats:
    """Half width and half height (n, 2) that a layout keeps free for each node and its label.

    The label hangs below the disc; the box is as high as twice the lower half, so that it stays
    centred on the disc.
    """
    half_width = np.maximum(radius, label_widths / 2) + 5.0
    half_height = radius + (label_height + LABEL_GAP if len(radius) <= LABELLED else 0.0) + 3.0
    if len(radius) > LABELLED:
        half_width = radius + 5.0
    return np.stack([half_width, half_height], axis=1)


LABELLED = 80
"""Up to so many nodes the layout leaves room for every label; beyond, labels appear by zooming."""

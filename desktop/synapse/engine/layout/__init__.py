"""Subgraphs as arrays, and where their nodes go. No Qt here: the window only paints the result."""

from synapse.engine.layout.placing import lay_out
from synapse.engine.layout.separation import overlaps, separate
from synapse.engine.layout.start import Floats, breadth_first, radial_start
from synapse.engine.layout.subgraph import (
    AGENT,
    INFERRED,
    STATED,
    Subgraph,
    edge_kind,
    lay_out_subgraph,
    subgraph,
)

__all__ = [
    "AGENT",
    "INFERRED",
    "STATED",
    "Floats",
    "Subgraph",
    "breadth_first",
    "edge_kind",
    "lay_out",
    "lay_out_subgraph",
    "overlaps",
    "radial_start",
    "separate",
    "subgraph",
]

"""What the subgraph panel asks the engine for, and the colours it paints with."""

from __future__ import annotations

from synapse.engine import Engine
from synapse.engine.layout import Floats, Subgraph, lay_out_subgraph, subgraph
from synapse.engine.questions.results import Neighbourhood
from synapse.window.graph.picture import Colours
from synapse.window.theme import Theme


def canvas_colours(theme: Theme) -> Colours:
    return Colours(
        background=theme.color("panel"),
        text=theme.color("text"),
        muted=theme.color("muted"),
        accent=theme.color("accent"),
        edges=(theme.edge("stated").color, theme.edge("inferred").color, theme.edge("agent").color),
        nodes=tuple(theme.node_colors()),
    )


def find_subgraph(engine: Engine, subject: str, depth: int, limit: int) -> tuple[Neighbourhood, Subgraph]:
    """Runs in the read pool."""
    found = engine.neighbourhood(subject, depth=depth, limit=limit)
    return found, subgraph(found)


def place_subgraph(
    found: Neighbourhood,
    graph: Subgraph,
    sizes: Floats,
    known: dict[str, tuple[float, float]],
    pinned: frozenset[str],
    aspect: float,
) -> tuple[Neighbourhood, Subgraph, Floats]:
    """Runs in the read pool."""
    return found, graph, lay_out_subgraph(graph, sizes, known=known, pinned=pinned, aspect=aspect)

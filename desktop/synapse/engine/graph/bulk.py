"""Quads for a bulk load, written as N-Quads a batch at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Final

from pyoxigraph import NamedNode, Triple

from synapse.engine.graph.updates import stored_form
from synapse.engine.terms import vocabulary as v

BATCH: Final = 150_000
"""Quads loaded at once. The loader takes about a kilobyte of memory for each [measured], and more
time in all for smaller batches."""


def batches(graphs: Mapping[NamedNode, Collection[Triple]], inferred: Collection[Triple]) -> Iterator[bytes]:
    """N-Quads: each fact in its graph and in the default graph, `inferred` in its own alone.

    The loader keeps one copy of a quad that it reads several times, so a fact with several sources
    may be written to the default graph once for each.
    """
    lines: list[str] = []
    for graph, triples in graphs.items():
        if graph == v.INFERRED:
            raise ValueError("inferred facts are given apart")
        name = str(graph)
        for triple in triples:
            text = str(stored_form(triple))
            lines.append(f"{text} {name} .\n{text} .\n")
            if len(lines) >= BATCH // 2:
                yield "".join(lines).encode()
                lines.clear()
    name = str(v.INFERRED)
    for triple in inferred:
        lines.append(f"{stored_form(triple)} {name} .\n")
        if len(lines) >= BATCH // 2:
            yield "".join(lines).encode()
            lines.clear()
    if lines:
        yield "".join(lines).encode()

"""Quads for a bulk load, written as N-Quads while they are read."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from pyoxigraph import NamedNode, Triple

from synapse.engine.graph.updates import stored_form
from synapse.engine.terms import vocabulary as v

_CHUNK: Final = 2000
"""Triples that become text at once: memory stays bounded whatever the size of the load."""


class NQuadsStream(io.RawIOBase):
    """A readable of N-Quads: each fact in its graph and in the default graph, `inferred` in its own.

    The loader keeps one copy of a quad that it reads several times, so a fact with several sources
    may be written to the default graph once for each.
    """

    def __init__(self, graphs: Mapping[NamedNode, Collection[Triple]], inferred: Collection[Triple]) -> None:
        super().__init__()
        self._chunks = _chunks(graphs, inferred)
        self._buffer = b""
        self._offset = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        """At most `size` bytes; fewer do not mean the end, none does."""
        if self._offset == len(self._buffer):
            self._buffer, self._offset = next(self._chunks, b""), 0
        end = len(self._buffer) if size < 0 else self._offset + size
        found = self._buffer[self._offset : end]
        self._offset += len(found)
        return found


def _chunks(graphs: Mapping[NamedNode, Collection[Triple]], inferred: Collection[Triple]) -> Iterator[bytes]:
    lines: list[str] = []
    for graph, triples in graphs.items():
        if graph == v.INFERRED:
            raise ValueError("inferred facts are given apart")
        name = str(graph)
        for triple in triples:
            text = str(stored_form(triple))
            lines.append(f"{text} {name} .\n{text} .\n")
            if len(lines) >= _CHUNK:
                yield "".join(lines).encode()
                lines.clear()
    name = str(v.INFERRED)
    for triple in inferred:
        lines.append(f"{stored_form(triple)} {name} .\n")
        if len(lines) >= _CHUNK:
            yield "".join(lines).encode()
            lines.clear()
    if lines:
        yield "".join(lines).encode()

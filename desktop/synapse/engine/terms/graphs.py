"""Names of graphs that are no files, and of nodes that have no name (data-model.md section 3)."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from urllib.parse import quote

from pyoxigraph import NamedNode

from synapse.engine.terms import vocabulary as v


def ontology_graph(scenario: str, file: str) -> NamedNode:
    """The graph of one ontology or data file of a scenario."""
    return NamedNode(f"{v.ONTOLOGY}{quote(scenario)}/{quote(file)}")


def assertion_graph(assertion: str) -> NamedNode:
    """The graph of one agent call that stated facts."""
    return NamedNode(v.ASSERTION + assertion)


def memory_graph(memory: str) -> NamedNode:
    """The graph, and the node, of one memory."""
    return NamedNode(v.MEMORY + memory)


@lru_cache(maxsize=4096)
def _digest(graph: str) -> str:
    return sha256(graph.encode("utf-8")).hexdigest()[:16]


def skolem(graph: str, pointer: str) -> NamedNode:
    """The IRI that stands for a blank node.

    graph: IRI of the graph it is in. pointer: RFC 6901 JSON pointer into the frontmatter, or the
    node's number in document order.
    """
    return NamedNode(f"{v.GENID}{_digest(graph)}/{quote(pointer.lstrip('/'), safe='/')}")


def is_skolem(iri: str) -> bool:
    """Whether the IRI stands for a blank node."""
    return iri.startswith(v.GENID)

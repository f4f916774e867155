"""Answering SPARQL: the dataset a query sees, its limits, its errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyoxigraph import DefaultGraph, NamedNode, QueryBoolean, QuerySolutions, Triple

from synapse.engine.errors import InvalidQuery, QueryStopped
from synapse.engine.graph import guard
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult, Term

if TYPE_CHECKING:
    from pyoxigraph import Store

GraphName = NamedNode | DefaultGraph
Row = tuple[Term | None, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """A query and the bounds of its answer; the first set event among `stops` ends it."""

    text: str
    default_graph: tuple[GraphName, ...]
    base: str
    prefixes: Mapping[str, str]
    limit: int | None = None
    timeout: float | None = None
    stops: tuple[threading.Event | None, ...] = ()


def answer(store: Store, request: Request) -> QueryResult:
    """Runs the query and reads its answer completely, up to the limit."""
    guard.check(request.text, request.prefixes)
    check = _stopper(request)
    try:
        found = store.query(
            request.text,
            base_iri=request.base,
            prefixes=dict(request.prefixes),
            default_graph=list(request.default_graph),
        )
    except SyntaxError as error:
        raise InvalidQuery(str(error)) from error
    if isinstance(found, QueryBoolean):
        return AskResult(bool(found))
    if isinstance(found, QuerySolutions):
        rows, truncated = _take((tuple(row) for row in found), request.limit, check)
        return SelectResult(tuple(name.value for name in found.variables), tuple(rows), truncated)
    triples: dict[Triple, None] = {}
    for triple in found:
        check()
        if request.limit is not None and len(triples) >= request.limit and triple not in triples:
            return GraphResult(tuple(triples), truncated=True)
        triples[triple] = None
    return GraphResult(tuple(triples))


def count(store: Store, graphs: Iterable[GraphName]) -> int:
    """Number of triples in the union of graphs that are disjoint."""
    solutions = store.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", default_graph=list(graphs))
    assert isinstance(solutions, QuerySolutions)
    (row,) = list(solutions)
    return int(row["n"].value)


def _stopper(request: Request) -> Callable[[], None]:
    deadline = None if request.timeout is None else time.monotonic() + request.timeout

    def check() -> None:
        if any(event is not None and event.is_set() for event in request.stops):
            raise QueryStopped("The query was stopped.")
        if deadline is not None and time.monotonic() > deadline:
            raise QueryStopped(
                f"The query took more than {request.timeout:g} s.", "Narrow it or allow more time."
            )

    return check


def _take(rows: Iterable[Row], limit: int | None, check: Callable[[], None]) -> tuple[list[Row], bool]:
    found: list[Row] = []
    for row in rows:
        check()
        if limit is not None and len(found) >= limit:
            return found, True
        found.append(row)
    return found, False

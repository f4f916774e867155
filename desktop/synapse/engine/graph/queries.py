"""Answering SPARQL: the dataset a query sees, its limits, its errors."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    NamedNode,
    QueryBoolean,
    QuerySolutions,
    QueryTriples,
    Store,
    Triple,
)

from synapse.engine.errors import InvalidQuery, QueryStopped, RefusedQuery
from synapse.engine.graph import complexity, datasets, diagnosis, guard
from synapse.engine.graph.places import place_of
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult, Term

GraphName = NamedNode | BlankNode | DefaultGraph
Row = tuple[Term | None, ...]
Answer = QuerySolutions | QueryBoolean | QueryTriples


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
    """Runs the query and reads its answer completely, up to the limit.

    Raises RefusedQuery, InvalidQuery and QueryStopped.
    """
    check(request)
    stop = _stopper(request)
    try:
        return _read(_start(store, request), request.limit, stop)
    except SyntaxError as error:
        message = str(error)
    except RuntimeError as error:
        if "custom function" not in str(error):
            raise
        raise diagnosis.unknown_function(request.text, str(error)) from error
    raise diagnosis.invalid_query(request.text, message, _parser(request), tuple(request.prefixes))


def check(request: Request) -> None:
    """Raises InvalidQuery and RefusedQuery for texts that must not reach Oxigraph."""
    try:
        request.text.encode()
    except UnicodeEncodeError as error:
        line, column = place_of(request.text, error.start)
        raise InvalidQuery("This character is half of a pair.", line=line, column=column) from error
    complexity.check(request.text)
    guard.check(request.text, request.prefixes)


def count(store: Store, graphs: Iterable[GraphName]) -> int:
    """Number of triples in the union of graphs that are disjoint."""
    solutions = store.query("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }", default_graph=list(graphs))
    assert isinstance(solutions, QuerySolutions)
    (row,) = list(solutions)
    return int(row["n"].value)


def _start(store: Store, request: Request) -> Answer:
    default: list[GraphName] | None = list(request.default_graph)
    clauses = datasets.clauses_of(request.text)
    if clauses:
        resolve = (clauses.prologue, request.base, request.prefixes)
        own = datasets.resolve(clauses.default, *resolve)
        named = datasets.resolve(clauses.named, *resolve)
        default = None
        if own and named is not None and len(clauses.default) > 1:
            if datasets.overlap(store, own):
                store = datasets.copy_of(store, own, named)
                default = [DefaultGraph()]
            else:
                default = list(own)
    return store.query(
        request.text, base_iri=request.base, prefixes=dict(request.prefixes), default_graph=default
    )


def _read(found: Answer, limit: int | None, stop: Callable[[], None]) -> QueryResult:
    if isinstance(found, QueryBoolean):
        return AskResult(bool(found))
    if isinstance(found, QuerySolutions):
        variables = tuple(name.value for name in found.variables)
        rows: list[Row] = []
        for solution in found:
            stop()
            if limit is not None and len(rows) >= limit:
                return SelectResult(variables, tuple(rows), truncated=True)
            rows.append(tuple(solution))
        return SelectResult(variables, tuple(rows))
    triples: dict[Triple, None] = {}
    for triple in found:
        stop()
        if limit is not None and len(triples) >= limit and triple not in triples:
            return GraphResult(tuple(triples), truncated=True)
        triples[triple] = None
    return GraphResult(tuple(triples))


def was_stopped(request: Request) -> None:
    """Raises QueryStopped where one of the request's events is set."""
    if any(event is not None and event.is_set() for event in request.stops):
        raise QueryStopped("The query was stopped.")


def _stopper(request: Request) -> Callable[[], None]:
    deadline = None if request.timeout is None else time.monotonic() + request.timeout

    def stop() -> None:
        was_stopped(request)
        if deadline is not None and time.monotonic() > deadline:
            raise QueryStopped(
                f"The query took more than {request.timeout:g} s.", "Narrow it or allow more time."
            )

    return stop


def _parser(request: Request) -> diagnosis.Parse:
    """Parses texts that the guard lets through, over nothing."""
    empty = Store()

    def parse(text: str) -> str | None:
        try:
            guard.check(text, request.prefixes)
            empty.query(text, base_iri=request.base, prefixes=dict(request.prefixes))
        except SyntaxError as error:
            return str(error)
        except (RefusedQuery, RuntimeError):
            return None
        return None

    return parse

"""What the console asks the engine for, all of it in the read pool: answers with names, and what
completion knows. No Qt here."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Literal as OneOf

from pyoxigraph import NamedNode, Triple

from synapse.engine import Engine
from synapse.engine.graph.results import AskResult, QueryResult, SelectResult, Term
from synapse.engine.questions.results import Entity
from synapse.engine.terms import vocabulary as v
from synapse.window.console.completion import Known
from synapse.window.console.completion import Term as KnownTerm

View = OneOf["all", "stated", "inferred"]
VIEWS: tuple[View, ...] = ("all", "stated", "inferred")

_SIMPLE_LOCAL = re.compile(r"[^\W\d][\w-]*\Z")
_CLASSES = """SELECT ?term (COUNT(?one) AS ?uses) {
  { ?one a ?term } UNION { ?term a rdfs:Class } UNION { ?term a owl:Class }
} GROUP BY ?term"""
_PROPERTIES = """SELECT ?term (COUNT(?one) AS ?uses) {
  { ?one ?term ?other } UNION { ?term a rdf:Property } UNION { ?term a owl:ObjectProperty }
} GROUP BY ?term"""
_MOST_TERMS = 5_000


@dataclass(frozen=True, slots=True)
class Answer:
    """A query's answer as a table. names: entities by IRI, for every IRI in it.

    kind: select, graph or ask. seconds: wall time of the query itself.
    """

    kind: OneOf["select", "graph", "ask"]
    columns: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    truncated: bool
    value: bool | None
    result: QueryResult
    text: str
    view: View
    limit: int
    seconds: float
    names: dict[str, Entity] = field(default_factory=dict)


def answer(
    engine: Engine, text: str, view: View, limit: int, timeout: float, cancel: threading.Event
) -> Answer:
    """Runs a query and names what it found. Raises as Engine.query does."""
    began = time.perf_counter()
    result = engine.query(text, view, limit=limit, timeout=timeout, cancel=cancel)
    seconds = time.perf_counter() - began
    if isinstance(result, AskResult):
        return Answer("ask", (), (), False, result.value, result, text, view, limit, seconds)
    if isinstance(result, SelectResult):
        kind: OneOf["select", "graph"] = "select"
        columns, rows = result.variables, result.rows
    else:
        kind, columns = "graph", ("subject", "predicate", "object")
        rows = tuple((t.subject, t.predicate, t.object) for t in result.triples)
    names = names_of(engine, rows)
    return Answer(kind, columns, rows, result.truncated, None, result, text, view, limit, seconds, names)


def names_of(engine: Engine, rows: tuple[tuple[Term | None, ...], ...]) -> dict[str, Entity]:
    """The entity of each IRI in the rows, by IRI; terms inside triple terms too."""
    found: dict[str, NamedNode] = {}
    waiting: list[object] = [term for row in rows for term in row]
    while waiting:
        term = waiting.pop()
        if isinstance(term, NamedNode):
            found[term.value] = term
        elif isinstance(term, Triple):
            waiting += [term.subject, term.predicate, term.object]
    described = engine.describe(found.values())
    return {iri: entity for iri, entity in zip(found, described, strict=True) if isinstance(entity, Entity)}


def load_known(engine: Engine) -> Known:
    """Classes, properties, entities and graphs of the store for completion, with how often each is used."""
    prefixes = dict(engine.words.prefixes)
    base = engine.identities.base
    notes = engine.notes()
    entities = [
        KnownTerm(
            _written(note.uri or engine.identities.entity(note.entity_id).value, {}, base), note.title
        )
        for note in notes
    ]
    graphs = [
        KnownTerm(_written(engine.identities.document(note.path).value, {}, base), note.title)
        for note in notes
    ]
    graphs += [KnownTerm(f"<{graph.value}>", "") for graph in (v.INFERRED, v.META)]
    return Known(
        classes=_used(engine, _CLASSES, prefixes, base),
        properties=_used(engine, _PROPERTIES, prefixes, base),
        entities=tuple(entities),
        graphs=tuple(graphs),
        prefixes=prefixes,
        undeclared=frozenset(prefixes),
    )


def _used(engine: Engine, query: str, prefixes: dict[str, str], base: str) -> tuple[KnownTerm, ...]:
    found = engine.query(query, limit=_MOST_TERMS, timeout=10.0)
    assert isinstance(found, SelectResult)
    rows = [
        (term, uses) for term, uses in found.rows if isinstance(term, NamedNode) and uses is not None
    ]
    described = engine.describe([term for term, _ in rows])
    return tuple(
        KnownTerm(_written(term.value, prefixes, base), entity.label, int(uses.value))  # type: ignore[union-attr]
        for (term, uses), entity in zip(rows, described, strict=True)
        if entity is not None
    )


def _written(iri: str, prefixes: dict[str, str], base: str) -> str:
    """An IRI as one writes it in a query here: `schema:name`, `<people/bob>`, `<https://...>`."""
    for prefix, namespace in prefixes.items():
        if iri.startswith(namespace) and _SIMPLE_LOCAL.match(iri[len(namespace) :]):
            return f"{prefix}:{iri[len(namespace) :]}"
    return f"<{iri[len(base) :]}>" if iri.startswith(base) and len(iri) > len(base) else f"<{iri}>"

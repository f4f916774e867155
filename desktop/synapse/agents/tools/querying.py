"""`sparql_query`: the graph, asked in SPARQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from synapse.agents.tools import shapes
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, LONGEST_LITERAL, TEXT, Names, joined, listed
from synapse.agents.tools.tool import Answer, Call, Tool, bounded, fitted, plural
from synapse.engine.graph.results import AskResult, SelectResult
from synapse.engine.operations import Argument
from synapse.engine.questions.results import Entity, Value

Described = Entity | Value | None


def _run(call: Call) -> Answer:
    asked, names = call.values, Names(call.engine)
    result = call.engine.query(
        asked["query"], limit=asked["limit"], timeout=asked["timeout"], cancel=call.cancel
    )
    if isinstance(result, AskResult):
        told = "Yes" if result.value else "No"
        return Answer(f"{told}.", {"kind": "ask", "answer": result.value, "returned": 1, "truncated": False})
    if isinstance(result, SelectResult):
        kind, variables = "select", result.variables
        rows: Sequence[Sequence[Any]] = result.rows
    else:
        kind, variables = "graph", ("subject", "predicate", "object")
        rows = [(triple.subject, triple.predicate, triple.object) for triple in result.triples]
    described: list[list[Described]] = []

    def page(most: int) -> Answer:
        nonlocal described
        if not described:  # looked up once: fewer rows are the first of these
            described = [list(call.engine.describe(row)) for row in rows]
        cut = result.truncated or most < len(rows)
        return _table(names, kind, variables, described[:most], cut)

    return fitted(page, asked["limit"])


def _table(
    names: Names, kind: str, variables: Sequence[str], rows: Sequence[Sequence[Described]], cut: bool
) -> Answer:
    data: dict[str, Any] = {
        "kind": kind,
        "variables": list(variables),
        "rows": [
            {name: _term(names, term) for name, term in zip(variables, row, strict=True) if term is not None}
            for row in rows
        ],
        "returned": len(rows),
        "truncated": cut,
    }
    noun = "row" if kind == "select" else "triple"
    lines = [f"{plural(len(rows), noun)}{', and there are more' if cut else ''}.", ""]
    lines += [f"{number}. {_row(names, kind, variables, row)}" for number, row in enumerate(rows, 1)]
    if cut:
        lines += [
            "",
            f"For the rest, add ORDER BY and OFFSET {len(rows)} to the query (and to the OFFSET that it has),"
            " or ask for less: fewer variables, a FILTER, COUNT.",
        ]
    return Answer(joined(lines), data, len(rows))


def _term(names: Names, term: Entity | Value) -> dict[str, Any]:
    if isinstance(term, Entity):
        found = {"id": names.entity(term), **names.label(term)}
        return found if term.id == term.iri and found["id"] == term.iri else {**found, "iri": term.iri}
    text, cut = bounded(term.text, LONGEST_LITERAL)
    value = names.value(term)
    found = {"text": text, **{key: value[key] for key in ("datatype", "language") if key in value}}
    return {**found, "length": len(term.text)} if cut else found


def _row(names: Names, kind: str, variables: Sequence[str], row: Sequence[Described]) -> str:
    told = [_told(names, term) for term in row]
    if kind == "graph":
        return " ".join(told)
    pairs = [f"?{name} = {text}" for name, text in zip(variables, told, strict=True)]
    return "; ".join(pairs) or "a solution without variables"


def _told(names: Names, term: Described) -> str:
    if term is None:
        return "nothing"
    return names.entity_text(term) if isinstance(term, Entity) else names.value_text(term)


_TIMEOUT, _LIMIT = taken("query", "timeout", "limit")

TOOL = Tool(
    "sparql_query",
    "SPARQL query",
    "Asks the whole graph in SPARQL 1.1: SELECT, ASK, CONSTRUCT or DESCRIBE; it changes nothing. For "
    "counting, comparing and combining what the other tools do not answer at once. Stated and inferred "
    "facts are queried together; the prefixes that the vault knows need no PREFIX line, and a relative IRI "
    "is an entity's id: `SELECT ?who { ?who prop:depends_on <modules/payments> }`. A word of a note such as "
    "depends_on is prop:depends_on, unless a vocabulary gives it another meaning: "
    "`SELECT ?p ?o { <people/ada> ?p ?o }` shows what is in use. SERVICE, LOAD and updates are refused; a "
    "query ends at its timeout.",
    {
        "query": "SELECT ?who (COUNT(?what) AS ?n) { ?who prop:depends_on ?what } GROUP BY ?who "
        "ORDER BY DESC(?n)",
        "limit": 20,
    },
    (
        Argument("query", "the query", required=True),
        replace(_LIMIT, default=100, doc="most rows to return; fewer where the answer would be too long"),
        replace(_TIMEOUT, default=30.0),
    ),
    shapes.schema(
        {
            "kind": {"type": "string", "enum": ["select", "ask", "graph"]},
            "variables": listed(TEXT),
            "rows": {
                **listed(
                    {
                        "type": "object",
                        "additionalProperties": shapes.schema(
                            {
                                "id": shapes.textual("of an entity"),
                                "iri": shapes.textual("of an entity"),
                                "label": TEXT,
                                "text": shapes.textual("of a literal"),
                                "datatype": TEXT,
                                "language": TEXT,
                                "length": {**COUNT, "description": "characters of a literal that is cut"},
                            },
                            "id", "iri", "label", "text", "datatype", "language", "length",
                        ),
                    }
                ),
                "description": "by variable; an unbound one is absent. Of a graph: its triples",
            },
            "answer": {"type": "boolean", "description": "of ASK"},
            "returned": COUNT,
            "truncated": {"type": "boolean", "description": "there is more than was returned"},
        },
        "variables", "rows", "answer",
    ),
    _run,
    long=True,
)  # fmt: skip

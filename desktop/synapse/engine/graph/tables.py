"""Rows and yes-or-no answers in the SPARQL 1.1 results formats: JSON, XML, CSV and TSV.

Oxigraph writes only from a living iterator of the store, and those stay in the store; but its
reader of results is an iterator that touches no store. So the rows are written as JSON here and the
other formats by Oxigraph from that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    Triple,
    parse_query_results,
)

from synapse.engine.errors import UsageError
from synapse.engine.graph.results import AskResult, SelectResult, Term
from synapse.engine.terms import vocabulary as v

RESULT_FORMATS: Final[Mapping[str, QueryResultsFormat]] = {
    "json": QueryResultsFormat.JSON,
    "xml": QueryResultsFormat.XML,
    "csv": QueryResultsFormat.CSV,
    "tsv": QueryResultsFormat.TSV,
}
"""Name -> format."""

_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def serialize_results(result: SelectResult | AskResult, format: str = "json") -> bytes:
    """The answer in a format of `RESULT_FORMATS`, UTF-8.

    CSV has CR LF line ends as RFC 4180 asks, loses the kinds of terms and writes an ASK as `true`
    or `false`. XML cannot hold most control characters: U+FFFD stands for each.
    """
    if format not in RESULT_FORMATS:
        raise UsageError(f"There is no format {format!r}.", f"Use one of {', '.join(RESULT_FORMATS)}.")
    if isinstance(result, AskResult):
        return _ask(result.value, format)
    document = results_object(result, replaced=_NO_XML if format == "xml" else None)
    written = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    if format == "json":
        return written
    rows = parse_query_results(written, QueryResultsFormat.JSON)
    assert isinstance(rows, QuerySolutions)
    found = rows.serialize(format=RESULT_FORMATS[format])
    assert found is not None
    # XML readers turn a carriage return into a line feed unless it is written as a reference.
    return found.replace(b"\r", b"&#13;") if format == "xml" else found


def _ask(value: bool, format: str) -> bytes:
    said = "true" if value else "false"
    if format == "json":
        return b'{"head":{},"boolean":' + said.encode() + b"}"
    if format == "xml":
        return (
            '<?xml version="1.0"?><sparql xmlns="http://www.w3.org/2005/sparql-results#"><head/>'
            f"<boolean>{said}</boolean></sparql>"
        ).encode()
    return said.encode()


def results_object(result: SelectResult, replaced: re.Pattern[str] | None = None) -> dict[str, object]:
    """The document that the JSON format writes. replaced: characters for which U+FFFD stands."""
    bindings = [
        {
            name: _term(cell, replaced)
            for name, cell in zip(result.variables, row, strict=True)
            if cell is not None
        }
        for row in result.rows
    ]
    return {"head": {"vars": list(result.variables)}, "results": {"bindings": bindings}}


def _term(term: Term, replaced: re.Pattern[str] | None) -> dict[str, object]:
    """A term as SPARQL 1.1 Query Results JSON, section 3.2.2; triple terms and directions as in 1.2."""
    if isinstance(term, NamedNode):
        return {"type": "uri", "value": term.value}
    if isinstance(term, BlankNode):
        return {"type": "bnode", "value": term.value}
    if isinstance(term, Triple):
        parts = {"subject": term.subject, "predicate": term.predicate, "object": term.object}
        return {"type": "triple", "value": {name: _term(part, replaced) for name, part in parts.items()}}
    return _literal(term, replaced)


def _literal(literal: Literal, replaced: re.Pattern[str] | None) -> dict[str, object]:
    value = replaced.sub("\ufffd", literal.value) if replaced else literal.value
    found: dict[str, object] = {"type": "literal", "value": value}
    if literal.language:
        found["xml:lang"] = literal.language
        if literal.direction is not None:
            found["its:dir"] = str(literal.direction)
    elif literal.datatype != v.XSD_STRING:
        found["datatype"] = literal.datatype.value
    return found

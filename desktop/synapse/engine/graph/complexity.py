"""Refuses SPARQL that would overflow Oxigraph's stack and take the whole process with it.

Its parser and evaluator recurse over the query, and an overflow is no exception but the end of the
program [tried, 8 MB of stack: about 2,000 groups in each other, 2,600 BINDs in a row, 4,000 nested
lists, 7,000 terms of a sum]. Rows of VALUES and members of an IN list cost nothing.
"""

from __future__ import annotations

from typing import Final

from synapse.engine.errors import RefusedQuery
from synapse.engine.graph.places import place_of
from synapse.engine.graph.terminals import tokens

DEEPEST: Final = 100
"""Brackets in each other."""

LONGEST: Final = 3000
"""Terminals, rows of VALUES and lists after IN not counted."""

_OPEN: Final = frozenset(("{", "(", "[", "<<", "<<(", "{|"))
_CLOSE: Final = frozenset(("}", ")", "]", ">>", ")>>", "|}"))
_VALUE: Final = frozenset(("string", "number", "iri", "name", "variable", "language"))


def check(text: str) -> None:
    """Raises RefusedQuery, with the place, where a query gets too deep or too long."""
    if len(text) <= LONGEST and sum(map(text.count, "{([<")) <= DEEPEST:
        return
    depth = length = hidden = 0
    data, data_depth = "", 0
    announced = ""
    for token in tokens(text):
        shown = text[token.start : token.end]
        if shown in _OPEN:
            depth += 1
            if not data and (announced, shown) in (("VALUES", "{"), ("IN", "(")):
                data, data_depth = announced, depth
        if not data or (data == "IN" and token.kind not in _VALUE and shown != ","):
            length += 1
        if token.kind == "iri" and data != "VALUES":
            # Oxigraph may read `<` as less-than and what looks like an IRI as brackets.
            hidden += max(0, shown.count("(") - shown.count(")")) + shown.count("[")
        if depth + hidden > DEEPEST or length > LONGEST:
            line, column = place_of(text, token.start)
            too_deep = depth + hidden > DEEPEST
            what = f"nests deeper than {DEEPEST} levels" if too_deep else f"has over {LONGEST:,} words"
            raise RefusedQuery(
                f"The query {what} here.", "Split it, or list values with VALUES.", line=line, column=column
            )
        if shown in _CLOSE:
            if data and depth == data_depth:
                data = announced = ""
            depth -= 1
        if token.kind == "word":
            announced = shown.upper()

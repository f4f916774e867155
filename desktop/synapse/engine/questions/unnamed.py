"""Terms that are described by themselves: no graph says more of them."""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, Triple

from synapse.engine.questions.results import Entity, Value
from synapse.engine.terms import vocabulary as v


def describe_unnamed(term: BlankNode | Literal | Triple) -> Entity | Value:
    """A literal, a triple as a value, or a blank node of a query's own making: none is stored."""
    if isinstance(term, Literal):
        return Value(term.value, term.datatype.value, term.language)
    if isinstance(term, Triple):
        return Value(str(term), v.RDF_STATEMENT.value)
    return Entity(str(term), str(term), str(term), "value")

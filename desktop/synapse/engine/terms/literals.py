"""Literals in the form the store keeps them.

Oxigraph normalises what it stores: `"01"^^xsd:integer` comes back as `"1"`, `@EN-us` as `@en-us`.
Facts are compared as sets, so a literal is brought into that form when it is made. The one
authority is Oxigraph itself: the literal goes once into and out of a query over nothing, which
encodes and decodes it as storing does, and is remembered. (Storing it in a store in memory would
take longer each time: what is removed there is kept.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from pyoxigraph import Literal, QuerySolutions, Store, Variable

from synapse.engine.terms import vocabulary as v

_NOTHING: Final = Store()
_VALUE: Final = Variable("value")


def canonical(literal: Literal) -> Literal:
    """The literal as the store returns it."""
    if literal.datatype == v.XSD_STRING:
        return literal
    return _round_trip(literal)


@lru_cache(maxsize=65536)
def _round_trip(literal: Literal) -> Literal:
    answer = _NOTHING.query("SELECT ?value { VALUES ?value { UNDEF } }", substitutions={_VALUE: literal})
    assert isinstance(answer, QuerySolutions)
    ((found,),) = list(answer)
    assert isinstance(found, Literal)
    return found

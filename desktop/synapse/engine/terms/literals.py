"""Literals in the form the store keeps them.

Oxigraph normalises what it stores: `"01"^^xsd:integer` comes back as `"1"`, `@EN-us` as `@en-us`.
Facts are compared as sets, so a literal is brought into that form when it is made. The one
authority is Oxigraph itself: the literal goes through a scratch store once and is remembered.
"""

from __future__ import annotations

from functools import lru_cache
from threading import Lock

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Store

from synapse.engine.terms import vocabulary as v

_scratch = Store()
_scratch_lock = Lock()
_SUBJECT = NamedNode("urn:synapse:scratch")


def canonical(literal: Literal) -> Literal:
    """The literal as the store returns it."""
    if literal.datatype == v.XSD_STRING:
        return literal
    return _round_trip(literal)


@lru_cache(maxsize=65536)
def _round_trip(literal: Literal) -> Literal:
    with _scratch_lock:
        quad = Quad(_SUBJECT, _SUBJECT, literal, DefaultGraph())
        _scratch.add(quad)
        (stored,) = _scratch.quads_for_pattern(_SUBJECT, None, None, None)
        _scratch.clear()
    found = stored.object
    assert isinstance(found, Literal)
    return found

"""Which facts a read sees."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from pyoxigraph import DefaultGraph, NamedNode

from synapse.engine.terms import vocabulary as v

View: TypeAlias = Literal["all", "stated", "inferred"] | NamedNode
"""Which facts a read sees: stated and inferred, one of the two, or one named graph."""


def graphs_of(view: View) -> Iterable[NamedNode | DefaultGraph]:
    if isinstance(view, NamedNode):
        return (view,)
    return {
        "all": (DefaultGraph(), v.INFERRED),
        "stated": (DefaultGraph(),),
        "inferred": (v.INFERRED,),
    }[view]

"""The store's invariants (data-model.md section 3): what differs, and how it is mended.

The default graph equals the distinct union of the named graphs but `inferred`; `inferred` has no
fact that is stated. That `inferred` equals a closure from scratch is for the reasoner to check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from typing import Literal as OneOf

from pyoxigraph import NamedNode, QuerySolutions, Triple

from synapse.engine.graph.results import Term
from synapse.engine.graph.updates import DEFAULT, Plan
from synapse.engine.terms import vocabulary as v

if TYPE_CHECKING:
    from pyoxigraph import Store

FaultKind = OneOf["missing-from-union", "stray-in-union", "inferred-but-stated"]

_STATED: Final = f"GRAPH ?g {{ ?s ?p ?o }} FILTER(?g != {v.INFERRED})"
_QUERIES: Final[dict[FaultKind, str]] = {
    "missing-from-union": f"SELECT DISTINCT ?s ?p ?o {{ {_STATED} MINUS {{ ?s ?p ?o }} }}",
    "stray-in-union": f"SELECT ?s ?p ?o {{ ?s ?p ?o MINUS {{ {_STATED} }} }}",
    "inferred-but-stated": (
        f"SELECT ?s ?p ?o {{ GRAPH {v.INFERRED} {{ ?s ?p ?o }} FILTER EXISTS {{ {_STATED} }} }}"
    ),
}


@dataclass(frozen=True, slots=True)
class Fault:
    """One fact that is where it should not be, or is not where it should be."""

    kind: FaultKind
    triple: Triple

    def __str__(self) -> str:
        said = {
            "missing-from-union": "stated in a named graph but missing from the default graph",
            "stray-in-union": "in the default graph though no named graph states it",
            "inferred-but-stated": "in the inferred graph though it is stated",
        }[self.kind]
        return f"{said}: {self.triple}"


def audit(store: Store) -> list[Fault]:
    """All faults, sorted. Reads the whole store, in Oxigraph's own code."""
    faults = [
        Fault(kind, Triple(*row))
        for kind, text in _QUERIES.items()
        for row in _rows(store, text)
    ]
    return sorted(faults, key=lambda fault: (fault.kind, str(fault.triple)))


def _rows(store: Store, text: str) -> list[tuple[NamedNode, NamedNode, Term]]:
    found = store.query(text)
    assert isinstance(found, QuerySolutions)
    return [(row["s"], row["p"], row["o"]) for row in found]


def repair_plan(faults: Iterable[Fault]) -> Plan:
    """What makes the union and the inferences agree with the named graphs again."""
    plan = Plan()
    for fault in faults:
        if fault.kind == "missing-from-union":
            plan.add(DEFAULT, [fault.triple])
        elif fault.kind == "stray-in-union":
            plan.remove(DEFAULT, [fault.triple])
        else:
            plan.remove(v.INFERRED, [fault.triple])
    return plan

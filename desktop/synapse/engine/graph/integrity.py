"""The store's invariants (data-model.md section 3): what differs, and how it is mended.

The default graph equals the distinct union of the named graphs but `inferred`; `inferred` has no
fact that is stated. That `inferred` equals a closure from scratch is for the reasoner to check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from pyoxigraph import DefaultGraph, Triple

from synapse.engine.graph.updates import DEFAULT, Plan
from synapse.engine.terms import vocabulary as v

if TYPE_CHECKING:
    from pyoxigraph import Store

FaultKind = OneOf["missing-from-union", "stray-in-union", "inferred-but-stated"]


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
    """All faults, sorted. Reads the whole store and keeps one triple per fact in memory."""
    union: set[Triple] = set()
    stated: set[Triple] = set()
    inferred: set[Triple] = set()
    default = DefaultGraph()
    for quad in store:
        graph = quad.graph_name
        target = union if graph == default else inferred if graph == v.INFERRED else stated
        target.add(quad.triple)
    faults = [Fault("missing-from-union", triple) for triple in stated - union]
    faults += [Fault("stray-in-union", triple) for triple in union - stated]
    faults += [Fault("inferred-but-stated", triple) for triple in inferred & stated]
    return sorted(faults, key=lambda fault: (fault.kind, str(fault.triple)))


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

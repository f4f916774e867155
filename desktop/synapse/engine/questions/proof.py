"""Why a fact holds: its proof, its sources, and the activities that made them."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.errors import NotHolding
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Activity, Proof, Provenance
from synapse.engine.reasoning import Reasoner, Step, Term
from synapse.engine.record.provenance import REASON
from synapse.engine.terms import vocabulary as v


def explain(reader: GraphReader, reasoner: Reasoner, triple: Triple) -> Proof:
    """The proof of a fact, down to stated facts with their sources.

    A premise that several steps use is one object. Raises NotHolding for a fact that is no more.
    """

    def label(term: Term) -> str:
        described = reader.describe(term)
        return f"“{described.label}”" if isinstance(term, Literal) else described.label

    def make(step: Step, premises: Sequence[Proof]) -> Proof:
        fact = reader.fact(step.fact, with_sources=step.rule is None)
        if step.rule is None:
            return Proof(fact, step.sentence)
        return Proof(fact, step.sentence, step.rule.id, step.rule.reference, tuple(premises))

    found = reasoner.proof(triple, label)
    if found is not None:
        return found.fold(make)
    if reader.store.contains(triple, "stated"):  # an agent's axiom, which is no premise
        fact = reader.fact(triple)
        return Proof(fact, fact.sentence)
    raise NotHolding("The fact holds no longer.", "Ask again for what holds now.")


def provenance(reader: GraphReader, reasoner: Reasoner, triple: Triple) -> Provenance:
    """Who and what states a fact, since when, and the proof of an inferred one."""
    graphs = reader.store.sources(triple)
    activities = tuple(found for graph in graphs for found in _activities(reader, graph))
    proof = None if graphs else explain(reader, reasoner, triple)
    return Provenance(reader.fact(triple), activities, proof)


def _activities(reader: GraphReader, graph: NamedNode) -> list[Activity]:
    found = []
    for generated in reader.store.match(graph, v.PROV_WAS_GENERATED_BY, None, view=v.META):
        activity = generated.object
        if not isinstance(activity, NamedNode):
            continue
        values = {
            triple.predicate: triple.object
            for triple in reader.store.match(activity, None, None, view=v.META)
        }
        agent = values.get(v.PROV_WAS_ASSOCIATED_WITH)
        found.append(
            Activity(
                graph.value,
                _text(values.get(v.PROV_STARTED_AT_TIME)),
                _text(values.get(v.PROV_ENDED_AT_TIME)),
                reader.entity(agent).label if isinstance(agent, NamedNode) else None,
                _text(values.get(REASON)),
            )
        )
    return sorted(found, key=lambda activity: (activity.started or "", activity.graph))


def _text(term: object) -> str | None:
    return term.value if isinstance(term, Literal) else None

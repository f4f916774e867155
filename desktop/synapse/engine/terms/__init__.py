"""Ids and IRIs, graph names, words and literals. Every other part of the engine names things through here."""

from synapse.engine.errors import InvalidId
from synapse.engine.terms import vocabulary
from synapse.engine.terms.graphs import assertion_graph, is_skolem, memory_graph, ontology_graph, skolem
from synapse.engine.terms.identity import DEFAULT_BASE, Identities, entity_id, is_absolute_iri
from synapse.engine.terms.literals import canonical
from synapse.engine.terms.words import Words, fold_word, tag_iri

__all__ = [
    "DEFAULT_BASE",
    "Identities",
    "InvalidId",
    "Words",
    "assertion_graph",
    "canonical",
    "entity_id",
    "fold_word",
    "is_absolute_iri",
    "is_skolem",
    "memory_graph",
    "ontology_graph",
    "skolem",
    "tag_iri",
    "vocabulary",
]

"""What the engine answers; see results.py for the shapes."""

from synapse.engine.questions.digest import digest
from synapse.engine.questions.dossier import dossier
from synapse.engine.questions.given import find_fact
from synapse.engine.questions.impact import impact
from synapse.engine.questions.neighbourhood import neighbourhood
from synapse.engine.questions.proof import explain, provenance
from synapse.engine.questions.search import search

__all__ = [
    "digest",
    "dossier",
    "explain",
    "find_fact",
    "impact",
    "neighbourhood",
    "provenance",
    "search",
]

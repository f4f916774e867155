"""What follows from the facts: rules as a table, their closure, and a proof for every inference."""

from synapse.engine.reasoning.closure import Budget, Incomplete, Reasoner
from synapse.engine.reasoning.facts import Term
from synapse.engine.reasoning.proofs import Derivation, Proof, Step, build_proof, recheck, say
from synapse.engine.reasoning.rules import OFFERED, RULES, Profile, Rule, as_sparql, rules_of

__all__ = [
    "OFFERED",
    "RULES",
    "Budget",
    "Derivation",
    "Incomplete",
    "Profile",
    "Proof",
    "Reasoner",
    "Rule",
    "Step",
    "Term",
    "as_sparql",
    "build_proof",
    "recheck",
    "rules_of",
    "say",
]

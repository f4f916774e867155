"""Facts as rows: one model, delegate and view for relations, impact, proofs and a node's facts."""

from synapse.window.facts.rows import (
    Mark,
    Place,
    Row,
    fact_rows,
    filtered,
    impact_rows,
    property_rows,
    relation_rows,
)
from synapse.window.facts.view import FactsView

__all__ = [
    "FactsView",
    "Mark",
    "Place",
    "Row",
    "fact_rows",
    "filtered",
    "impact_rows",
    "property_rows",
    "relation_rows",
]

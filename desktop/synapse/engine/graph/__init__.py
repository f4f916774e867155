"""Named graphs of facts on disk: transactions, SPARQL, import and export."""

from synapse.engine.graph.integrity import Fault
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult, Term
from synapse.engine.graph.store import GraphStore, View

__all__ = [
    "AskResult",
    "Fault",
    "GraphResult",
    "GraphStore",
    "QueryResult",
    "SelectResult",
    "Term",
    "View",
]

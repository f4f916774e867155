"""Named graphs of facts on disk: transactions, SPARQL, import and export.

The store is imported when it is first used: reading an owner's answer takes none.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult, Term

if TYPE_CHECKING:
    from synapse.engine.graph.integrity import Fault
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

_MODULES = {"Fault": "integrity", "GraphStore": "store", "View": "store"}

if not TYPE_CHECKING:  # a type checker reads the imports above and finds misspelt names

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

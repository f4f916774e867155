"""Whether a query parses, without touching a vault's store: for editors, as one types."""

from __future__ import annotations

from collections.abc import Mapping

from pyoxigraph import DefaultGraph, Store

from synapse.engine.graph.queries import Request, answer


def check_syntax(text: str, base: str, prefixes: Mapping[str, str]) -> None:
    """Raises InvalidQuery or RefusedQuery, with the place, just as running the query would.

    base: what relative IRIs are resolved against; prefixes: known without being declared. The query
    is asked of an empty store, which takes no longer than parsing it.
    """
    answer(Store(), Request(text, (DefaultGraph(),), base, prefixes, limit=0))

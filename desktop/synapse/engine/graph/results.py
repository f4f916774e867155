"""What a SPARQL query answers, read completely: no iterator of the store leaves the store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

Term: TypeAlias = NamedNode | BlankNode | Literal | Triple


@dataclass(frozen=True, slots=True)
class SelectResult:
    """Solutions of a SELECT, in the order the query gives.

    rows: one tuple per solution, a term or None (unbound) for each of `variables`.
    truncated: there are more rows than the limit let through.
    """

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class GraphResult:
    """Distinct triples of a CONSTRUCT or DESCRIBE, in the order they were found."""

    triples: tuple[Triple, ...]
    truncated: bool = False


@dataclass(frozen=True, slots=True)
class AskResult:
    """The answer of an ASK."""

    value: bool


QueryResult: TypeAlias = SelectResult | GraphResult | AskResult

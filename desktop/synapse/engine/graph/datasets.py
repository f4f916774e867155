"""The dataset a query names for itself: `FROM` and `FROM NAMED` (SPARQL 1.1, section 13.2).

Oxigraph merges several `FROM` graphs without removing what they share, so that a triple counts
once per graph [tried]; RDF merge is a set. And a default graph given from outside overrides the
query's own. So the clauses are read here and answered over the distinct union.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, NamedNode, Quad, QuerySolutions, Store

from synapse.engine.graph.terminals import tokens

_FORMS = ("SELECT", "CONSTRUCT", "DESCRIBE", "ASK")


@dataclass(frozen=True, slots=True)
class Clauses:
    """Graph names as written, and the text of the prologue that says what they mean."""

    prologue: str
    default: tuple[str, ...]
    named: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.default or self.named)


def clauses_of(text: str) -> Clauses:
    """The dataset clauses of a query; nothing is found in a text that is none."""
    if "from" not in text.lower():
        return Clauses("", (), ())
    default: list[str] = []
    named: list[str] = []
    prologue_end = depth = 0
    expected: list[str] | None = None
    for token in tokens(text):
        shown = text[token.start : token.end]
        word = shown.upper() if token.kind == "word" else ""
        if word.startswith(_FORMS) and not prologue_end:
            prologue_end = max(token.start, 1)
        depth += (shown == "{") - (shown == "}")
        if depth or not prologue_end:
            expected = None
        elif word.endswith("FROM"):
            expected = default
        elif word.endswith("NAMED"):
            expected = named
        elif expected is not None and token.kind in ("iri", "name"):
            expected.append(shown)
            expected = None
    return Clauses(text[:prologue_end] if prologue_end > 1 else "", tuple(default), tuple(named))


def resolve(
    names: tuple[str, ...], prologue: str, base: str, prefixes: Mapping[str, str]
) -> list[NamedNode] | None:
    """The distinct graphs that the names mean; None if one is wrong, as the query itself will say."""
    if not names:
        return []
    rows = " ".join(f"({number} {name})" for number, name in enumerate(names))
    try:
        found = Store().query(
            f"{prologue}\nSELECT ?g {{ VALUES (?n ?g) {{ {rows} }} }} ORDER BY ?n",
            base_iri=base,
            prefixes=dict(prefixes),
        )
    except SyntaxError:
        return None
    assert isinstance(found, QuerySolutions)
    graphs = [row["g"] for row in found]
    return list(dict.fromkeys(graphs))


def overlap(store: Store, graphs: list[NamedNode]) -> bool:
    """Whether two of the graphs share a triple."""
    numbers = []
    for what in ("*", "DISTINCT *"):
        found = store.query(
            f"SELECT (COUNT(*) AS ?n) {{ SELECT {what} {{ ?s ?p ?o }} }}", default_graph=[*graphs]
        )
        assert isinstance(found, QuerySolutions)
        numbers.append([row["n"] for row in found])
    return numbers[0] != numbers[1]


def copy_of(store: Store, default: list[NamedNode], named: list[NamedNode]) -> Store:
    """A store in memory with the distinct union of `default` as default graph, and `named`."""
    copied = Store()
    for graph in default:
        found = list(store.quads_for_pattern(None, None, None, graph))
        copied.bulk_extend([Quad(q.subject, q.predicate, q.object, DefaultGraph()) for q in found])
    for graph in named:
        copied.bulk_extend(list(store.quads_for_pattern(None, None, None, graph)))
    return copied

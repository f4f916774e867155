"""Writing facts as RDF: a whole store, or the graph a query gave.

The work is Oxigraph's. Added are a fixed order, blank nodes in place of the IRIs that stand for
them (data-model.md section 3), and a clear error for what a format cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, serialize

from synapse.engine.errors import UsageError
from synapse.engine.graph.bookkeeping import JOURNAL
from synapse.engine.graph.results import GraphResult
from synapse.engine.terms import is_skolem
from synapse.engine.terms import vocabulary as v

if TYPE_CHECKING:
    from synapse.engine.graph.store import GraphStore

DATASET_FORMATS: Final[Mapping[str, RdfFormat]] = {
    "nquads": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}
"""Name -> format, as the command line and the window offer them."""

_DECLARATIONS: Final = {
    "turtle": re.compile(rb"\A(?:@prefix [^\n]*\n)+"),
    "trig": re.compile(rb"\A(?:@prefix [^\n]*\n)+"),
    "rdfxml": re.compile(rb"(?<=<rdf:RDF)(?: xmlns:[^\"]*\"[^\"]*\")+"),
}
_WITH_GRAPHS: Final = ("nquads", "trig", "jsonld")
_WITHOUT_TRIPLE_TERMS: Final = ("jsonld", "rdfxml")
_XML_NAME_END: Final = re.compile(r"[^\W\d][\w.-]*\Z")
_NO_XML: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def export_dataset(
    store: GraphStore, format: str = "nquads", *, with_meta: bool = False, with_inferred: bool = False
) -> bytes:
    """The facts of a store, in a fixed order, blank nodes restored.

    format: a key of `DATASET_FORMATS`. Formats without named graphs get the distinct union. What
    the store says about itself is left out always.
    """
    _format(format)
    content = store.dataset(with_meta=with_meta, with_inferred=with_inferred)
    graphs = {
        graph: [triple for triple in triples if not _is_bookkeeping(triple)]
        for graph, triples in content.items()
    }
    if format in _WITH_GRAPHS:
        quads = [
            Quad(triple.subject, triple.predicate, triple.object, graph)
            for graph in sorted(graphs, key=str)
            for triple in _written(graphs[graph], format)
        ]
        return _serialize(quads, format)
    union = {triple for triples in graphs.values() for triple in triples}
    return _serialize(_written(union, format), format)


def serialize_graph(result: GraphResult, format: str = "ntriples") -> bytes:
    """The triples of a CONSTRUCT or DESCRIBE, in a fixed order.

    format: a key of `DATASET_FORMATS`. Nodes without a name keep the IRIs by which queries reach
    them.
    """
    return _serialize(_written(result.triples, format, blank_nodes=False), format)


def _format(name: str) -> RdfFormat:
    try:
        return DATASET_FORMATS[name]
    except KeyError:
        known = ", ".join(DATASET_FORMATS)
        raise UsageError(f"There is no format {name!r}.", f"Use one of {known}.") from None


def _serialize(facts: Sequence[Triple] | Sequence[Quad], format: str) -> bytes:
    iris = " ".join(map(str, facts))
    used = {name: iri for name, iri in v.PREFIXES.items() if f"<{iri}" in iris}
    written = serialize(facts, format=_format(format), prefixes=used)
    assert written is not None
    if format == "rdfxml":
        # XML readers turn a carriage return into a line feed unless it is written as a reference.
        written = written.replace(b"\r", b"&#13;")
    return _DECLARATIONS[format].sub(_sorted, written, count=1) if format in _DECLARATIONS else written


def _sorted(found: re.Match[bytes]) -> bytes:
    """Declarations of prefixes, which Oxigraph writes in another order each time."""
    return b"".join(sorted(re.findall(rb"@prefix [^\n]*\n| xmlns:[^\"]*\"[^\"]*\"", found.group())))


def _written(triples: Collection[Triple], format: str, *, blank_nodes: bool = True) -> list[Triple]:
    """The triples, sorted, as the format can hold them. Raises UsageError for what it cannot."""
    found: Iterable[Triple] = map(_with_blank_nodes, triples) if blank_nodes else triples
    if format in _WITHOUT_TRIPLE_TERMS:
        found = {flat for triple in found for flat in _described(triple)}
    ordered = sorted(found, key=str)
    if format == "rdfxml":
        for triple in ordered:
            _check_xml(triple)
    return ordered


def _with_blank_nodes(triple: Triple) -> Triple:
    subject, object_ = triple.subject, triple.object
    return Triple(
        _blank(subject) if isinstance(subject, NamedNode) and is_skolem(subject.value) else subject,
        triple.predicate,
        _blank(object_)
        if isinstance(object_, NamedNode) and is_skolem(object_.value)
        else _with_blank_nodes(object_)
        if isinstance(object_, Triple)
        else object_,
    )


def _blank(node: NamedNode) -> BlankNode:
    """The same label for the same node in every export, so that exports can be compared."""
    return BlankNode("n" + sha256(node.value.encode()).hexdigest()[:16])


def _described(triple: Triple) -> Iterator[Triple]:
    """A triple whose object is a triple, with the object described as an `rdf:Statement`."""
    if not isinstance(triple.object, Triple):
        yield triple
        return
    inner = triple.object
    statement = BlankNode("s" + sha256(str(inner).encode()).hexdigest()[:16])
    yield Triple(triple.subject, triple.predicate, statement)
    yield Triple(statement, v.RDF_TYPE, v.RDF_STATEMENT)
    yield Triple(statement, v.RDF_SUBJECT, inner.subject)
    yield Triple(statement, v.RDF_PREDICATE, inner.predicate)
    yield from _described(Triple(statement, v.RDF_OBJECT, inner.object))


def _check_xml(triple: Triple) -> None:
    """RDF/XML writes a predicate as an element and a value as its text; neither can hold everything."""
    if not _XML_NAME_END.search(triple.predicate.value):
        raise UsageError(
            f"RDF/XML cannot hold the property {triple.predicate}, which does not end in a name.",
            "Use another format.",
        )
    if isinstance(triple.object, Literal) and (found := _NO_XML.search(triple.object.value)):
        raise UsageError(
            f"RDF/XML cannot hold the character U+{ord(found.group()):04X} in a value of {triple.subject}.",
            "Use another format.",
        )


def _is_bookkeeping(triple: Triple) -> bool:
    subject = triple.subject
    return isinstance(subject, NamedNode) and (subject == v.STORE or subject.value.startswith(JOURNAL))

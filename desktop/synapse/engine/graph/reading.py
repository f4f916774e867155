"""Reading RDF files into ground facts of one graph."""

from __future__ import annotations

import re
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, parse

from synapse.engine.errors import RdfInvalid
from synapse.engine.terms import canonical, skolem

_BY_SUFFIX: Final = {
    "ttl": RdfFormat.TURTLE,
    "nt": RdfFormat.N_TRIPLES,
    "nq": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "rdf": RdfFormat.RDF_XML,
    "owl": RdfFormat.RDF_XML,
    "xml": RdfFormat.RDF_XML,
    "jsonld": RdfFormat.JSON_LD,
    "json": RdfFormat.JSON_LD,
}
_BOM: Final = b"\xef\xbb\xbf"
_DEEPEST: Final = 100
"""Triple terms in each other; Oxigraph's stack overflows at some 10,000, and with it the program."""
_XML_START: Final = re.compile(rb"\s*<(?:[?!]|[A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?\s*/?[\s>])")
_ENTITY: Final = re.compile(rb"<!ENTITY\s+([^\s\"'%]+)\s+(?:\"([^\"]*)\"|'([^']*)')")
_REFERENCE: Final = re.compile(rb"&([^\s;&#]+);")
_LONGEST_ENTITY: Final = 2000
"""Bytes that one entity may stand for: more than any IRI, far less than a bomb."""
_PLACE: Final = re.compile(
    r"^Parser error (?:at line \d+ (?:column \d+|between columns \d+ and \d+)"
    r"|between line \d+ column \d+ and line \d+ column \d+): "
)


def parse_rdf(content: bytes, *, graph: NamedNode, path: str) -> list[Triple]:
    """The facts of a file, in document order and each once, literals in the store's form.

    graph: the graph it becomes, whose IRI relative IRIs are resolved against. All facts are taken
    into it, also those that the file puts into graphs of its own. Blank nodes become skolem IRIs by
    the order in which they appear. path: names the format by its suffix (`.ttl .nt .nq .trig .rdf
    .owl .jsonld`) and appears in errors; `.owl` and `.rdf` files may hold Turtle too.

    Raises RdfInvalid with line and column. A remote JSON-LD context is never fetched.
    """
    content = content.removeprefix(_BOM)
    format = _format_of(content, path)
    _check_size(content, format, path)
    blank_nodes: dict[BlankNode, NamedNode] = {}

    def grounded(triple: Triple) -> Triple:
        return Triple(node(triple.subject), triple.predicate, term(triple.object))

    def node(found: NamedNode | BlankNode | Triple) -> NamedNode:
        if isinstance(found, BlankNode):
            return blank_nodes.setdefault(found, skolem(graph.value, str(len(blank_nodes))))
        assert isinstance(found, NamedNode)
        return found

    def term(found: NamedNode | BlankNode | Literal | Triple) -> NamedNode | Literal | Triple:
        if isinstance(found, Literal):
            return canonical(found)
        return grounded(found) if isinstance(found, Triple) else node(found)

    facts: dict[Triple, None] = {}
    try:
        for quad in parse(content, format, base_iri=graph.value):
            facts[grounded(quad.triple)] = None
    except SyntaxError as error:
        raise _invalid(error, path) from error
    return list(facts)


def _format_of(content: bytes, path: str) -> RdfFormat:
    suffix = path.rpartition(".")[2].lower()
    format = _BY_SUFFIX.get(suffix)
    if format is None:
        known = ", ".join(f".{name}" for name in _BY_SUFFIX)
        raise RdfInvalid(f"A .{suffix} file is not read as RDF.", f"Use one of {known}.", path=path)
    if format == RdfFormat.RDF_XML and not _XML_START.match(content):
        return RdfFormat.TURTLE
    return format


def _check_size(content: bytes, format: RdfFormat, path: str) -> None:
    """Refuses what a parser would blow up by: nested entities, nested triple terms."""
    if format == RdfFormat.RDF_XML:
        _check_entities(content, path)
        return
    depth = 0
    for sign in re.finditer(rb"<<\(|\)>>", content):
        depth = depth + 1 if sign.group() == b"<<(" else max(0, depth - 1)
        if depth > _DEEPEST:
            line = content.count(b"\n", 0, sign.start()) + 1
            raise RdfInvalid(f"Triples nest deeper than {_DEEPEST} levels here.", path=path, line=line)


def _check_entities(content: bytes, path: str) -> None:
    declared = {name: first or second for name, first, second in _ENTITY.findall(content)}
    lengths: dict[bytes, int] = {}

    def length(name: bytes, above: tuple[bytes, ...] = ()) -> int:
        if name not in lengths:
            if name in above:
                raise RdfInvalid(f"The entity {name.decode(errors='replace')} stands for itself.", path=path)
            value = declared.get(name, b"")
            inner = sum(length(reference, (*above, name)) for reference in _REFERENCE.findall(value))
            lengths[name] = len(value) + inner
            if lengths[name] > _LONGEST_ENTITY:
                raise RdfInvalid(
                    f"The entity {name.decode(errors='replace')} stands for too much text.",
                    "Write the text out.",
                    path=path,
                )
        return lengths[name]

    for name in declared:
        length(name)


def _invalid(error: SyntaxError, path: str) -> RdfInvalid:
    message = _PLACE.sub("", error.msg or str(error)).rstrip(".")
    hint = ""
    if "LoadDocumentCallback" in message:
        message = "The JSON-LD context is a remote document, and nothing is fetched from the network"
        hint = "Write the context into the file."
    elif message.startswith("Invalid UTF-8"):
        message, hint = "The file is not UTF-8", "Save it as UTF-8."
    return RdfInvalid(f"{message}.", hint, path=path, line=error.lineno, column=error.offset)

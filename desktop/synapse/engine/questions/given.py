"""Facts as people and agents write them, found in the graph."""

from __future__ import annotations

from contextlib import suppress

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.errors import InvalidId, NotHolding, UnknownEntity
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Entity, Value
from synapse.engine.terms import tag_iri
from synapse.engine.terms import vocabulary as v

GivenTerm = str | Entity | Value


def find_fact(reader: GraphReader, subject: GivenTerm, predicate: GivenTerm, object: GivenTerm) -> Triple:
    """The triple that holds, stated or inferred, and is meant by the three parts.

    subject: an id or IRI. predicate: a word, `prefix:name`, IRI, or `a`. object: an id, an IRI, a
    class or tag where the predicate asks for one, or the text of a literal.
    Raises UnknownEntity for an unknown subject, NotHolding where nothing fits.
    """
    node = _node(reader, subject)
    wanted = find_predicate(reader, predicate)
    fitting = [
        triple for triple in reader.store.match(node, wanted, None) if _fits(reader, triple, wanted, object)
    ]
    if not fitting:
        given = object if isinstance(object, str) else object.label
        raise NotHolding(
            f"{reader.entity(node).label} {reader.entity(wanted).label} {given}:"
            " this neither is stated nor follows.",
            "See the entity's dossier for what holds.",
        )
    return min(fitting, key=lambda triple: (isinstance(triple.object, Literal), str(triple)))


def find_predicate(reader: GraphReader, predicate: GivenTerm) -> NamedNode:
    """The property that a word, `prefix:name` or IRI names; `a` and `type` are `rdf:type`."""
    if isinstance(predicate, Entity):
        return NamedNode(predicate.iri)
    word = predicate.label if isinstance(predicate, Value) else predicate.strip()
    if word in ("a", "type"):
        return v.RDF_TYPE
    if word.startswith("<") and word.endswith(">"):
        word = word[1:-1]
    return reader.words.property(word)


def _node(reader: GraphReader, given: GivenTerm) -> NamedNode:
    if isinstance(given, Entity):
        return NamedNode(given.iri)
    return reader.resolve(given.label if isinstance(given, Value) else given).iri


def _fits(reader: GraphReader, triple: Triple, predicate: NamedNode, given: GivenTerm) -> bool:
    term = triple.object
    if isinstance(given, Entity):
        return isinstance(term, NamedNode) and term.value == given.iri
    if isinstance(given, Value):
        return isinstance(term, Literal) and (term.value, term.datatype.value, term.language) == (
            given.text, given.datatype, given.language,
        )  # fmt: skip
    if isinstance(term, Literal):
        return term.value == given
    return term in _meant(reader, predicate, given)


def _meant(reader: GraphReader, predicate: NamedNode, text: str) -> set[NamedNode]:
    """The nodes that a text could mean as the object of a predicate."""
    found: set[NamedNode] = set()
    with suppress(InvalidId, UnknownEntity):  # then it is a class, a tag or a literal
        found.add(reader.resolve(text).iri)
    if predicate == v.RDF_TYPE:
        found.add(reader.words.type(text))
    if predicate == v.SCHEMA_KEYWORDS:
        found.add(tag_iri(text.lstrip("#")))
    found.add(reader.words.property(text))
    return found

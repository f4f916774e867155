"""All that is known of one entity, in a fixed order, page by page."""

from __future__ import annotations

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.questions.paging import Key, page
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Dossier, Fact
from synapse.engine.terms import vocabulary as v

_TYPES, _ATTRIBUTES, _OUTGOING, _INCOMING = range(4)
_ATTRIBUTE_PREDICATES = frozenset({v.SCHEMA_KEYWORDS})


def dossier(reader: GraphReader, asked: str, limit: int = 500, cursor: str | None = None) -> Dossier:
    """The facts that have the entity as subject or object.

    Raises UnknownEntity, InvalidId, UsageError for a bad limit or cursor.
    """
    resolved = reader.resolve(asked)
    entries = [(_section(triple), triple) for triple in reader.about(resolved.iri)] + [
        (_INCOMING, triple) for triple in reader.naming(resolved.iri) if triple.subject != resolved.iri
    ]
    keyed = sorted(((_key(reader, section, triple), triple) for section, triple in entries), key=_first)
    shown, more = page(keyed, _first, limit, cursor)
    sections: list[list[Fact]] = [[], [], [], []]
    for key, triple in shown:
        sections[int(key[0])].append(reader.fact(triple))
    types, attributes, outgoing, incoming = map(tuple, sections)
    return Dossier(
        reader.entity(resolved.iri), types, attributes, outgoing, incoming, len(keyed), more, resolved.note
    )


def _first(entry: tuple[Key, Triple]) -> Key:
    return entry[0]


def _section(triple: Triple) -> int:
    if triple.predicate == v.RDF_TYPE:
        return _TYPES
    if isinstance(triple.object, Literal) or triple.predicate in _ATTRIBUTE_PREDICATES:
        return _ATTRIBUTES
    return _OUTGOING


def _key(reader: GraphReader, section: int, triple: Triple) -> Key:
    other = triple.subject if section == _INCOMING else triple.object
    assert isinstance(other, (NamedNode, Literal, Triple))
    return (
        section,
        reader.entity(triple.predicate).label.casefold(),
        reader.describe(other).label.casefold(),
        str(triple),
    )

"""Full text over notes, and names of all else; answers with ids into the graph, never with facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from pyoxigraph import NamedNode

from synapse.engine.catalogue import Catalogue
from synapse.engine.catalogue.fulltext import matcher
from synapse.engine.errors import UsageError
from synapse.engine.graph.results import SelectResult
from synapse.engine.questions.paging import decode_cursor, encode_cursor
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Entity, EntityKind, Hit, SearchResult
from synapse.engine.terms import entity_id, tag_iri
from synapse.engine.terms import vocabulary as v

KINDS: Final[tuple[EntityKind, ...]] = ("note", "unwritten", "attachment", "tag", "other")
"""What can be found: notes by their words, the others by label and vault id."""

_NAMED: Final = f"""SELECT DISTINCT ?e {{
    {{ SELECT DISTINCT ?e {{ GRAPH ?g {{ ?e ?p ?o }} FILTER(?g != {v.META}) }} }}
    UNION {{ SELECT DISTINCT ?e {{ GRAPH ?g {{ ?s ?p ?e }} FILTER(?g != {v.META} && isIRI(?e)) }} }}
}}"""


def search(
    reader: GraphReader,
    catalogue: Catalogue,
    text: str,
    limit: int = 50,
    cursor: str | None = None,
    kinds: Sequence[str] = (),
    type: str | None = None,
    tag: str | None = None,
) -> SearchResult:
    """What holds all words of `text`, the best first; `"..."` is a phrase, a word may be the beginning
    of a longer one.

    kinds: of KINDS, none for notes; what is no note comes after the notes, by its label. type: only of
    this class, stated or inferred; a word, `prefix:name` or IRI. tag: only what has it itself.
    Raises UsageError for a bad limit, cursor, kind, or an empty type or tag.
    """
    start = _start(text, limit, cursor)
    wanted_kinds = _kinds(kinds)
    among = _having(reader, type, tag)
    hits: list[Hit] = []
    total = 0
    if "note" in wanted_kinds:
        paths = None if among is None else _notes(reader, among)
        found, total = catalogue.search(text, limit, start, paths)
        hits += [
            Hit(
                reader.entity(reader.index.iri(entity_id(hit.key), reader.identities)),
                hit.snippet,
                round(-hit.rank, 4),
            )
            for hit in found
        ]
    if wanted_kinds - {"note"}:
        named = _named(reader, text, wanted_kinds, among)
        first = max(0, start - total)
        hits += [Hit(entity, entity.label, 0.0) for entity in named[first : first + limit - len(hits)]]
        total += len(named)
    more = start + limit < total
    return SearchResult(text, tuple(hits), total, encode_cursor((start + limit,)) if more else None)


def _start(text: str, limit: int, cursor: str | None) -> int:
    if not text.strip():
        raise UsageError("There is nothing to search for.", "Give a word, or the beginning of one.")
    if limit < 1:
        raise UsageError(f"The limit is {limit}.", "Ask for at least 1.")
    if cursor is None:
        return 0
    (position,) = decode_cursor(cursor)[:1] or (0,)
    if not isinstance(position, int) or position < 0:
        raise UsageError("The cursor is not valid.", "Pass the cursor of the previous answer, or none.")
    return position


def _kinds(kinds: Sequence[str]) -> frozenset[str]:
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"There is no kind {kind!r} to search for.", f"Kinds: {', '.join(KINDS)}.")
    return frozenset(kinds or ("note",))


def _having(reader: GraphReader, type: str | None, tag: str | None) -> frozenset[str] | None:
    """IRIs of what is of the type and has the tag; None where neither is asked for."""
    found: frozenset[str] | None = None
    for name, given in (("type", type), ("tag", tag)):
        if given is None:
            continue
        word = given.strip().removeprefix("#") if name == "tag" else given.strip().strip("<>")
        if not word:
            raise UsageError(f"The {name} is empty.", f"Name a {name}, or leave it out.")
        if name == "type":
            triples = reader.store.match(None, v.RDF_TYPE, reader.words.type(word))
        else:
            triples = reader.store.match(None, v.SCHEMA_KEYWORDS, tag_iri(word))
        having = frozenset(t.subject.value for t in triples if isinstance(t.subject, NamedNode))
        found = having if found is None else found & having
    return found


def _notes(reader: GraphReader, iris: Collection[str]) -> set[str]:
    """Paths of the notes with these IRIs; several notes may give one `uri:`."""
    index = reader.index
    found = {index.paths[iri] for iri in iris if iri in index.paths}
    return found | {index.ids[one] for one, iri in index.iris.items() if iri in iris}


def _named(
    reader: GraphReader, text: str, kinds: Collection[str], among: Collection[str] | None
) -> list[Entity]:
    """What the graph names that is no note and has the words of `text` in its label or vault id; ordered
    by label. Bookkeeping is not looked at."""
    matches = matcher(text)
    if matches is None:
        return []
    iris = among
    if iris is None:
        iris = _iris(reader)
        if "attachment" in kinds:  # also where no fact names it
            iris.update(reader.identities.document(path).value for path in reader.index.attachments)
    found = []
    for iri in iris:
        if iri in reader.index.paths:
            continue
        entity = reader.entity(NamedNode(iri))
        has_id = entity.id != entity.iri
        if entity.kind in kinds and (matches(entity.label) or (has_id and matches(entity.id))):
            found.append(entity)
    return sorted(found, key=lambda entity: (entity.label.casefold(), entity.id))


def _iris(reader: GraphReader) -> set[str]:
    """All that facts name, read by the store itself: as Python objects it would take seconds."""
    answer = reader.store.query(_NAMED)
    assert isinstance(answer, SelectResult)
    return {row[0].value for row in answer.rows if isinstance(row[0], NamedNode)}

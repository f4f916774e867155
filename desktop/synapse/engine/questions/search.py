"""Full text over notes; answers with ids into the graph, never with facts."""

from __future__ import annotations

from synapse.engine.catalogue import Catalogue
from synapse.engine.errors import UsageError
from synapse.engine.questions.paging import decode_cursor, encode_cursor
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Hit, SearchResult
from synapse.engine.terms import entity_id


def search(
    reader: GraphReader, catalogue: Catalogue, text: str, limit: int = 50, cursor: str | None = None
) -> SearchResult:
    """Notes that hold all words of `text`, the best first; `"..."` is a phrase, a word may be the
    beginning of a longer one. Raises UsageError for a bad limit or cursor.
    """
    if not text.strip():
        raise UsageError("There is nothing to search for.", "Give a word, or the beginning of one.")
    if limit < 1:
        raise UsageError(f"The limit is {limit}.", "Ask for at least 1.")
    start = 0
    if cursor is not None:
        (position,) = decode_cursor(cursor)[:1] or (0,)
        if not isinstance(position, int) or position < 0:
            raise UsageError("The cursor is not valid.", "Pass the cursor of the previous answer, or none.")
        start = position
    found, total = catalogue.search(text, limit, start)
    hits = tuple(
        Hit(
            reader.entity(reader.index.iri(entity_id(hit.key), reader.identities)),
            hit.snippet,
            round(-hit.rank, 4),
        )
        for hit in found
    )
    more = start + limit < total
    return SearchResult(text, hits, total, encode_cursor((start + limit,)) if more else None)

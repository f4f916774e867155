"""The state of a vault on one page of Markdown, for a person or an agent that begins its work.

No timestamps and a fixed order: the text changes only when what it says changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import NamedNode, Triple

from synapse.engine.catalogue import Catalogue
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import Entity, Status, Value
from synapse.engine.record import Entry
from synapse.engine.terms import vocabulary as v

_MOST = 10
_LONGEST = 120
"""Characters of a label or a literal."""


def digest(
    reader: GraphReader, catalogue: Catalogue, name: str, status: Status, recent: Sequence[Entry]
) -> str:
    """Counts, types, hubs, what was learned and withdrawn, unwritten notes, diagnostics.

    recent: the last revisions, the newest first.
    """
    parts = [
        f"# {_plain(name)}\n",
        f"{_count(status.notes, 'note')}, {_count(status.facts, 'fact')},"
        f" {_count(status.inferred, 'inferred fact')}.\n",
        *_section("Types", _types(reader)),
        *_section("Most related", _hubs(reader)),
        *_section("Learned", _facts(reader, _moved(reader, recent, added=True))),
        *_section("Withdrawn", _facts(reader, _moved(reader, recent, added=False))),
        *_section("Linked and not yet written", _unwritten(catalogue)),
        *_section("To mend", _diagnostics(catalogue)),
        *_section("Incomplete", [f"- {_plain(text)}" for text in status.incomplete]),
    ]
    return "\n".join(parts)


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"## {title}\n", *lines, ""] if lines else []


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _plain(text: str) -> str:
    """Text of others on one line, unable to form a heading, a list or a link."""
    flat = " ".join(text.split())
    return "".join("\\" + character if character in "\\`*_[]<>#|&" else character for character in flat)


def _types(reader: GraphReader) -> list[str]:
    counts = Counter(
        triple.object
        for triple in reader.store.match(None, v.RDF_TYPE, None)
        if isinstance(triple.subject, NamedNode) and _is_known(reader, triple.subject)
    )
    rows = [
        (number, reader.entity(cls).label) for cls, number in counts.items() if isinstance(cls, NamedNode)
    ]
    return [f"- {_plain(label)}: {number:,}" for number, label in _largest(rows)]


def _hubs(reader: GraphReader) -> list[str]:
    degrees: Counter[NamedNode] = Counter()
    for path_iri in reader.index.paths:
        node = NamedNode(path_iri)
        degrees[node] = sum(
            triple.predicate != v.RDF_TYPE and isinstance(triple.subject, NamedNode)
            for triple in reader.store.match(None, None, node, view="stated")
        )
    rows = [(number, reader.entity(node).id) for node, number in degrees.most_common(4 * _MOST) if number]
    return [f"- {_plain(entity)}: {number:,}" for number, entity in _largest(rows)]


def _moved(reader: GraphReader, recent: Sequence[Entry], *, added: bool) -> Iterator[Triple]:
    """Facts that came and hold, or went and do not; the newest first, each once, no vocabularies."""
    seen: set[Triple] = set()
    for entry in recent:
        for change in entry.changes:
            if not change.graph.value.startswith(v.ONTOLOGY):
                for triple in sorted((change.added if added else change.removed) - seen, key=str):
                    seen.add(triple)
                    if reader.store.contains(triple) == added:
                        yield triple


def _facts(reader: GraphReader, triples: Iterable[Triple]) -> list[str]:
    lines: list[str] = []
    for triple in triples:
        if len(lines) == _MOST:
            break
        assert isinstance(triple.subject, NamedNode)
        about = (reader.entity(triple.subject), reader.entity(triple.predicate))
        told = " ".join(_plain(entity.label[:_LONGEST]) for entity in about)
        lines.append(f"- {told} {_object(reader.describe(triple.object))}")
    return lines


def _object(term: Entity | Value) -> str:
    """What others wrote stands in quotation marks, and no text can end them."""
    if isinstance(term, Entity):
        return _plain(term.label[:_LONGEST])
    text = term.text if len(term.text) <= _LONGEST else term.text[:_LONGEST] + "…"
    return '"' + _plain(text).replace('"', '\\"') + '"'


def _unwritten(catalogue: Catalogue) -> list[str]:
    found = catalogue.unwritten()
    lines = [f"- {_plain(target)}: {_count(number, 'link')}" for target, number in found[:_MOST]]
    return lines + ([f"- and {len(found) - _MOST:,} more"] if len(found) > _MOST else [])


def _diagnostics(catalogue: Catalogue) -> list[str]:
    found = [d for d in catalogue.diagnostics() if d.severity != "info"]
    lines = [
        f"- {_plain(d.path)}{f':{d.line}' if d.line else ''}: {_plain(d.message)}" for d in found[:_MOST]
    ]
    return lines + ([f"- and {len(found) - _MOST:,} more"] if len(found) > _MOST else [])


def _is_known(reader: GraphReader, node: NamedNode) -> bool:
    return node.value in reader.index.paths or reader.identities.id_of(node.value) is not None


def _largest(rows: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    return sorted(rows, key=lambda row: (-row[0], row[1]))[:_MOST]

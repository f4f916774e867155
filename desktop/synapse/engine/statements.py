"""What one file states: its facts with their places, and what the catalogue keeps of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from pyoxigraph import NamedNode, Triple

from synapse.engine.catalogue import DiagnosticRecord, FileEntry, FileRecord, LinkRecord
from synapse.engine.changes import GraphChange
from synapse.engine.errors import SynapseError
from synapse.engine.graph.reading import parse_rdf
from synapse.engine.notes import Diagnostic, LinkResolver, NoteFacts, Span, read_note, state_note
from synapse.engine.notes.backlinks import CLOSING, OPENING, section_problem
from synapse.engine.notes.files import file_kind
from synapse.engine.notes.reading import Note, is_listing
from synapse.engine.terms import Identities, Words


class Names(Protocol):
    """What gives the names in a file their meaning: the workspace's state, or a published FileIndex."""

    @property
    def words(self) -> Words: ...
    @property
    def identities(self) -> Identities: ...
    @property
    def resolver(self) -> LinkResolver: ...
    @property
    def uris(self) -> Mapping[str, str]: ...
    @property
    def is_bundle(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Statement:
    """graph: the file's named graph. places: each fact and where the file says it, None where the
    file's name does. note, said: the readings it comes from, for a note."""

    graph: NamedNode
    places: Sequence[tuple[Triple, Span | None]] = ()
    note: Note | None = None
    said: NoteFacts | None = None
    diagnostics: Sequence[DiagnosticRecord] = ()
    facts: frozenset[Triple] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", frozenset(triple for triple, _ in self.places))

    def change(self, before: Iterable[Triple]) -> GraphChange:
        """What the file's graph loses and gains."""
        old = frozenset(before)
        return GraphChange(self.graph, old - self.facts, self.facts - old)

    def entry(self, record: FileRecord, problems: Sequence[DiagnosticRecord] = ()) -> FileEntry:
        """The file as the catalogue keeps it."""
        if self.note is None or self.said is None:
            return FileEntry(record, diagnostics=(*problems, *self.diagnostics))
        note = self.note
        record = replace(
            record,
            uri=note.uri,
            title=note.title,
            aliases=tuple(alias.text for alias in note.aliases),
            tags=tuple(dict.fromkeys(tag.name for tag in note.tags)),
        )
        links = tuple(
            LinkRecord(
                record.path, link.kind, link.target_text, link.target_id, link.path, link.anchor, link.text,
                link.relation or "", link.span.start, link.span.end, link.span.line, link.span.column,
            )
            for link in sorted(self.said.links, key=lambda link: link.span.start)
        )  # fmt: skip
        return FileEntry(record, note.body, links, self.said.lookups, (*problems, *self.diagnostics))


def state_file(names: Names, path: str, content: bytes) -> Statement:
    """Read a note or an RDF file of the vault; what cannot be read becomes a diagnostic."""
    graph = names.identities.document(path)
    if file_kind(path) == "rdf":
        try:
            triples = parse_rdf(content, graph=graph, path=path)
        except SynapseError as error:
            return Statement(graph, diagnostics=(from_error(error, path),))
        return Statement(graph, [(triple, None) for triple in triples])
    note = read_note(path, content)
    said = state_note(
        note,
        names.resolver,
        names.words,
        names.identities,
        names.uris,
        listing=names.is_bundle and is_listing(path),
    )
    return Statement(
        said.graph,
        [(fact.triple, fact.span) for fact in said.facts],
        note,
        said,
        (*map(diagnostic_record, said.diagnostics), *_section_problems(path, content)),
    )


def _section_problems(path: str, content: bytes) -> list[DiagnosticRecord]:
    """A generated section that somebody damaged: nothing more is written into that note."""
    if OPENING not in content and CLOSING not in content:
        return []
    problem = section_problem(content)
    if problem is None:
        return []
    line = content.count(b"\n", 0, problem.offset) + 1
    return [
        DiagnosticRecord(path, line, 1, "warning", f"section-{problem.code}", problem.message, problem.hint)
    ]


def diagnostic_record(found: Diagnostic) -> DiagnosticRecord:
    """A reader's diagnostic as the catalogue keeps it."""
    return DiagnosticRecord(
        found.path, found.line, found.column, found.severity, found.code, found.message, found.hint
    )


def from_error(error: SynapseError, path: str) -> DiagnosticRecord:
    """An error about a file as a diagnostic."""
    return DiagnosticRecord(path, error.line, error.column, "error", error.kind, error.message, error.hint)

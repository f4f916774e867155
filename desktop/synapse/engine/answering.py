"""What an engine answers: each question of one state of the vault, from any thread."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Literal as OneOf
from typing import TypeVar

from synapse.engine.agent_activity import agent_activity, assertions_of
from synapse.engine.catalogue import FileRecord
from synapse.engine.errors import (
    FileChanged,
    QueryStopped,
    SynapseError,
    VaultUnavailable,
)
from synapse.engine.graph.formats import export_dataset
from synapse.engine.graph.results import QueryResult, Term
from synapse.engine.graph.store import View
from synapse.engine.notes import Resolution, ResolvedLink, read_bytes
from synapse.engine.questions.digest import digest
from synapse.engine.questions.dossier import dossier
from synapse.engine.questions.given import GivenTerm, find_fact
from synapse.engine.questions.impact import impact
from synapse.engine.questions.neighbourhood import Direction, neighbourhood
from synapse.engine.questions.proof import explain, provenance
from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import (
    AgentActivity,
    AssertionSummary,
    Dossier,
    Entity,
    Impact,
    Neighbourhood,
    NoteDiagnostic,
    Proof,
    Provenance,
    SearchResult,
    Status,
    Value,
)
from synapse.engine.questions.search import search
from synapse.engine.sources import Places
from synapse.engine.statements import state_file
from synapse.engine.terms import Identities, Words
from synapse.engine.workspace import Workspace

T = TypeVar("T")

_TRIES = 3
"""How often a question is asked again beside writes."""
_LOOK = 0.02
"""Seconds between two looks at whether a query that waits shall stop."""


class Answers(ABC):
    """The reading half of the engine. The writing half gives it the workspace and the writer."""

    _workspace: Workspace
    _places: Places
    _closing: threading.Event
    vault: Path
    name: str

    @abstractmethod
    def _write(self, function: Callable[[], T]) -> T:
        """Run on the writer's thread."""

    @abstractmethod
    def _settled(self) -> Future[None]:
        """Done when the write under way is, and all that wait now."""

    @property
    def identities(self) -> Identities:
        return self._workspace.published.identities

    @property
    def words(self) -> Words:
        return self._workspace.published.words

    def _reader(self) -> GraphReader:
        workspace, index = self._workspace, self._workspace.published
        return GraphReader(
            workspace.store,
            index.entities,
            index.identities,
            index.words,
            self._places.sources,
            lambda: [target for target, _ in workspace.catalogue.unwritten()],
        )

    def _ask(self, question: Callable[[GraphReader], T], *, of_one_state: bool = True) -> T:
        """Answer from one state of the vault: again where a write came in between, at last on the
        writer's thread, where none can. of_one_state: False where that may differ within the answer."""
        for _ in range(_TRIES):
            workspace = self._workspace
            before = workspace.changing
            if before % 2 and of_one_state:
                break
            try:
                answer = question(self._reader())
            except (SynapseError, sqlite3.Error):
                if before % 2 == 0 and self._is_unmoved(workspace, before):
                    raise
            else:
                if not of_one_state or self._is_unmoved(workspace, before):
                    return answer
        return self._write(lambda: question(self._reader()))

    def _is_unmoved(self, workspace: Workspace, changing: int) -> bool:
        return self._workspace is workspace and workspace.changing == changing

    def query(
        self,
        text: str,
        view: View = "all",
        *,
        limit: int | None = None,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
    ) -> QueryResult:
        """Answer SPARQL from one state of the graph, in a process of its own; see Checkpoints.query.

        It stops within a second of its timeout (seconds), of `cancel` and of `close`.
        """
        stops = (self._closing, cancel)
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            workspace = self._workspace
            try:
                return workspace.checkpoints.query(text, view, limit, timeout, stops)
            except (QueryStopped, VaultUnavailable):
                if _is_any_set(stops) or not workspace.closed:
                    raise
                # It was closed under the query, to be made anew: when the writer is free, that is done.
                remade = self._settled()
                while not remade.done():
                    time.sleep(_LOOK)
                    if _is_any_set(stops) or (deadline is not None and time.monotonic() > deadline):
                        raise
            if deadline is not None:
                timeout = round(max(0.0, deadline - time.monotonic()), 3)

    def entity(self, entity: str) -> Entity:
        """The entity of an id or IRI. Raises UnknownEntity with the nearest ids."""
        return self._ask(lambda reader: reader.entity(reader.resolve(entity).iri))

    def describe(self, terms: Iterable[Term | None]) -> list[Entity | Value | None]:
        """Terms of a query's answer with labels; None stays None."""
        given = list(terms)
        return self._ask(lambda reader: [None if term is None else reader.describe(term) for term in given])

    def dossier(self, entity: str, limit: int = 500, cursor: str | None = None) -> Dossier:
        return self._ask(lambda reader: dossier(reader, entity, limit, cursor))

    def neighbourhood(
        self,
        entity: str,
        depth: int = 1,
        direction: Direction = "both",
        predicates: Sequence[str] = (),
        types: Sequence[str] = (),
        limit: int = 200,
    ) -> Neighbourhood:
        return self._ask(
            lambda reader: neighbourhood(reader, entity, depth, direction, predicates, types, limit)
        )

    def impact(
        self, entity: str, depth: int | None = None, limit: int = 1000, cursor: str | None = None
    ) -> Impact:
        return self._ask(lambda reader: impact(reader, entity, depth, limit, cursor))

    def provenance(self, subject: GivenTerm, predicate: GivenTerm, object: GivenTerm) -> Provenance:
        def work() -> Provenance:  # the reasoner is the writer's
            reader = self._reader()
            triple = find_fact(reader, subject, predicate, object)
            return provenance(reader, self._workspace.reasoner, triple)

        return self._write(work)

    def explain(self, subject: GivenTerm, predicate: GivenTerm, object: GivenTerm) -> Proof:
        def work() -> Proof:
            reader = self._reader()
            triple = find_fact(reader, subject, predicate, object)
            return explain(reader, self._workspace.reasoner, triple)

        return self._write(work)

    def search(
        self,
        text: str,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Sequence[str] = (),
        type: str | None = None,
        tag: str | None = None,
    ) -> SearchResult:
        """Notes by their words; with `kinds` also what else the graph names, by label and id."""
        return self._ask(
            lambda reader: search(reader, self._workspace.catalogue, text, limit, cursor, kinds, type, tag)
        )

    def digest(self) -> str:
        """The state of the vault on one page.

        Beside writes its parts may tell of neighbouring states: it reads the whole vault, and nobody
        should wait that long to write.
        """
        status = self.status()

        def answer(reader: GraphReader) -> str:
            workspace = self._workspace
            return digest(reader, workspace.catalogue, self.name, status, workspace.history.recent(20))

        return self._ask(answer, of_one_state=False)

    def agent_activity(self) -> tuple[AgentActivity, ...]:
        """Everybody who stated or withdrew something here, who did so last first."""
        return self._ask(lambda _: agent_activity(self._workspace.projection))

    def assertions_of(
        self, name: str, since: str | None = None, limit: int = 100
    ) -> tuple[AssertionSummary, ...]:
        """What one agent stated, the last first. since: UTC time as in the journal, from then on."""
        return self._ask(lambda reader: assertions_of(self._workspace.projection, reader, name, since, limit))

    def status(self) -> Status:
        return self._ask(lambda _: self._workspace.status())

    def diagnostics(self, path: str | None = None) -> tuple[NoteDiagnostic, ...]:
        """What could not be read as it was meant, by file and place."""
        return tuple(
            NoteDiagnostic(d.path, d.line, d.column, d.severity, d.code, d.message, d.hint)
            for d in self._workspace.catalogue.diagnostics(path)
        )

    def notes(self) -> tuple[FileRecord, ...]:
        """All notes, by path."""
        return tuple(self._workspace.catalogue.files("note"))

    def read_file(self, path: str) -> bytes:
        """A file's bytes. Raises FileUnreadable, InvalidId for a path that leaves the vault."""
        return read_bytes(self._inside(path))

    def resolve_link(self, target: str, from_path: str, syntax: OneOf["wikilink", "markdown"]) -> Resolution:
        """Where a link in a note leads."""
        return self._workspace.published.resolver.resolve(target, from_path, syntax)

    def links_in(self, path: str, content: bytes) -> tuple[ResolvedLink, ...]:
        """The links of a note's text, which may not be saved yet, and what they mean."""
        said = state_file(self._workspace.published, path, content).said
        return said.links if said is not None else ()

    def export(
        self, format: str = "nquads", *, with_meta: bool = False, with_inferred: bool = False
    ) -> bytes:
        """The stated facts as RDF, blank nodes restored."""
        return export_dataset(self._workspace.store, format, with_meta=with_meta, with_inferred=with_inferred)

    def _inside(self, path: str) -> Path:
        target = Path(os.path.realpath(self.vault / path))
        if not target.is_relative_to(self.vault):
            raise FileChanged("The path leaves the vault.", "Give a path inside it.", path=path)
        return self.vault / path


def _is_any_set(events: Iterable[threading.Event | None]) -> bool:
    return any(event is not None and event.is_set() for event in events)

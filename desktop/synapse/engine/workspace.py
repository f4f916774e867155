"""What one open vault consists of, and the one way in which it changes.

A workspace belongs to the engine's writer. Other threads may read the store, the catalogue, the
history, `published` and what `status` says; `changing` tells them that what they read is not of one
state.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from pyoxigraph import NamedNode, Triple

from synapse.engine.catalogue import Catalogue, FileRecord, Update
from synapse.engine.changes import ChangeSet, Delta, GraphChange, merged
from synapse.engine.errors import FileUnreadable, SettingsInvalid, SynapseError
from synapse.engine.file_index import FileIndex, file_index
from synapse.engine.graph.checkpoints import Checkpoints
from synapse.engine.graph.store import GraphStore
from synapse.engine.notes import READER_VERSION, LinkResolver, read_bytes, read_note
from synapse.engine.questions.reader import EntityIndex
from synapse.engine.questions.results import Status
from synapse.engine.reasoning import Reasoner
from synapse.engine.record import History, Journal, Projection, is_schema_axiom, project, provenance, utc_now
from synapse.engine.scenarios import Scenario, load_scenario
from synapse.engine.settings import Settings, load_settings
from synapse.engine.terms import Identities, Words
from synapse.engine.terms import vocabulary as v

_BUNDLE_ROOT = "index.md"
_REASONING = provenance.activity_iri("reasoning")


class Workspace:
    """An open vault: its folder, its settings, and everything derived from it.

    vault: the folder of notes. data: this machine's folder for graph, catalogue and history.
    """

    def __init__(self, vault: Path, data: Path, device: str) -> None:
        self.vault = vault
        self.data = data
        self.problems: list[SynapseError] = []
        self.settings, found = load_settings(vault)
        self.problems += found
        self.store = GraphStore.open(data / "graph", self.settings.base)
        try:
            self.catalogue = Catalogue(data / "catalogue.sqlite")
            self.history = History(data / "history.sqlite")
        except BaseException:
            self.store.close()
            raise
        self.checkpoints = Checkpoints(self.store, data / "checkpoints")
        self.journal = Journal(vault / ".synapse" / "journal", device)
        self._reasoner: Reasoner | None = None
        self._counts: tuple[str, int, int] | None = None
        self._changes = 0
        self.closed = False
        self._catch_up_history()
        self._load_words()
        self.load_files(self.catalogue.files())
        self.published: FileIndex = self._index()
        """The files as the graph knows them; during an index run `files` is ahead of it."""
        self.read_journal()

    def close(self) -> None:
        self.closed = True
        self._changes += 1 - self._changes % 2
        self.checkpoints.close()
        self.store.close()
        self.catalogue.close()
        self.history.close()

    @property
    def changing(self) -> int:
        """Moves with every change; odd while one is carried out, and for good once it is closed."""
        return self._changes

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Around all that readers must see at once; at its end the files as they are are published."""
        self._changes += 1
        try:
            yield
            self.published = self._index()
        finally:
            self._changes += 1

    @property
    def is_in_step(self) -> bool:
        """Whether graph and catalogue are of one making; else both are made anew."""
        if self.store.unfinished:
            return False
        epoch = self.catalogue.state("epoch")
        return epoch == self.store.revision.epoch or (epoch is None and self.store.revision.number == 0)

    # -- words and settings --------------------------------------------------------------------

    def _load_words(self) -> None:
        self.scenarios: list[Scenario] = []
        for name in self.settings.scenarios:
            try:
                self.scenarios.append(load_scenario(name))
            except SynapseError as error:
                self.problems.append(SettingsInvalid(error.message, error.hint, path=error.path))
        prefixes = {
            prefix: namespace
            for scenario in reversed(self.scenarios)
            for prefix, namespace in scenario.prefixes.items()
        }
        contexts = [dict(self.settings.context), *(dict(scenario.context) for scenario in self.scenarios)]
        self.words = Words(contexts, prefixes)
        self._meaning = sha256(
            json.dumps([READER_VERSION, self.settings.base, contexts, prefixes]).encode("utf-8")
        ).hexdigest()

    def apply_settings(self, settings: Settings) -> None:
        """Take new settings over; the caller indexes afterwards."""
        self.settings = settings
        self.problems.clear()
        self._load_words()
        self.load_files(self.files.values())
        self.read_journal()

    @property
    def reading_stamp(self) -> str:
        """Changes when notes must be stated again although no file did."""
        return f"{self._meaning}-{'bundle' if self.is_bundle else 'vault'}"

    # -- files in memory -----------------------------------------------------------------------

    def load_files(self, records: Iterable[FileRecord]) -> None:
        """Take over what the catalogue knows of files."""
        self.files: dict[str, FileRecord] = {record.path: record for record in records}
        self.refresh_index()

    def refresh_index(self) -> None:
        """Make the look-up tables of paths, ids and IRIs anew from `files`."""
        self._tables = file_index(
            self.files.values(), self.words, self.settings.base, is_bundle=self._declares_bundle()
        )

    def _index(self) -> FileIndex:
        """The index to publish: the tables, and the records as they are now."""
        return replace(self._tables, files=MappingProxyType(dict(self.files)))

    @property
    def identities(self) -> Identities:
        return self._tables.identities

    @property
    def entities(self) -> EntityIndex:
        return self._tables.entities

    @property
    def resolver(self) -> LinkResolver:
        return self._tables.resolver

    @property
    def uris(self) -> Mapping[str, str]:
        return self._tables.uris

    @property
    def is_bundle(self) -> bool:
        return self._tables.is_bundle

    def _declares_bundle(self) -> bool:
        """Whether the root's index.md makes the vault an OKF bundle (data-model.md section 4)."""
        if _BUNDLE_ROOT not in self.files:
            return False
        try:
            note = read_note(_BUNDLE_ROOT, read_bytes(self.vault / _BUNDLE_ROOT))
        except FileUnreadable:
            return False
        return note.okf_version is not None

    # -- journal -------------------------------------------------------------------------------

    def read_journal(self) -> None:
        """Read every journal file and work out what the events say."""
        reading = self.journal.read()
        self.journal_positions = dict(reading.positions)
        self.journal_warnings = reading.warnings
        self.projection: Projection = project(reading.events, self.iri_of_id, self.words, self.identities)

    def iri_of_id(self, entity_id: str) -> NamedNode:
        """The IRI of an entity, with regard to the `uri:` of its note."""
        return self.entities.iri(entity_id, self.identities)

    # -- reasoning -----------------------------------------------------------------------------

    @property
    def reasoner(self) -> Reasoner:
        """The reasoner, made from the store when first asked for."""
        if self._reasoner is None:
            reasoner = self.new_reasoner()
            reasoner.rebuild(self.premises())
            self._reasoner = reasoner
        return self._reasoner

    def new_reasoner(self) -> Reasoner:
        return Reasoner(self.settings.profile, self.settings.domain_and_range)

    def premises(self) -> set[Triple]:
        """The stated facts that count for reasoning."""
        found: set[Triple] = set()
        for graph in self.store.graphs():
            if graph != v.META:
                found.update(triple for triple in self.store.triples(graph) if counts(graph, triple))
        return found

    def reason_again(self) -> ChangeSet:
        """Deduce everything anew, by rules that changed."""
        self._reasoner = None
        wanted = frozenset(
            triple for triple in self.reasoner.inferred() if not self.store.contains(triple, "stated")
        )
        present = frozenset(self.store.triples(v.INFERRED))
        return self.set_inferred(Delta(wanted - present, present - wanted))

    def set_inferred(self, inferred: Delta) -> ChangeSet:
        """Change the inferred graph alone, where it is not what follows."""
        self._reasoner = None
        return self._commit((), inferred, None, None, (), ())

    def forget(self, paths: Iterable[str]) -> None:
        """Have these files read anew by the next index, whatever the catalogue says of them."""
        records = [replace(self.files[path], hash="", mtime_ns=-1) for path in paths if path in self.files]
        self.files.update((record.path, record) for record in records)

    # -- the one way to change -----------------------------------------------------------------

    def commit(
        self,
        changes: Sequence[GraphChange],
        *,
        update: Update | None = None,
        journal: Mapping[str, int] | None = None,
        files: Sequence[str] = (),
        removed_files: Sequence[str] = (),
    ) -> ChangeSet:
        """One transaction for graphs, default graph and inferences; then history and catalogue.

        Raises WriteFailed with nothing changed.
        """
        changes = merged(changes)
        try:
            inferred = self._inferences(changes)
            return self._commit(changes, inferred, update, journal, files, removed_files)
        except BaseException:
            self._reasoner = None  # it may know more than the store
            raise

    def _commit(
        self,
        changes: Sequence[GraphChange],
        inferred: Delta,
        update: Update | None,
        journal: Mapping[str, int] | None,
        files: Sequence[str],
        removed_files: Sequence[str],
    ) -> ChangeSet:
        with self._change():
            if changes or inferred or journal:
                before = self._counted()
                stated = self.store.union_delta(changes, _is_fact)
                if inferred:
                    changes = merged([*changes, self._reasoning_meta()])
                revision = self.store.apply(changes, inferred, journal)
                self._counts = (
                    str(revision),
                    before[1] + len(stated.added) - len(stated.removed),
                    before[2] + len(inferred.added) - len(inferred.removed),
                )
                self.history.append(revision, utc_now(), _with_inferred(changes, inferred))
            if update is not None:
                self._note_state(update)
                self.catalogue.apply(update)
        return self._changeset(changes, inferred, files, removed_files)

    def load(
        self, graphs: Mapping[NamedNode, Collection[Triple]], update: Update, journal: Mapping[str, int]
    ) -> ChangeSet:
        """The first load of an empty store; as `commit`, many times faster and not atomic."""
        reasoner = self.new_reasoner()
        derived = reasoner.rebuild(
            triple
            for graph, triples in graphs.items()
            if graph != v.META
            for triple in triples
            if counts(graph, triple)
        )
        facts = {triple for graph, triples in graphs.items() if graph != v.META for triple in triples}
        inferred = frozenset(derived - facts)
        graphs = {**graphs, v.META: {*graphs.get(v.META, ()), *self._reasoning_meta().added}}
        changes = [GraphChange(graph, added=frozenset(triples)) for graph, triples in graphs.items()]
        with self._change(), ThreadPoolExecutor(1, "synapse-catalogue") as beside:
            # Two databases, two cores. The catalogue counts only with the store's epoch in it.
            catalogued = beside.submit(self.catalogue.apply, update)
            try:
                revision = self.store.load(graphs, inferred, journal)
                self._reasoner = reasoner
                self._counts = (str(revision), len(facts), len(inferred))
                self.history.append(revision, utc_now(), _with_inferred(changes, Delta(inferred)), whole=True)
                catalogued.result()
            except BaseException:
                wait([catalogued])
                self.catalogue.clear()
                raise
            state = Update()
            self._note_state(state)
            self.catalogue.apply(state)
        return self._changeset(changes, Delta(inferred), [e.record.path for e in update.written], ())

    def _catch_up_history(self) -> None:
        """Record what the store took in and the history did not, before a crash in between."""
        revision = self.store.revision
        if revision.number == 0 or self.store.unfinished or self.history.last == revision:
            return
        graphs = [graph for graph in self.store.graphs() if graph != v.META]
        held = [GraphChange(graph, added=frozenset(self.store.triples(graph))) for graph in graphs]
        inferred = Delta(frozenset(self.store.triples(v.INFERRED)))
        self.history.append(revision, utc_now(), _with_inferred(held, inferred), whole=True)

    def _inferences(self, changes: Sequence[GraphChange]) -> Delta:
        """How `urn:synapse:inferred` changes: it holds what follows and nobody states. An agent's
        axiom is stated although it is no premise, so the reasoner alone cannot say."""
        if not any(change.graph != v.META for change in changes):
            return Delta()
        reasoner = self.reasoner
        premises = self.store.union_delta(changes, counts)
        derived = reasoner.update(premises.added, premises.removed)
        stated = self.store.union_delta(changes, _is_fact)
        aside = (stated.added | stated.removed) - (premises.added | premises.removed)
        candidates = derived.added | derived.removed | aside
        added, removed = set(), set()
        for triple in candidates:
            is_stated = triple in stated.added or (
                triple not in stated.removed and self.store.contains(triple, "stated")
            )
            wanted = not is_stated and reasoner.derivation(triple) is not None
            present = self.store.contains(triple, "inferred")
            if wanted and not present:
                added.add(triple)
            elif present and not wanted:
                removed.add(triple)
        return Delta(frozenset(added), frozenset(removed))

    def would_infer(self, changes: Sequence[GraphChange]) -> Delta:
        """How the inferred graph would change with these changes, which are not made."""
        changes = merged(changes)
        incomplete = self.reasoner.incomplete
        premises = self.store.union_delta(changes, counts)
        try:
            inferred = self._inferences(changes)
            self.reasoner.update(premises.removed, premises.added)
        except BaseException:
            self._reasoner = None
            raise
        if self.reasoner.incomplete != incomplete:
            self._reasoner = None  # a budget that only the trial hit would stay marked
        return inferred

    def _reasoning_meta(self) -> GraphChange:
        """The provenance of the inferred graph, as of now."""
        now = utc_now()
        new = provenance.inferences(_REASONING) | provenance.activity(_REASONING, now, now, v.REASONER)
        old = frozenset(self.store.match(_REASONING, view=v.META))
        return GraphChange(v.META, old - new, new)

    # -- counting ------------------------------------------------------------------------------

    def _note_state(self, update: Update) -> None:
        update.state["epoch"] = self.store.revision.epoch
        update.state["counts"] = json.dumps(self._counted())

    def _counted(self) -> tuple[str, int, int]:
        """Revision, stated facts without meta, inferred facts; counted only where it is not known."""
        revision = str(self.store.revision)
        if self._counts is None:
            kept = json.loads(self.catalogue.state("counts") or "[null, 0, 0]")
            self._counts = (str(kept[0]), int(kept[1]), int(kept[2]))
        if self._counts[0] != revision:
            facts = self.store.count("stated") - self.store.count(v.META)
            self._counts = (revision, facts, self.store.count("inferred"))
        return self._counts

    def status(self) -> Status:
        """The numbers of the status bar."""
        revision, facts, inferred = self._counted()
        incomplete = () if self._reasoner is None else tuple(map(str, self._reasoner.incomplete))
        return Status(
            revision,
            self.published.notes,
            facts,
            inferred,
            self.catalogue.diagnostic_count(),
            incomplete,
        )

    def _changeset(
        self,
        changes: Sequence[GraphChange],
        inferred: Delta,
        files: Sequence[str],
        removed_files: Sequence[str],
    ) -> ChangeSet:
        return ChangeSet(
            self.store.revision,
            tuple(changes),
            inferred,
            tuple(files),
            tuple(removed_files),
            self.catalogue.diagnostic_count(),
        )


def counts(graph: NamedNode, triple: Triple) -> bool:
    """Whether a stated fact is a premise for the reasoner (reasoning.md point 10)."""
    if graph == v.META:
        return False
    return not (graph.value.startswith(v.ASSERTION) and is_schema_axiom(triple))


def _with_inferred(changes: Iterable[GraphChange], inferred: Delta) -> list[GraphChange]:
    """What the history records: since when an inference holds is known too."""
    return [*changes, GraphChange(v.INFERRED, inferred.removed, inferred.added)]


def _is_fact(graph: NamedNode, triple: Triple) -> bool:
    return graph != v.META

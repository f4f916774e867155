"""The facts on disk: Oxigraph on RocksDB, the only owner of the database handle.

pyoxigraph's `Store` has no `close`; it and every iterator made from it keep the database's lock
until they are garbage collected, and an iterator dies noisily when another thread drops it. So
nothing but this module holds the `Store`, each call runs under a lease in which all it reads is
made into lists, and closing means: no new leases, wait, drop, collect, take the lock once more as
proof (agents.md, "Closing the store"). After a write that the disk refused, RocksDB refuses every
later one until it is reopened; the next write does that.
"""

from __future__ import annotations

import contextlib
import gc
import secrets
import shutil
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from pyoxigraph import NamedNode, Quad, RdfFormat, Store, Triple

from synapse.engine.changes import Delta, GraphChange, Revision
from synapse.engine.errors import StoreCorrupt, VaultLocked, VaultUnavailable, WriteFailed
from synapse.engine.graph import bookkeeping, integrity, planning, queries
from synapse.engine.graph.bulk import batches
from synapse.engine.graph.opening import WAIT, corrupt, first_line, let_go, lock_is_free, open_database
from synapse.engine.graph.results import QueryResult, Term
from synapse.engine.graph.seal import seal
from synapse.engine.graph.updates import Plan, update_text
from synapse.engine.graph.views import View, graphs_of
from synapse.engine.terms import DEFAULT_BASE
from synapse.engine.terms import vocabulary as v

__all__ = ["GraphStore", "View"]

T = TypeVar("T")
_ROOM: Final = 1 << 20
"""Bytes that must be free before a store that ran out of space is opened again."""


class GraphStore:
    """Named graphs, their set union, the inferences and the store's own revision.

    The default graph is the set union of all named graphs but `urn:synapse:inferred`, kept so by
    `apply` and `load`. Every method may be called from any thread; reads see one committed state,
    writes run one at a time. Raises VaultUnavailable once `close` was called.
    """

    def __init__(
        self, folder: Path, base: str = DEFAULT_BASE, prefixes: Mapping[str, str] = v.PREFIXES
    ) -> None:
        self.folder = folder
        self.base = base
        self.prefixes = prefixes
        self._gate = threading.Condition()
        self._store: Store | None = open_database(folder)
        self._leases = 0
        self._closed = threading.Event()
        self._writing = threading.RLock()
        self._version = 0  # odd while a write is under way
        self._loads = 0
        self._must_reopen = False
        try:
            self._revision = self._read(bookkeeping.read_revision)
            if self._revision is None:
                self._start_epoch()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(
        cls, folder: Path, base: str = DEFAULT_BASE, prefixes: Mapping[str, str] = v.PREFIXES
    ) -> GraphStore:
        """Opens the store in `folder`, making a new one (revision number 0) where there is none.

        base: what relative IRIs in queries are resolved against. prefixes: name -> IRI, known to
        queries that do not declare them.

        Raises VaultLocked if another holder has it, StoreCorrupt if what is there cannot be read.
        """
        return cls(folder, base, prefixes)

    def close(self) -> None:
        """Gives the database up; afterwards it can be opened again in this process or another.

        Queries under way are stopped between two rows. Raises VaultLocked if a read did not end
        within two seconds and therefore still holds the database.
        """
        if self._closed.is_set():
            return
        self._closed.set()
        with self._writing:
            if self._store is not None:
                # What is only in the log is read again at each opening, a hundred times slower.
                with contextlib.suppress(OSError, RuntimeError):
                    self._store.flush()
            self._drop(even_if_read=True)
        if not lock_is_free(self.folder):
            raise VaultLocked(
                "The store is still being read and could not be closed.", "Wait for the query to end."
            )
        # Without room for a seal the next opening trusts the database's own checks.
        with contextlib.suppress(OSError):
            seal(self.folder)

    # -- what is known about the store itself ------------------------------------------------

    @property
    def revision(self) -> Revision:
        """The state the store is in; number 0 means that nothing was ever stored."""
        assert self._revision is not None
        return self._revision

    @property
    def loads(self) -> int:
        """Moves as each `load` begins and ends; odd while one is under way, which is no committed state."""
        return self._loads

    @property
    def unfinished(self) -> bool:
        """Whether a `load` was cut short, so that the content cannot be trusted."""
        return self._read(bookkeeping.is_unfinished)

    def journal_positions(self) -> dict[str, int]:
        """Journal file name -> bytes of it that the store's content includes."""
        return self._read(bookkeeping.read_journal_positions)

    # -- reading -----------------------------------------------------------------------------

    def match(
        self,
        subject: NamedNode | None = None,
        predicate: NamedNode | None = None,
        object: Term | None = None,
        view: View = "all",
    ) -> list[Triple]:
        """Facts that have the given terms, None standing for any; each fact once, in no order."""
        graphs = graphs_of(view)

        def work(store: Store) -> list[Triple]:
            found: list[Triple] = []
            for graph in graphs:
                found += [quad.triple for quad in store.quads_for_pattern(subject, predicate, object, graph)]
            return found

        return self._read_consistently(work)

    def contains(self, triple: Triple, view: View = "all") -> bool:
        """Whether the fact holds in the view."""
        quads = [Quad(triple.subject, triple.predicate, triple.object, graph) for graph in graphs_of(view)]
        return self._read_consistently(lambda store: any(quad in store for quad in quads))

    def sources(self, triple: Triple) -> list[NamedNode]:
        """Named graphs, `inferred` left out, that state the fact; sorted by IRI."""
        return self._read(lambda store: sorted(planning.sources_of(store, triple), key=_iri))

    def graphs(self) -> list[NamedNode]:
        """Named graphs that hold facts, meta included and `inferred` left out; sorted by IRI."""
        return self._read(
            lambda store: sorted(
                (g for g in store.named_graphs() if isinstance(g, NamedNode) and g != v.INFERRED), key=_iri
            )
        )

    def triples(self, graph: NamedNode) -> list[Triple]:
        """All facts of one named graph, in no order."""
        return self.match(view=graph)

    def dataset(
        self, *, with_meta: bool = False, with_inferred: bool = False
    ) -> dict[NamedNode, list[Triple]]:
        """All facts by named graph, of one committed state, in no order."""
        choices = {v.META: with_meta, v.INFERRED: with_inferred}

        def work(store: Store) -> dict[NamedNode, list[Triple]]:
            found: dict[NamedNode, list[Triple]] = {}
            for quad in store:
                graph = quad.graph_name
                if isinstance(graph, NamedNode) and choices.get(graph, True):
                    found.setdefault(graph, []).append(quad.triple)
            return found

        return self._read(work)

    def count(self, view: View = "all") -> int:
        """How many distinct facts the view has."""
        return self._read(lambda store: queries.count(store, graphs_of(view)))

    def query(
        self,
        text: str,
        view: View = "all",
        limit: int | None = None,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
    ) -> QueryResult:
        """Answers a SPARQL SELECT, ASK, CONSTRUCT or DESCRIBE.

        view: the default graph, unless the query names its own with FROM; all named graphs are
        there for GRAPH. Relative IRIs are resolved against the vault's base, the usual prefixes
        are known. limit: most rows or triples to return. timeout: seconds. Both `timeout` and
        `cancel` are looked at between rows: a query that works long without giving a row (a sort,
        an aggregate, a cross product that matches nothing) is not stopped before its next row.
        That takes a process of its own.

        Raises InvalidQuery (with line and column), RefusedQuery, QueryStopped.
        """
        request = self.request(text, view, limit, timeout, (self._closed, cancel))
        return self._read(lambda store: queries.answer(store, request))

    def request(
        self,
        text: str,
        view: View = "all",
        limit: int | None = None,
        timeout: float | None = None,
        stops: tuple[threading.Event | None, ...] = (),
    ) -> queries.Request:
        """The query with all that it means here, to be answered elsewhere over a checkpoint."""
        return queries.Request(text, tuple(graphs_of(view)), self.base, self.prefixes, limit, timeout, stops)

    def checkpoint(self, folder: Path) -> None:
        """Makes a copy of one committed state, at least as new as `revision` was at the call.

        folder: a new one on the same disk; the files are hard links, so it costs little. Raises
        WriteFailed, with nothing left behind.
        """
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._lease(lambda store: store.backup(str(folder)))
        except (OSError, RuntimeError) as error:
            # It wrote what was in memory first; had the disk no room for that, no later write works.
            self._must_reopen = True
            shutil.rmtree(folder, ignore_errors=True)
            raise WriteFailed(
                f"No copy of the graph can be made to ask: {first_line(error)}.",
                "Free some space and try again.",
            ) from error

    def union_delta(
        self, changes: Sequence[GraphChange], relevant: Callable[[NamedNode, Triple], bool]
    ) -> Delta:
        """How the set union of facts would change, counting only pairs for which `relevant` holds.

        Writes nothing. This is what the reasoner must be told before `apply`.
        """
        return self._read_consistently(lambda store: planning.union_delta(store, changes, relevant))

    def audit(self) -> list[integrity.Fault]:
        """Differences between the store and its invariants; empty when all hold. Reads everything."""
        with self._writing:
            return self._read(integrity.audit)

    # -- writing -----------------------------------------------------------------------------

    def apply(
        self,
        changes: Sequence[GraphChange],
        inferred: Delta | None = None,
        journal: Mapping[str, int] | None = None,
    ) -> Revision:
        """Carries out the changes in one transaction and returns the revision they lead to.

        Several changes of one graph are made in order. `inferred` is the change of the inferred
        graph; keeping it disjoint from what is stated is the reasoner's part. `journal` maps names
        of journal files to the bytes now consumed. Blank nodes are refused (InvalidFact).

        Raises WriteFailed, with nothing changed, if the disk refuses.
        """
        with self._writing:
            return self._commit(changes, inferred or Delta(), journal or {})

    def load(
        self,
        graphs: Mapping[NamedNode, Collection[Triple]],
        inferred: Collection[Triple] = (),
        journal: Mapping[str, int] | None = None,
    ) -> Revision:
        """Replaces the whole content, fast and not atomically; the first load of a vault.

        `unfinished` is true from the start to the end of it, also after a crash in between. A store
        that held something begins a new epoch. Raises WriteFailed.
        """
        with self._writing:
            self._loads += 1
            try:
                return self._load(graphs, inferred, journal or {})
            finally:
                self._loads += 1

    def repair(self) -> list[integrity.Fault]:
        """Mends what `audit` finds, taking the named graphs as the truth; returns what was wrong."""
        with self._writing:
            faults = self.audit()
            if faults:
                self._update(integrity.repair_plan(faults))
                self._commit([], Delta(), {})
            return faults

    # -- leases, commits, reopening ----------------------------------------------------------

    def _start_epoch(self) -> None:
        if self._read(lambda store: bool(len(store))):
            raise StoreCorrupt(
                f"The store in {self.folder} is not one of Synapse's.", "It is rebuilt from the vault."
            )
        revision = Revision(_new_epoch(), 0)
        self._update(self._plan([self._advance(revision, {})]))
        self._revision = revision

    def _commit(
        self, changes: Sequence[GraphChange], inferred: Delta, journal: Mapping[str, int]
    ) -> Revision:
        self._reopen_if_needed()
        after = Revision(self.revision.epoch, self.revision.number + 1)
        plan = self._plan([*changes, self._advance(after, journal)], inferred)
        try:
            self._update(plan)
        except WriteFailed:
            # The error may come after the commit (in a flush): what counts is what can be read.
            if self._read(bookkeeping.read_revision) != after:
                raise
        self._revision = after
        return after

    def _advance(self, after: Revision, journal: Mapping[str, int]) -> GraphChange:
        return self._read(lambda store: bookkeeping.advance(store, after, journal))

    def _plan(self, changes: Sequence[GraphChange], inferred: Delta | None = None) -> Plan:
        return self._read(lambda store: planning.plan(store, changes, inferred or Delta()))

    def _update(self, plan: Plan) -> None:
        text = update_text(plan)
        self._write(lambda store: store.update(text))

    def _load(
        self,
        graphs: Mapping[NamedNode, Collection[Triple]],
        inferred: Collection[Triple],
        journal: Mapping[str, int],
    ) -> Revision:
        epoch = self.revision.epoch if self.revision.number == 0 else _new_epoch()
        self._write(lambda store: store.clear() if len(store) else None)
        self._revision = Revision(epoch, 0)
        self._update(self._plan([self._advance(self._revision, {}), bookkeeping.mark_unfinished()]))
        for batch in batches(graphs, inferred):
            self._load_batch(batch)
        return self._commit([bookkeeping.unmark_unfinished()], Delta(), journal)

    def _load_batch(self, batch: bytes) -> None:
        self._write(lambda store: store.bulk_load(batch, RdfFormat.N_QUADS, lenient=True))

    def _write(self, work: Callable[[Store], object]) -> None:
        self._reopen_if_needed()
        self._version += 1
        try:
            self._lease(work)
        except OSError as error:
            self._must_reopen = True
            raise WriteFailed(
                f"The disk refused to store the change: {first_line(error)}.",
                "Free some space and try again.",
            ) from error
        except RuntimeError as error:
            raise corrupt(error) from error
        finally:
            self._version += 1

    def _reopen_if_needed(self) -> None:
        if not self._must_reopen:
            return
        try:
            with tempfile.TemporaryFile(dir=self.folder) as probe:
                probe.write(bytes(_ROOM))
        except OSError as error:
            raise WriteFailed(
                f"The disk is still full or not writable: {error.strerror}.", "Free some space and try again."
            ) from error
        if not self._drop(even_if_read=False):
            raise WriteFailed("A query under way keeps the store from recovering.", "Stop it and try again.")
        opened = open_database(self.folder)
        with self._gate:
            self._store = opened
            self._gate.notify_all()
        del opened
        self._must_reopen = False
        self._revision = self._read(bookkeeping.read_revision) or self._revision

    def _read(self, work: Callable[[Store], T]) -> T:
        try:
            return self._lease(work)
        except (OSError, RuntimeError) as error:
            raise corrupt(error) from error

    def _read_consistently(self, work: Callable[[Store], T]) -> T:
        """For work that reads more than once: repeated when a write came in between."""
        for _ in range(3):
            before = self._version
            found = self._read(work)
            if before == self._version and before % 2 == 0:
                return found
        with self._writing:
            return self._read(work)

    def _lease(self, work: Callable[[Store], T]) -> T:
        with self._gate:
            if self._store is None and not self._closed.is_set():
                self._gate.wait_for(lambda: self._store is not None or self._closed.is_set(), WAIT * 2)
            if self._closed.is_set():
                raise VaultUnavailable("The vault is closed.", "Open it again.")
            if self._store is None:
                raise VaultUnavailable("The store could not be opened again.", "Free some space.")
            store = self._store
            self._leases += 1
        handled = sys.exception()
        try:
            return work(store)
        except BaseException as error:
            let_go(error, handled)
            raise
        finally:
            del store, handled
            with self._gate:
                self._leases -= 1
                self._gate.notify_all()

    def _drop(self, *, even_if_read: bool) -> bool:
        """Lets no new lease in, waits for the others and drops the handle.

        False if a read did not end in time; then the handle is kept unless `even_if_read`.
        """
        with self._gate:
            store, self._store = self._store, None
            unread = self._gate.wait_for(lambda: self._leases == 0, WAIT)
            if not unread and not even_if_read:
                self._store = store
                self._gate.notify_all()
            del store
        gc.collect()
        return unread


def _new_epoch() -> str:
    return secrets.token_hex(8)


def _iri(node: NamedNode) -> str:
    return node.value

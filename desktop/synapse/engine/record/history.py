"""What this machine knew when: the facts that each revision of the store added and removed.

SQLite, beside the store. It is the one thing there that cannot be made again from vault and
journal, so a rebuilt store goes on in the same history: only the difference is recorded.
Changes of `urn:synapse:meta` are left out: they are the account of the changes themselves.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final

from pyoxigraph import NamedNode, RdfFormat, Triple, parse

from synapse.engine.changes import NO_FACTS, Facts, GraphChange, Revision, merged
from synapse.engine.errors import StoreCorrupt, UsageError, WriteFailed
from synapse.engine.terms import vocabulary as v

log = logging.getLogger(__name__)

_VERSION: Final = 1
_COMPRESSED_FROM: Final = 400  # bytes; below, compression saves nothing
_SCHEMA: Final = """
CREATE TABLE revision (
    id INTEGER PRIMARY KEY,
    epoch TEXT NOT NULL, number INTEGER NOT NULL,
    time TEXT NOT NULL, cause TEXT NOT NULL
);
CREATE INDEX revision_by_number ON revision (epoch, number);
CREATE INDEX revision_by_time ON revision (time);
CREATE TABLE graph (id INTEGER PRIMARY KEY, iri TEXT NOT NULL UNIQUE);
CREATE TABLE change (
    revision INTEGER NOT NULL, graph INTEGER NOT NULL,
    added NOT NULL, removed NOT NULL,  -- sorted N-Triples; TEXT, or BLOB where deflated
    PRIMARY KEY (revision, graph)
) WITHOUT ROWID;
CREATE INDEX change_by_graph ON change (graph);
CREATE TABLE fact (  -- when a fact came into or left a graph
    hash BLOB NOT NULL, graph INTEGER NOT NULL, revision INTEGER NOT NULL, present INTEGER NOT NULL,
    PRIMARY KEY (hash, graph, revision)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """One revision: when this machine recorded it, the journal event behind it ("" for none)."""

    revision: Revision
    time: str
    cause: str
    changes: tuple[GraphChange, ...]


@dataclass(frozen=True, slots=True)
class _Pending:
    revision: Revision
    time: str
    changes: tuple[GraphChange, ...]
    cause: str
    whole: bool


class History:
    """The history in one SQLite file, made at first use. Safe from any thread.

    A file that SQLite cannot read is renamed to `<name>.corrupt` (`set_aside`) and a new one
    begun. Raises WriteFailed where the folder refuses, StoreCorrupt for another version's file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.RLock()
        self._pending: list[_Pending] = []
        self._closed = False
        self.set_aside: Path | None = None
        try:
            self._connection = self._open()
        except sqlite3.DatabaseError as error:
            self.set_aside = self._move_away(error)
            self._connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise sqlite3.OperationalError(str(error)) from error
        connection = sqlite3.connect(self._path, check_same_thread=False, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version == 0:
                connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise StoreCorrupt(
                    f"The history was written by another version of Synapse ({version}).",
                    "Open the vault with that version.",
                    path=str(self._path),
                )
            connection.execute("SELECT count(*) FROM revision").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _move_away(self, error: sqlite3.DatabaseError) -> Path:
        if isinstance(error, sqlite3.OperationalError) and "malformed" not in str(error):
            raise WriteFailed(
                f"The history cannot be opened: {error}.",
                "Check its folder and the disk.",
                path=str(self._path),
            ) from error
        kept = self._path.with_name(self._path.name + ".corrupt")
        number = 1
        while kept.exists():
            number += 1
            kept = self._path.with_name(f"{self._path.name}.corrupt-{number}")
        os.replace(self._path, kept)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        log.warning(
            "the history could not be read (%s); it is kept as %s and a new one begins", error, kept.name
        )
        return kept

    def close(self) -> None:
        """Writes what is still to be written and closes the file; a second call does nothing."""
        with self._lock:
            if not self._closed:
                self._flush()
                self._connection.close()
            self._closed = True

    # -- writing --------------------------------------------------------------------------------

    def append(
        self,
        revision: Revision,
        time: str,
        changes: Iterable[GraphChange],
        cause: str = "",
        *,
        whole: bool = False,
    ) -> None:
        """Records what a revision added and removed. time: UTC as events.utc_now gives it.

        cause: the id of the journal event behind it. whole: the added facts are all that the store
        holds (a first load, a rebuild, a store whose last revisions are not recorded), so what is
        recorded and missing among them was removed. A fact that a graph has already is not added
        again, one that it has not is not removed.

        The store has committed when this is called, so a full disk is no error here: what could
        not be written is kept and written with the next revision.
        """
        kept = tuple(change for change in changes if change.graph != v.META)
        with self._lock:
            self._pending.append(_Pending(revision, time, kept, cause, whole))
            self._flush()

    def _flush(self) -> None:
        try:
            while self._pending:
                with self._transaction():
                    self._record(self._pending[0])
                del self._pending[0]
        except sqlite3.OperationalError as error:
            log.warning("the history could not be written (%s); it will be with the next change", error)

    @property
    def behind(self) -> int:
        """Revisions that could not be written yet."""
        return len(self._pending)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _record(self, pending: _Pending) -> None:
        changes = self._difference(pending.changes) if pending.whole else pending.changes
        last = self._connection.execute("SELECT max(time) FROM revision").fetchone()[0]
        # A clock that was set back must not put a revision before its predecessor.
        time = max(pending.time, last or "")
        (row,) = self._connection.execute(
            "INSERT INTO revision (epoch, number, time, cause) VALUES (?, ?, ?, ?) RETURNING id",
            (pending.revision.epoch, pending.revision.number, time, pending.cause),
        ).fetchone()
        kept: list[tuple[int, int, str | bytes, str | bytes]] = []
        facts: list[tuple[bytes, int, int, int]] = []
        for change in merged(changes):
            graph = self._graph_id(change.graph)
            added = self._texts(change.added, graph, present=False)
            removed = self._texts(change.removed, graph, present=True)
            if added or removed:
                kept.append((row, graph, _packed(added.values()), _packed(removed.values())))
                facts += [(digest, graph, row, 1) for digest in added]
                facts += [(digest, graph, row, 0) for digest in removed]
        self._connection.executemany("INSERT INTO change VALUES (?, ?, ?, ?)", kept)
        # In the order of the key: a first load would otherwise write every page many times.
        self._connection.executemany("INSERT INTO fact VALUES (?, ?, ?, ?)", sorted(facts))

    def _texts(self, triples: Facts, graph: int, *, present: bool) -> dict[bytes, str]:
        """Hash -> N-Triples text of those triples that the graph has (present) or has not."""
        if not triples:
            return {}
        known = self._connection.execute("SELECT 1 FROM change WHERE graph = ? LIMIT 1", (graph,)).fetchone()
        if known is None and present:
            return {}
        texts = {_hash(text): text for text in map(str, triples)}
        if known is None:
            return texts
        return {digest: text for digest, text in texts.items() if self._has(digest, graph) == present}

    def _has(self, digest: bytes, graph: int) -> bool:
        row = self._connection.execute(
            "SELECT present FROM fact WHERE hash = ? AND graph = ? ORDER BY revision DESC LIMIT 1",
            (digest, graph),
        ).fetchone()
        return row is not None and row[0] == 1

    def _graph_id(self, graph: NamedNode) -> int:
        row = self._connection.execute("SELECT id FROM graph WHERE iri = ?", (graph.value,)).fetchone()
        if row is None:
            row = self._connection.execute(
                "INSERT INTO graph (iri) VALUES (?) RETURNING id", (graph.value,)
            ).fetchone()
        (found,) = row
        assert isinstance(found, int)
        return found

    def _difference(self, changes: Sequence[GraphChange]) -> list[GraphChange]:
        """What leads from the recorded state to exactly the facts that `changes` add."""
        before = self._replay(self._entries("", ()))
        after = {change.graph: change.added for change in merged(changes)}
        found = []
        for graph in before.keys() | after.keys():
            had, has = frozenset(before.get(graph, ())), after.get(graph, NO_FACTS)
            found.append(GraphChange(graph, had - has, has - had))
        return sorted(found, key=lambda change: change.graph.value)

    # -- reading --------------------------------------------------------------------------------

    @property
    def begins(self) -> str | None:
        """The time of the first revision: before it nothing is known. None while there is none."""
        row = self._row("SELECT time FROM revision ORDER BY id LIMIT 1")
        return None if row is None else str(row[0])

    @property
    def last(self) -> Revision | None:
        """The last revision recorded; the store's own, unless something kept it from being written."""
        row = self._row("SELECT epoch, number FROM revision ORDER BY id DESC LIMIT 1")
        return None if row is None else Revision(*row)

    def first_known(self, triple: Triple, graph: NamedNode | None = None) -> str | None:
        """Since when a fact is known without a break: by any graph, or by this one.

        None where it is not known now, or was never recorded.
        """
        return self.first_known_all([triple], graph).get(triple)

    def first_known_all(
        self, triples: Collection[Triple], graph: NamedNode | None = None
    ) -> dict[Triple, str]:
        """`first_known` of many facts at once."""
        found: dict[Triple, str] = {}
        with self._lock:
            for triple in triples:
                rows = self._connection.execute(
                    "SELECT f.graph, f.present, r.time FROM fact f JOIN revision r ON r.id = f.revision"
                    " JOIN graph g ON g.id = f.graph WHERE f.hash = ?1 AND (?2 IS NULL OR g.iri = ?2)"
                    " ORDER BY f.revision, f.present DESC",
                    (_hash(str(triple)), None if graph is None else graph.value),
                )
                holding: set[int] = set()
                since: str | None = None
                for place, present, time in rows:
                    if present:
                        since = since if holding else time
                        holding.add(place)
                    else:
                        holding.discard(place)
                if holding and since is not None:
                    found[triple] = since
        return found

    def changes(self, since: Revision | str, limit: int | None = None) -> list[Entry]:
        """The revisions after one, or after a time (UTC, ISO 8601), the earliest first.

        Raises UsageError for a revision that is not recorded.
        """
        if isinstance(since, str):
            return self._entries("WHERE r.time > ?", (since,), limit)
        row = self._row(
            "SELECT id FROM revision WHERE epoch = ? AND number = ? ORDER BY id DESC LIMIT 1", *since
        )
        if row is None:
            raise UsageError(
                f"Revision {since} is not in this machine's history.", "Ask for changes since a time instead."
            )
        return self._entries("WHERE r.id > ?", (row[0],), limit)

    def recent(self, limit: int) -> list[Entry]:
        """The last revisions, the newest first; without those that loaded a whole store."""
        return self._entries("WHERE r.number > 1", (), limit, newest_first=True)

    def as_of(
        self, time: str, keep: Callable[[NamedNode, Triple], bool] | None = None
    ) -> dict[NamedNode, set[Triple]] | None:
        """Graph -> facts as they were known at a time; None before the history begins.

        keep: which facts to give; all of a large vault take seconds.
        """
        begins = self.begins
        if begins is None or time < begins:
            return None
        return self._replay(self._entries("WHERE r.time <= ?", (time,)), keep)

    def _row(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        with self._lock:
            row: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
            return row

    def _entries(
        self, where: str, values: tuple[object, ...], limit: int | None = None, *, newest_first: bool = False
    ) -> list[Entry]:
        with self._lock:
            revisions = self._connection.execute(
                "SELECT r.id, r.epoch, r.number, r.time, r.cause FROM revision r"
                f" {where} ORDER BY r.id {'DESC' if newest_first else 'ASC'} LIMIT ?",
                (*values, -1 if limit is None else limit),
            ).fetchall()
            return [
                Entry(Revision(epoch, number), time, cause, self._changes_of(row))
                for row, epoch, number, time, cause in revisions
            ]

    def _changes_of(self, revision: int) -> tuple[GraphChange, ...]:
        rows = self._connection.execute(
            "SELECT g.iri, c.added, c.removed FROM change c JOIN graph g ON g.id = c.graph"
            " WHERE c.revision = ? ORDER BY g.iri",
            (revision,),
        )
        return tuple(
            GraphChange(NamedNode(iri), _unpacked(removed), _unpacked(added)) for iri, added, removed in rows
        )

    def _replay(
        self, entries: Iterable[Entry], keep: Callable[[NamedNode, Triple], bool] | None = None
    ) -> dict[NamedNode, set[Triple]]:
        found: dict[NamedNode, set[Triple]] = defaultdict(set)
        for entry in entries:
            for change in entry.changes:
                facts = found[change.graph]
                facts -= change.removed
                facts |= {t for t in change.added if keep is None or keep(change.graph, t)}
        return {graph: facts for graph, facts in found.items() if facts}


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8"), digest_size=16).digest()


def _packed(texts: Collection[str]) -> str | bytes:
    lines = "".join(f"{text} .\n" for text in sorted(texts))
    return lines if len(lines) < _COMPRESSED_FROM else zlib.compress(lines.encode("utf-8"), 1)


def _unpacked(stored: str | bytes) -> Facts:
    lines = zlib.decompress(stored) if isinstance(stored, bytes) else stored.encode("utf-8")
    return frozenset(quad.triple for quad in parse(lines, format=RdfFormat.N_TRIPLES))

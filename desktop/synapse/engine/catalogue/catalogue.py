"""The catalogue: what Synapse knows of each file, in SQLite. Derived; `rebuild` makes it anew.

One row a file (size, time, hash), its links with their places, the names its links looked up, its
diagnostics, and the full-text index. Nothing here is a fact: facts live in the graph.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import RLock

from synapse.engine.catalogue import fulltext
from synapse.engine.catalogue.records import (
    DiagnosticRecord,
    FileEntry,
    FileKind,
    FileRecord,
    LinkRecord,
    TextHit,
    Update,
)
from synapse.engine.errors import WriteFailed

SCHEMA_VERSION = 1

_SCHEMA = """
create table state (key text primary key, value text not null) without rowid;
create table files (
    path text primary key, kind text not null, size integer not null, mtime_ns integer not null,
    hash text not null, entity_id text not null, uri text, title text not null,
    aliases text not null, tags text not null, sort_key text not null
) without rowid;
create table links (
    source text not null, kind text not null, target_text text not null, target_id text not null,
    target_path text, anchor text, text text, relation text,
    start integer not null, stop integer not null, line integer not null, column integer not null
);
create index links_source on links (source);
create index links_target on links (target_id);
create table lookups (key text not null, path text not null, primary key (key, path)) without rowid;
create index lookups_path on lookups (path);
create table diagnostics (
    path text not null, line integer, column integer, severity text not null, code text not null,
    message text not null, hint text not null
);
create index diagnostics_path on diagnostics (path);
create table ontologies (graph text primary key, hash text not null, triples integer not null) without rowid;
create table searchable (rowid integer primary key, key text unique not null, kind text not null);
create virtual table words using fts5 (
    title, aliases, tags, body, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
);
create virtual table stems using fts5 (
    title, body, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);
"""

_TABLES = ("files", "links", "lookups", "diagnostics", "searchable", "words", "ontologies", "state")
_FILE_COLUMNS = "path, kind, size, mtime_ns, hash, entity_id, uri, title, aliases, tags"


class Catalogue:
    """The catalogue of one vault. Safe from any thread."""

    def __init__(self, path: Path) -> None:
        """Open or make it. One that is no database any more is made anew: it holds nothing of its own."""
        self._lock = RLock()
        try:
            self._open(path)
        except sqlite3.OperationalError:  # the disk, the permissions: nothing is wrong with the file
            raise
        except sqlite3.DatabaseError:
            self._connection.close()
            for file in path.parent.glob(f"{path.name}*"):
                file.unlink()
            self._open(path)

    def _open(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._connection.execute("pragma journal_mode = wal")
        self._connection.execute("pragma synchronous = normal")
        (version,) = self._connection.execute("pragma user_version").fetchone()
        if version != SCHEMA_VERSION:
            with self._transaction():
                self._drop_all()
                for statement in _SCHEMA.split(";\n"):
                    self._connection.execute(statement)
                self._connection.execute(f"pragma user_version = {SCHEMA_VERSION}")

    def _drop_all(self) -> None:
        rows = self._connection.execute(
            "select name from sqlite_master where type = 'table' and name not like 'sqlite_%'"
            " order by sql like 'create virtual%' desc"
        ).fetchall()
        for (name,) in rows:
            self._connection.execute(f'drop table if exists "{name}"')

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Raises WriteFailed where the disk refuses."""
        with self._lock:
            try:
                self._connection.execute("begin immediate")
                try:
                    yield self._connection
                    self._connection.execute("commit")
                except BaseException:
                    if self._connection.in_transaction:  # a full disk may have rolled it back
                        self._connection.execute("rollback")
                    raise
            except sqlite3.OperationalError as error:
                raise WriteFailed(
                    f"The catalogue cannot be written: {error}.", "Free space on the disk, then try again."
                ) from error

    def _rows(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    # -- state ---------------------------------------------------------------------------------

    def state(self, key: str) -> str | None:
        rows = self._rows("select value from state where key = ?", (key,))
        return str(rows[0][0]) if rows else None

    def set_state(self, key: str, value: str) -> None:
        with self._transaction() as connection:
            connection.execute("insert or replace into state values (?, ?)", (key, value))

    def clear(self) -> None:
        """Forget every file; the next index reads them all."""
        with self._transaction() as connection:
            for table in _TABLES:
                connection.execute(f"delete from {table}")
            connection.execute("insert into stems (stems) values ('delete-all')")

    # -- writing -------------------------------------------------------------------------------

    def apply(self, update: Update) -> None:
        """Make all changes of `update`, or none."""
        with self._transaction() as connection:
            for path in update.removed:
                self._forget(connection, path)
                connection.execute("delete from diagnostics where path = ?", (path,))
            for entry in update.written:
                self._forget(connection, entry.record.path)
                self._write(connection, entry)
            connection.executemany(
                "update files set size = ?, mtime_ns = ? where path = ?",
                [(record.size, record.mtime_ns, record.path) for record in update.touched],
            )
            connection.executemany("insert or replace into state values (?, ?)", list(update.state.items()))

    def _forget(self, connection: sqlite3.Connection, path: str) -> None:
        connection.execute("delete from files where path = ?", (path,))
        connection.execute("delete from links where source = ?", (path,))
        connection.execute("delete from lookups where path = ?", (path,))
        self._forget_text(connection, path)

    def _forget_text(self, connection: sqlite3.Connection, key: str) -> None:
        row = connection.execute("select rowid from searchable where key = ?", (key,)).fetchone()
        if row is None:
            return
        title, body = connection.execute("select title, body from words where rowid = ?", row).fetchone()
        connection.execute(
            "insert into stems (stems, rowid, title, body) values ('delete', ?, ?, ?)", (row[0], title, body)
        )
        connection.execute("delete from words where rowid = ?", row)
        connection.execute("delete from searchable where rowid = ?", row)

    def _write(self, connection: sqlite3.Connection, entry: FileEntry) -> None:
        record = entry.record
        connection.execute(
            "insert into files values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                record.path,
                record.kind,
                record.size,
                record.mtime_ns,
                record.hash,
                record.entity_id,
                record.uri,
                record.title,
                json.dumps(record.aliases, ensure_ascii=False),
                json.dumps(record.tags, ensure_ascii=False),
                record.path.casefold(),
            ),
        )
        connection.executemany(
            "insert into links values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    link.source, link.kind, link.target_text, link.target_id, link.target_path, link.anchor,
                    link.text, link.relation, link.start, link.stop, link.line, link.column,
                )
                for link in entry.links
            ],
        )  # fmt: skip
        connection.executemany(
            "insert or ignore into lookups values (?, ?)", [(key, record.path) for key in entry.lookups]
        )
        if record.kind == "note":
            cursor = connection.execute(
                "insert into searchable (key, kind) values (?, 'note')", (record.path,)
            )
            title, body = fulltext.indexed(record.title), fulltext.indexed(entry.body)
            connection.execute(
                "insert into words (rowid, title, aliases, tags, body) values (?, ?, ?, ?, ?)",
                (
                    cursor.lastrowid, title, fulltext.indexed("\n".join(record.aliases)),
                    fulltext.indexed(" ".join(record.tags)), body,
                ),
            )  # fmt: skip
            connection.execute(
                "insert into stems (rowid, title, body) values (?, ?, ?)", (cursor.lastrowid, title, body)
            )
        self._set_diagnostics(connection, record.path, entry.diagnostics)

    def _set_diagnostics(
        self, connection: sqlite3.Connection, path: str, diagnostics: Iterable[DiagnosticRecord]
    ) -> None:
        connection.execute("delete from diagnostics where path = ?", (path,))
        self._add_diagnostics(connection, diagnostics)

    def _add_diagnostics(
        self, connection: sqlite3.Connection, diagnostics: Iterable[DiagnosticRecord]
    ) -> None:
        connection.executemany(
            "insert into diagnostics values (?, ?, ?, ?, ?, ?, ?)",
            [(d.path, d.line, d.column, d.severity, d.code, d.message, d.hint) for d in diagnostics],
        )

    def replace_outer_diagnostics(
        self, unread: Mapping[str, Sequence[DiagnosticRecord]], between: Sequence[DiagnosticRecord], code: str
    ) -> None:
        """Set what no single file's reading says.

        unread: of files that could not be read, and of what is no file of the vault, which is
        replaced as a whole. between: what is wrong between files, all with the one `code`.
        """
        with self._transaction() as connection:
            connection.execute(
                "delete from diagnostics where code = ? or path not in (select path from files)", (code,)
            )
            for path, found in unread.items():
                self._set_diagnostics(connection, path, found)
            self._add_diagnostics(connection, between)

    # -- reading -------------------------------------------------------------------------------

    def files(self, kind: FileKind | None = None) -> list[FileRecord]:
        """All files, by path."""
        where = "" if kind is None else "where kind = ?"
        rows = self._rows(
            f"select {_FILE_COLUMNS} from files {where} order by sort_key, path",
            () if kind is None else (kind,),
        )
        return [_file_record(row) for row in rows]

    def file(self, path: str) -> FileRecord | None:
        rows = self._rows(f"select {_FILE_COLUMNS} from files where path = ?", (path,))
        return _file_record(rows[0]) if rows else None

    def count(self, kind: FileKind = "note") -> int:
        (row,) = self._rows("select count(*) from files where kind = ?", (kind,))
        return int(str(row[0]))

    def looking_up(self, keys: Iterable[str]) -> set[str]:
        """Paths of the notes with a link or value that looked up one of the folded last segments."""
        found: set[str] = set()
        waiting = list(keys)
        for start in range(0, len(waiting), 500):
            part = waiting[start : start + 500]
            marks = ", ".join("?" * len(part))
            rows = self._rows(f"select path from lookups where key in ({marks})", part)
            found.update(str(path) for (path,) in rows)
        return found

    def links(self, *, source: str | None = None, target_id: str | None = None) -> list[LinkRecord]:
        """Links in the order in which they stand, of one note or to one entity."""
        column, value = ("source", source) if source is not None else ("target_id", target_id)
        rows = self._rows(
            "select source, kind, target_text, target_id, target_path, anchor, text, relation, start, stop,"
            f" line, column from links where {column} = ? order by source, start, rowid",
            (value,),
        )
        return [LinkRecord(*row) for row in rows]  # type: ignore[arg-type]

    def unwritten(self) -> list[tuple[str, int]]:
        """Ids that links name and no file has, with the number of links, the most linked first."""
        rows = self._rows(
            "select target_id, count(*) from links where target_path is null and kind <> 'url'"
            " group by target_id order by count(*) desc, target_id"
        )
        return [(str(target), int(str(count))) for target, count in rows]

    def diagnostics(self, path: str | None = None) -> list[DiagnosticRecord]:
        where = "" if path is None else "where path = ?"
        rows = self._rows(
            "select path, line, column, severity, code, message, hint from diagnostics"
            f" {where} order by path, line, column, code",
            () if path is None else (path,),
        )
        return [DiagnosticRecord(*row) for row in rows]  # type: ignore[arg-type]

    def diagnostic_count(self) -> int:
        (row,) = self._rows("select count(*) from diagnostics")
        return int(str(row[0]))

    # -- ontologies ----------------------------------------------------------------------------

    def ontologies(self) -> dict[str, tuple[str, int]]:
        """Graph IRI -> hash of the file it was loaded from, number of triples."""
        rows = self._rows("select graph, hash, triples from ontologies")
        return {str(graph): (str(digest), int(str(triples))) for graph, digest, triples in rows}

    def set_ontologies(self, rows: Mapping[str, tuple[str, int]]) -> None:
        with self._transaction() as connection:
            connection.execute("delete from ontologies")
            connection.executemany(
                "insert into ontologies values (?, ?, ?)",
                [(graph, digest, triples) for graph, (digest, triples) in rows.items()],
            )

    # -- full text -----------------------------------------------------------------------------

    def search(
        self, text: str, limit: int = 50, offset: int = 0, among: Collection[str] | None = None
    ) -> tuple[list[TextHit], int]:
        """Notes that hold every word of `text`, the best first, and how many there are in all.
        Hits only by a word's stem come after all others. among: only these notes, by path."""
        exact, stemmed = fulltext.match_expression(text), fulltext.whole_words(text)
        if exact is None:
            return [], 0
        with self._lock:
            ranked = self._connection.execute(
                "select rowid, bm25(words, 10.0, 8.0, 4.0, 1.0) as rank from words where words match ?"
                " order by rank, rowid",
                (exact,),
            ).fetchall()
            seen = {rowid for rowid, _ in ranked}
            if stemmed is not None:
                ranked += [
                    (rowid, 0.0)
                    for (rowid,) in self._connection.execute(
                        "select rowid from stems where stems match ? order by rank, rowid", (stemmed,)
                    )
                    if rowid not in seen
                ]
            if among is not None:
                rows = self._connection.execute("select rowid, key from searchable")
                kept = {rowid for rowid, key in rows if key in among}
                ranked = [row for row in ranked if row[0] in kept]
            page = ranked[offset : offset + limit]
            hits = [self._hit(rowid, rank, exact, rowid in seen) for rowid, rank in page]
        return hits, len(ranked)

    def _hit(self, rowid: int, rank: float, expression: str, exact: bool) -> TextHit:
        key, kind = self._connection.execute(
            "select key, kind from searchable where rowid = ?", (rowid,)
        ).fetchone()
        if exact:
            (snippet,) = self._connection.execute(
                f"select snippet(words, -1, '{fulltext.HIT_START}', '{fulltext.HIT_END}', '…', 16)"
                " from words where words match ? and rowid = ?",
                (expression, rowid),
            ).fetchone()
        else:
            (snippet,) = self._connection.execute(
                "select substr(body, 1, 160) from words where rowid = ?", (rowid,)
            ).fetchone()
        return TextHit(key, kind, " ".join(fulltext.shown(snippet).split()), rank)


def _file_record(row: Sequence[object]) -> FileRecord:
    path, kind, size, mtime_ns, digest, entity_id, uri, title, aliases, tags = row
    return FileRecord(
        str(path),
        kind,  # type: ignore[arg-type]
        int(str(size)),
        int(str(mtime_ns)),
        str(digest),
        str(entity_id),
        None if uri is None else str(uri),
        str(title),
        tuple(json.loads(str(aliases))),
        tuple(json.loads(str(tags))),
    )

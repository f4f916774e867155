"""From files to facts: which files changed, what they say now, one transaction.

Reindexing replaces (data-model.md section 3): the graph of a changed file is exchanged for what it
says now, and notes whose links could now mean something else are stated again with it.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from synapse.engine.catalogue import DiagnosticRecord, FileEntry, FileRecord, Update
from synapse.engine.changes import ChangeSet, GraphChange, merged
from synapse.engine.errors import FileUnreadable, VaultUnavailable
from synapse.engine.expected import FileProvenance, journal_changes, ontology_changes
from synapse.engine.notes import READER_VERSION, content_hash, files, path_key, read_bytes, read_note
from synapse.engine.questions.results import IndexReport
from synapse.engine.record import utc_now
from synapse.engine.statements import diagnostic_record, from_error, state_file
from synapse.engine.terms import entity_id
from synapse.engine.workspace import Workspace

Progress = Callable[[int, int], None]
"""Called with files done and files to do."""

_SHARED = "uri-shared"
_MANY = 100
"""Notes from which on the cyclic garbage collector rests while they are read: what they hold is kept
anyway, and looking through it again and again doubles the time."""

_GUARDED = 20
"""Files from which on the loss of more than half of them needs a person's word."""


@dataclass(slots=True)
class _Survey:
    """What is on disk, beside what the catalogue knows."""

    present: dict[str, files.FileEntry]
    content: dict[str, bytes] = field(default_factory=dict)
    """Bytes of the notes and RDF files that are new or changed."""
    hashes: dict[str, str] = field(default_factory=dict)
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    touched: list[FileRecord] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0
    problems: dict[str, list[DiagnosticRecord]] = field(default_factory=dict)


_Stated = tuple[GraphChange, FileEntry]
"""What a file adds to and takes from its graph, and what the catalogue keeps of it."""


class Indexer:
    """One run of the index over a workspace."""

    def __init__(self, workspace: Workspace, progress: Progress | None = None) -> None:
        self._workspace = workspace
        self._progress = progress or (lambda done, total: None)
        self._started = utc_now()
        self._clock = time.perf_counter()

    def run(
        self, paths: Iterable[str] | None = None, *, accept_deletions: bool = False, dry_run: bool = False
    ) -> tuple[IndexReport, ChangeSet | None]:
        """Bring the graph up to date with the files.

        paths: vault-relative files to look at, None for the whole vault. dry_run: only report.
        Raises VaultUnavailable when the vault seems to have vanished, WriteFailed.
        """
        workspace = self._workspace
        survey = self._survey(paths)
        if not accept_deletions:
            self._guard(survey, whole=paths is None)
        stamp_moved = workspace.catalogue.state("reading-stamp") != workspace.reading_stamp
        before = dict(workspace.files)
        self._register(survey)
        carried_out = False
        try:
            restated = self._restated(survey, before, everything=stamp_moved)
            statements = self._state(survey, restated)
            result = self._carry_out(survey, statements, before, dry_run)
            carried_out = not dry_run
            return result
        finally:
            if not carried_out:
                workspace.load_files(before.values())

    # -- surveying -----------------------------------------------------------------------------

    def _survey(self, paths: Iterable[str] | None) -> _Survey:
        workspace = self._workspace
        survey = _Survey({})
        known = workspace.files
        if paths is None:
            scan = files.scan(workspace.vault, workspace.settings.ignore)
            survey.present = {entry.path: entry for entry in scan.files}
            files.remove_leftovers(workspace.vault, scan.leftovers)
            for diagnostic in scan.diagnostics:
                survey.problems.setdefault(diagnostic.path, []).append(diagnostic_record(diagnostic))
            missing = [path for path in known if path not in survey.present]
            survey.removed = [path for path in missing if not _is_below(path, scan.unread)]
        else:
            for path in sorted(set(paths)):
                entry = files.look(workspace.vault, path, workspace.settings.ignore)
                if entry is not None:
                    survey.present[path] = entry
                elif path in known:
                    survey.removed.append(path)
        for error in workspace.problems:
            survey.problems.setdefault(error.path or "", []).append(from_error(error, error.path or ""))
        for path, entry in survey.present.items():
            self._look(survey, entry, known.get(path))
        return survey

    def _look(self, survey: _Survey, entry: files.FileEntry, known: FileRecord | None) -> None:
        """Sort one file into new, changed, touched or unchanged."""
        # A file that could not be read has no hash; permissions change without moving its time.
        was_read = known is not None and bool(known.hash or entry.kind == "attachment")
        if known is not None and was_read and (known.size, known.mtime_ns) == (entry.size, entry.mtime_ns):
            survey.unchanged += 1
            return
        if entry.kind == "attachment":
            digest = ""
        else:
            try:
                content = read_bytes(self._workspace.vault / entry.path)
            except FileUnreadable as error:
                survey.problems.setdefault(entry.path, []).append(from_error(error, entry.path))
                if known is None:
                    survey.added.append(entry.path)
                    survey.hashes[entry.path] = ""
                else:
                    survey.unchanged += 1
                return
            digest = content_hash(content, str(READER_VERSION))
            if known is None or known.hash != digest:
                survey.content[entry.path] = content
        survey.hashes[entry.path] = digest
        if known is None:
            survey.added.append(entry.path)
        elif known.hash != digest:
            survey.changed.append(entry.path)
        else:
            survey.unchanged += 1
            survey.touched.append(
                FileRecord(
                    known.path, known.kind, entry.size, entry.mtime_ns, known.hash, known.entity_id,
                    known.uri, known.title, known.aliases, known.tags,
                )
            )  # fmt: skip

    def _guard(self, survey: _Survey, *, whole: bool) -> None:
        """A vanished vault deletes nothing (data-model.md section 3)."""
        known = len(self._workspace.files)
        gone = len(survey.removed)
        if not gone:
            return
        if whole and not survey.present:
            raise VaultUnavailable(
                f"All {known} files of the vault are gone.",
                "If that is meant, index with --accept-deletions; nothing was changed.",
            )
        disk = self._workspace.catalogue.state("disk")
        if disk is not None and disk != self._disk():
            raise VaultUnavailable(
                f"{gone} of {known} files are gone and the vault lies on another disk than before.",
                "If that is meant, index with --accept-deletions; nothing was changed.",
            )
        if known > _GUARDED and gone * 2 > known:
            raise VaultUnavailable(
                f"{gone} of {known} files of the vault are gone at once.",
                "If that is meant, index with --accept-deletions; nothing was changed.",
            )

    def _disk(self) -> str:
        """The file system that the vault lies on."""
        return str(self._workspace.vault.stat().st_dev)

    # -- stating -------------------------------------------------------------------------------

    def _register(self, survey: _Survey) -> None:
        """Make the paths and `uri:`s of this run known before anything is resolved."""
        known = self._workspace.files
        for path in survey.removed:
            del known[path]
        for record in survey.touched:
            known[record.path] = record
        for path in (*survey.added, *survey.changed):
            entry = survey.present[path]
            known[path] = FileRecord(
                path, entry.kind, entry.size, entry.mtime_ns, survey.hashes[path], entity_id(path),
                _declared_uri(path, survey.content.get(path, b"")) if entry.kind == "note" else None,
            )  # fmt: skip
        if survey.added or survey.removed or survey.changed:
            self._workspace.refresh_index()

    def _restated(self, survey: _Survey, before: dict[str, FileRecord], *, everything: bool) -> set[str]:
        """Notes that did not change and whose links could now resolve differently."""
        workspace = self._workspace
        fresh = {*survey.added, *survey.changed}
        if everything:
            return {p for p, record in workspace.files.items() if record.kind == "note"} - fresh
        moved = {*survey.added, *survey.removed}
        for path in survey.changed:
            if before[path].uri != workspace.files[path].uri:
                moved.add(path)
        keys = {path_key(path) for path in moved}
        found = workspace.catalogue.looking_up(keys) if keys else set()
        return {path for path in found if path in workspace.files} - fresh

    def _state(self, survey: _Survey, restated: set[str]) -> dict[str, _Stated]:
        """What the files say now, by path; their bytes and readings are let go one by one."""
        fresh = [path for path in (*survey.added, *survey.changed) if path in survey.content]
        todo = [*fresh, *sorted(restated)]
        found: dict[str, _Stated] = {}
        with _collector_resting(len(todo) >= _MANY):
            self._state_each(survey, todo, found)
        self._progress(len(todo), len(todo))
        return found

    def _state_each(self, survey: _Survey, todo: list[str], found: dict[str, _Stated]) -> None:
        workspace = self._workspace
        first = workspace.store.revision.number == 0
        for done, path in enumerate(todo):
            if done % 16 == 0:
                self._progress(done, len(todo))
            content = survey.content.pop(path, None)
            if content is None:
                try:
                    content = read_bytes(workspace.vault / path)
                except FileUnreadable as error:
                    survey.problems.setdefault(path, []).append(from_error(error, path))
                    continue
            statement = state_file(workspace, path, content)
            change = statement.change(() if first else workspace.store.triples(statement.graph))
            found[path] = change, statement.entry(workspace.files[path], survey.problems.pop(path, ()))

    # -- carrying out --------------------------------------------------------------------------

    def _carry_out(
        self, survey: _Survey, statements: dict[str, _Stated], before: dict[str, FileRecord], dry_run: bool
    ) -> tuple[IndexReport, ChangeSet | None]:
        workspace = self._workspace
        first = workspace.store.revision.number == 0
        update = Update(touched=survey.touched, removed=survey.removed)
        update.state["reading-stamp"] = workspace.reading_stamp
        update.state["disk"] = self._disk()
        made = FileProvenance(workspace, self._started)
        changes: list[GraphChange] = []
        restated: list[str] = []
        for path in (*survey.added, *survey.changed):
            if path not in statements:  # an attachment, or a file that may not be read
                problems = survey.problems.pop(path, ())
                update.written.append(FileEntry(workspace.files[path], diagnostics=problems))
        fresh = {*survey.added, *survey.changed}
        for path, (change, entry) in statements.items():
            if path in fresh:
                made.read(path, entry.record.hash, known=path in before)
            elif not change and list(entry.links) == workspace.catalogue.links(source=path):
                continue
            else:
                restated.append(path)
            workspace.files[path] = entry.record
            update.written.append(entry)
            changes.append(change)
        for path in survey.removed:
            if before[path].kind != "attachment":
                graph = workspace.identities.document(path)
                changes.append(GraphChange(graph, removed=frozenset(workspace.store.triples(graph))))
                made.gone(path)
        changeset = None
        if not dry_run:
            changeset = self._write(changes, update, made, first, _names(before) != _names(workspace.files))
            workspace.catalogue.replace_outer_diagnostics(survey.problems, _shared_uris(workspace), _SHARED)
        return self._report(survey, restated), changeset

    def _write(
        self, changes: list[GraphChange], update: Update, made: FileProvenance, first: bool, names_moved: bool
    ) -> ChangeSet:
        workspace = self._workspace
        ontologies, rows = ontology_changes(workspace, made.activity, everything=first)
        changes += ontologies
        changes.append(made.change(used=bool(ontologies)))
        positions: dict[str, int] | None = None
        grown = workspace.store.journal_positions() != workspace.journal.positions()
        if first or names_moved or grown:
            workspace.read_journal()
            changes += journal_changes(workspace, workspace.projection)
            positions = workspace.journal_positions
        changes = merged(changes)
        if first:
            graphs = {change.graph: change.added for change in changes}
            changeset = workspace.load(graphs, update, positions or {})
        else:
            changeset = workspace.commit(
                changes,
                update=update,
                journal=positions,
                files=[entry.record.path for entry in update.written],
                removed_files=update.removed,
            )
        workspace.catalogue.set_ontologies(rows)
        return changeset

    def _report(self, survey: _Survey, restated: list[str]) -> IndexReport:
        status = self._workspace.status()
        return IndexReport(
            status.notes,
            tuple(sorted(survey.added)),
            tuple(sorted(survey.changed)),
            tuple(sorted(restated)),
            tuple(sorted(survey.removed)),
            survey.unchanged - len(restated),
            status.facts,
            status.inferred,
            status.diagnostics,
            status.revision,
            round(time.perf_counter() - self._clock, 3),
        )


@contextmanager
def _collector_resting(wanted: bool) -> Iterator[None]:
    """Keep the cyclic garbage collector from running; other threads go on as they are."""
    resting = wanted and gc.isenabled()
    if resting:
        gc.disable()
    try:
        yield
    finally:
        if resting:
            gc.enable()


def _names(files: dict[str, FileRecord]) -> set[tuple[str, str | None]]:
    """What files there are that give an id another IRI than the one made from it."""
    return {
        (path, record.uri)
        for path, record in files.items()
        if record.uri is not None or record.kind == "attachment"
    }


def _shared_uris(workspace: Workspace) -> list[DiagnosticRecord]:
    """Notes that give one `uri:` are one entity, which may not be meant."""
    by_uri: dict[str, list[str]] = {}
    for path, uri in workspace.uris.items():
        by_uri.setdefault(uri, []).append(path)
    return [
        DiagnosticRecord(
            path, 1, 1, "warning", _SHARED,
            f"The uri {uri} is also that of {', '.join(sorted(set(paths) - {path}))}: they are one entity.",
            "Give each its own, or leave it so.",
        )
        for uri, paths in sorted(by_uri.items())
        if len(paths) > 1
        for path in sorted(paths)
    ]  # fmt: skip


def _is_below(path: str, unread: Sequence[str]) -> bool:
    """Whether a path is, or lies in, something that could not be looked at."""
    return any(path == other or path.startswith(other + "/") for other in unread)


def _declared_uri(path: str, content: bytes) -> str | None:
    """The `uri:` of a note, looked for only where one can be."""
    return read_note(path, content).uri if b"uri" in content[:65536].lower() else None

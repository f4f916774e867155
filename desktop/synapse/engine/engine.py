"""The face: one open vault and all that can be done with it.

Plain synchronous calls, safe from any thread. Writes run one at a time on the writer's thread and
return when they are durable; each publishes one ChangeSet. Reads run where they are called.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Literal as OneOf
from typing import ParamSpec, TypeVar

from synapse.engine.answering import Answers
from synapse.engine.asserting import Statement, assert_facts, try_facts
from synapse.engine.auditing import Audit
from synapse.engine.backlinking import BacklinksWriter
from synapse.engine.changes import ChangeSet
from synapse.engine.digesting import DigestWriter
from synapse.engine.errors import (
    NotFound,
    StoreCorrupt,
    SynapseError,
    VaultUnavailable,
)
from synapse.engine.indexing import Indexer, Progress
from synapse.engine.notes import watch
from synapse.engine.notes.files import atomic_write
from synapse.engine.notes.watching import SYNAPSE_FOLDER, expand
from synapse.engine.questions.results import (
    Asserted,
    BacklinksReport,
    CheckReport,
    IndexReport,
    Retracted,
    ScenarioState,
    Undone,
)
from synapse.engine.record import Agent, WrittenFact
from synapse.engine.recording import catch_up
from synapse.engine.retracting import retract_facts, undo_agent, would_undo
from synapse.engine.scenarios import available, load_scenario
from synapse.engine.settings import SETTINGS_PATH, Settings, load_settings, save_settings
from synapse.engine.sources import Places
from synapse.engine.vaults import Ownership, checked_vault, data_folder, this_device
from synapse.engine.workspace import Workspace

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")
Listener = Callable[[ChangeSet], None]
BacklinksMode = OneOf["preview", "write", "remove"]


class Engine(Answers):
    """One vault, owned by this process until `close`."""

    def __init__(self, vault: Path, data: Path, ownership: Ownership, device: str) -> None:
        self.vault = vault
        self.name = vault.name
        self._data = data
        self._device = device
        self._ownership = ownership
        self.recovered: str | None = None
        """Says where a corrupt store was put aside, for a person to read."""
        self._workspace = self._open_workspace()
        self._places = Places(self._workspace)
        self._writer = ThreadPoolExecutor(1, "synapse-writer")
        self._readers = ThreadPoolExecutor(4, "synapse-reader")
        self._writer_thread: int | None = None
        self._listeners: list[Listener] = []
        self._digest_writer = DigestWriter(vault, self.digest)
        self._closing = threading.Event()
        self._watcher: threading.Thread | None = None

    def _open_workspace(self) -> Workspace:
        try:
            workspace = Workspace(self.vault, self._data, self._device)
            if workspace.is_in_step:
                return workspace
            workspace.close()
            self._clear_derived()
        except StoreCorrupt as error:
            aside = self._put_aside()
            self.recovered = f"{error.message} It was put aside as {aside} and made anew from the vault."
        return Workspace(self.vault, self._data, self._device)

    def _put_aside(self) -> Path:
        number = 1
        while (aside := self._data / f"graph.corrupt-{number}").exists():
            number += 1
        os.rename(self._data / "graph", aside)
        self._clear_derived()
        return aside

    def _clear_derived(self) -> None:
        """Remove graph and catalogue; the next index makes them anew."""
        remove_derived(self._data)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What opening the vault found amiss and went on without, for a person to read."""
        journal = (f".synapse/journal/{warning}" for warning in self._workspace.journal_warnings)
        return (*([self.recovered] if self.recovered else []), *journal)

    @property
    def is_new(self) -> bool:
        """Whether the vault was never indexed on this machine, or not since its store was made anew."""
        return self._workspace.store.revision.number == 0

    # -- lifecycle and threads -----------------------------------------------------------------

    def close(self) -> None:
        """Finish the write under way, close the store and give the vault up. May be called twice."""
        if self._closing.is_set():
            return
        self._closing.set()
        if self._watcher is not None:
            self._watcher.join(timeout=5)
        self._readers.shutdown(wait=True, cancel_futures=True)
        self._writer.shutdown(wait=True, cancel_futures=True)
        self._digest_writer.finish()
        self._workspace.close()
        self._ownership.release()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def submit(self, function: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Run a call in the read pool of four, for whoever must not wait."""
        if self._closing.is_set():
            raise VaultUnavailable("The vault was closed.", "Open it again.")
        return self._readers.submit(function, *args, **kwargs)

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` on the writer's thread after each write; returns what ends that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def _write(self, function: Callable[[], T]) -> T:
        """Run on the writer's thread, directly where this is it."""
        if threading.get_ident() == self._writer_thread:
            return function()
        if self._closing.is_set():
            raise VaultUnavailable("The vault was closed.", "Open it again.")
        return self._writer.submit(self._as_writer, function).result()

    def _settled(self) -> Future[None]:
        if self._closing.is_set():
            raise VaultUnavailable("The vault was closed.", "Open it again.")
        return self._writer.submit(lambda: None)

    def _as_writer(self, function: Callable[[], T]) -> T:
        self._writer_thread = threading.get_ident()
        return function()

    def _publish(self, changeset: ChangeSet | None) -> None:
        if changeset is not None:
            self._digest_writer.changed()
            for listener in list(self._listeners):
                listener(changeset)

    def watch(self) -> None:
        """Follow the folder: files that others change are indexed as they change."""
        if self._watcher is None:
            self._watcher = threading.Thread(target=self._follow, name="synapse-watcher", daemon=True)
            self._watcher.start()

    def _follow(self) -> None:
        for told in watch(self.vault, self._closing, synapse=True):
            if self._closing.is_set():
                return
            workspace = self._workspace
            changed = [path for path in told if path.split("/", 1)[0] != SYNAPSE_FOLDER]
            try:
                if not told.isdisjoint((SETTINGS_PATH, SYNAPSE_FOLDER)):
                    self.reload_settings()
                files = workspace.published.files
                self.index(expand(self.vault, changed, files, workspace.settings.ignore))
            except SynapseError as error:
                if self._closing.is_set():
                    return
                # The vault vanished or the disk is full: what was not read is read with the next change.
                log.warning("%s could not be indexed: %s", self.vault, error)

    # -- writes --------------------------------------------------------------------------------

    def index(
        self,
        paths: Iterable[str] | None = None,
        *,
        progress: Progress | None = None,
        accept_deletions: bool = False,
        dry_run: bool = False,
    ) -> IndexReport:
        """Read what changed, state it, deduce. paths: vault-relative, None for the whole vault.

        Raises VaultUnavailable when the vault seems to have vanished, WriteFailed.
        """

        def work() -> IndexReport:
            indexer = Indexer(self._workspace, progress)
            report, changeset = indexer.run(paths, accept_deletions=accept_deletions, dry_run=dry_run)
            self._publish(changeset)
            return report

        return self._write(work)

    def assert_facts(
        self,
        facts: Sequence[WrittenFact],
        *,
        source: str,
        reason: str,
        agent: Agent | None = None,
        supersedes: Sequence[str] = (),
        idempotency_key: str | None = None,
        dry_run: bool = False,
    ) -> Asserted:
        """State facts, all or none, with where they come from and why.

        supersedes: ids of assertions that are withdrawn by this one. idempotency_key: the same agent's
        same call with the same key is answered again and states nothing new. dry_run: only say what
        would be stated and follow. Raises InvalidFact, InvalidId, NotFound, IdempotencyConflict,
        WriteFailed. When it returns, the facts survive a crash.
        """
        statement = Statement(facts, source, reason, agent, supersedes, idempotency_key)

        def work() -> Asserted:
            if dry_run:
                return try_facts(self._workspace, statement)
            self._publish(catch_up(self._workspace))
            result, changeset = assert_facts(self._workspace, statement)
            self._publish(changeset)
            return result

        return self._write(work)

    def retract_facts(
        self,
        *,
        assertion: str | None = None,
        facts: Sequence[WrittenFact] = (),
        reason: str,
        agent: Agent | None = None,
    ) -> Retracted:
        """Withdraw an assertion, or single facts from every assertion that states them.

        Raises RetractionRefused where no agent states a fact, naming the file and line to edit.
        """

        def work() -> Retracted:
            self._publish(catch_up(self._workspace))
            result, changeset = retract_facts(
                self._workspace, self._reader(), assertion, facts, reason, agent
            )
            self._publish(changeset)
            return result

        return self._write(work)

    def undo_agent(
        self, name: str, since: str | None = None, *, reason: str, dry_run: bool = False
    ) -> Undone:
        """Take back all that an agent wrote, from a moment on (UTC time as in the journal).

        What it stated is withdrawn, what it withdrew or superseded is stated again. dry_run: only say
        how much that is. Raises UsageError, WriteFailed.
        """

        def work() -> Undone:
            if dry_run:
                return would_undo(self._workspace, name, since)
            self._publish(catch_up(self._workspace))
            result, changeset = undo_agent(self._workspace, name, since, reason)
            self._publish(changeset)
            return result

        return self._write(work)

    def write_note(self, path: str, content: bytes, expected: bytes | None) -> IndexReport:
        """Save a note for a person and index it.

        expected: the bytes that were read, None for a new note. Raises FileChanged, WriteFailed.
        """

        def work() -> IndexReport:
            target = self._inside(path)
            if expected is None:
                target.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(target, content, expected)
            return self.index([path])

        return self._write(work)

    def backlinks(self, mode: BacklinksMode = "preview") -> BacklinksReport:
        """The generated sections of all notes: what would be written, write it, or take it out."""

        def work() -> BacklinksReport:
            report = BacklinksWriter(self._workspace, self._reader()).run(mode)
            if mode != "preview" and report.written:
                self.index(report.written)
            return report

        return self._write(work)

    def section_preview(self, path: str) -> tuple[bytes, bytes]:
        """A note's bytes as they are and as they would be with its section."""
        return self._ask(lambda reader: BacklinksWriter(self._workspace, reader).section(path))

    def check(self, repair: bool = False) -> CheckReport:
        """Compare graph, catalogue, journal and files with each other; mend what differs if asked."""

        def work() -> CheckReport:
            report, changeset = Audit(self._workspace).run(repair=repair)
            self._publish(changeset)
            return report

        return self._write(work)

    def rebuild(self, progress: Progress | None = None) -> IndexReport:
        """Make graph and catalogue anew from vault and journal; the history is kept."""

        def work() -> IndexReport:
            self._workspace.close()
            self._clear_derived()
            self._workspace = Workspace(self.vault, self._data, self._device)
            self._places = Places(self._workspace)
            return self.index(progress=progress, accept_deletions=True)

        return self._write(work)

    # -- settings and scenarios ----------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        return self._workspace.settings

    def change_setting(self, key: str, value: object) -> Settings:
        """Save one setting and index what it changes. Raises SettingsInvalid, WriteFailed."""

        def work() -> Settings:
            settings = self._workspace.settings.with_value(key, value)
            if settings == self._workspace.settings:
                return settings
            save_settings(self.vault, settings)
            self._apply(settings)
            return settings

        return self._write(work)

    def reload_settings(self) -> None:
        """Take over what another program wrote into the settings file."""

        def work() -> None:
            settings, problems = load_settings(self.vault)
            if settings != self._workspace.settings:
                self._apply(settings)
            self._workspace.problems[:] = problems

        self._write(work)

    def _apply(self, settings: Settings) -> None:
        before, workspace = self._workspace.settings, self._workspace
        if settings.base != before.base:
            self.rebuild()  # every IRI of the vault is another one now
            return
        workspace.apply_settings(settings)
        if (settings.profile, settings.domain_and_range) != (before.profile, before.domain_and_range):
            self._publish(workspace.reason_again())
        if (settings.scenarios, settings.context, settings.ignore) != (
            before.scenarios, before.context, before.ignore,
        ):  # fmt: skip
            self.index()

    def backlinks_policy(self) -> str:
        return self._workspace.settings.backlinks

    def set_backlinks_policy(self, policy: str) -> None:
        """`write`, `ask` or `off`. Raises SettingsInvalid."""
        self.change_setting("backlinks", policy)

    def scenarios(self) -> tuple[ScenarioState, ...]:
        """All scenarios that come with Synapse, and which are installed."""
        installed, rows = self._workspace.settings.scenarios, self._workspace.catalogue.ontologies()
        found = []
        for name in available():
            scenario = load_scenario(name)
            triples = sum(rows.get(file.graph.value, ("", 0))[1] for file in scenario.files)
            current = all(rows.get(file.graph.value, ("", 0))[0] == file.hash for file in scenario.files)
            state: OneOf["installed", "available", "outdated"] = (
                "available" if name not in installed else "installed" if current else "outdated"
            )
            found.append(ScenarioState(name, scenario.version, scenario.description, triples, state))
        return tuple(found)

    def add_scenario(self, name: str) -> tuple[ScenarioState, ...]:
        """Install a vocabulary. Raises NotFound."""
        load_scenario(name)
        installed = self._workspace.settings.scenarios
        if name not in installed:
            self.change_setting("scenarios", (*installed, name))
        return self.scenarios()

    def remove_scenario(self, name: str) -> tuple[ScenarioState, ...]:
        """Take a vocabulary out, with all that rested on it. Raises NotFound."""
        installed = self._workspace.settings.scenarios
        if name not in installed:
            raise NotFound(f"The scenario {name!r} is not installed.", "See `synapse scenarios list VAULT`.")
        self.change_setting("scenarios", tuple(other for other in installed if other != name))
        return self.scenarios()


def remove_derived(data: Path) -> None:
    """Remove the graph and the catalogue of a vault, not its history."""
    import shutil

    for path in (data / "graph", *data.glob("catalogue.sqlite*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def open_vault(
    path: str | os.PathLike[str], data_root: Path | None = None, *, role: str = "another command"
) -> Engine:
    """Open the vault in a folder; nothing is written into it.

    data_root: the folder for derived data of all vaults, by default the user's. role: what this
    process is, for the message to whoever opens the vault a second time. Call `index` next.
    Raises VaultUnavailable, VaultLocked. A corrupt store is put aside and made anew.
    """
    vault = checked_vault(Path(path))
    data = data_folder(vault, data_root)
    ownership = Ownership(vault, data, role)
    try:
        return Engine(vault, data, ownership, this_device(data_root))
    except BaseException:
        ownership.release()
        raise

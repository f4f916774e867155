"""Keeping the graph in step with the folder, and the backlinks sections with the graph."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from synapse.engine.errors import QueryStopped, SectionRefused
from synapse.engine.questions.results import BacklinksReport, IndexReport
from synapse.window.diff_view import Versions
from synapse.window.session import Session, in_words

if TYPE_CHECKING:
    from synapse.engine import Engine

PROGRESS_EVERY = 0.05
"""Seconds between two reports of progress."""
SETTLE_MS = 3000
RETRY_MS = 35_000
"""The engine leaves notes alone for 30 s after they changed; then it is asked again."""
MOST_PREVIEWED = 500


class IndexKeeper(QObject):
    """Indexes the vault when it is opened, then follows the folder."""

    finished = Signal(object)
    """The IndexReport of the first index."""
    stopped = Signal()
    failed = Signal(str, str)

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._stop = threading.Event()
        self._last = 0.0
        self.is_running = False

    @Slot()
    def start(self) -> None:
        """Read the whole vault; what has not changed is skipped."""
        if self.is_running:
            return
        self.is_running = True
        self._stop = threading.Event()
        self._session.run(
            self._session.engine.index, progress=self._progress, done=self._done, failed=self._failed
        )

    @Slot()
    def stop(self) -> None:
        """Give the index up; nothing of it is kept, the next start begins again."""
        self._stop.set()

    def _progress(self, done: int, total: int) -> None:
        """On the writer's thread."""
        if self._stop.is_set():
            raise QueryStopped("The index was stopped.", "Start it again from the Vault menu.")
        now = time.monotonic()
        if done >= total or now - self._last >= PROGRESS_EVERY:
            self._last = now
            self._session.announce_indexing(done, total)

    @Slot(object)
    def _done(self, report: IndexReport) -> None:
        self.is_running = False
        self._session.indexing.emit(0, 0)
        self._session.refresh_status()
        self._session.run(self._session.engine.watch)
        self.finished.emit(report)

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.is_running = False
        self._session.indexing.emit(0, 0)
        if isinstance(error, QueryStopped):
            self.stopped.emit()
        else:
            self.failed.emit(*in_words(error))


class BacklinksKeeper(QObject):
    """Asks once whether sections are written, and writes them where they are wanted."""

    asking = Signal(object)
    """A BacklinksReport: what would be written, for a person to decide."""
    wrote = Signal(object)
    previewed = Signal(object)
    """Versions of each note that would change."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.write_if_wanted)
        self._started = False
        self._writing = False
        self._seconds = 0.0

    @Slot()
    def start(self) -> None:
        """The vault is indexed: look at its policy."""
        self._started = True
        self._session.changed.connect(self._changed)
        self._session.run(_policy_and_preview, self._session.engine, done=self._policy_arrived)

    @Slot(object)
    def _policy_arrived(self, found: tuple[str, BacklinksReport | None]) -> None:
        policy, report = found
        if policy == "write":
            self.write_if_wanted()
        elif report is not None and report.written:
            self.asking.emit(report)

    @Slot(object)
    def _changed(self, _change: object) -> None:
        # Every pass looks at all notes, so a large vault is given more quiet between two.
        self._timer.start(max(SETTLE_MS, int(self._seconds * 20_000)))

    @Slot()
    def write_if_wanted(self) -> None:
        if not self._writing:
            self._writing = True
            engine = self._session.engine
            self._session.run(_write_if_wanted, engine, done=self._written, failed=self._not_written)

    @Slot(object)
    def _written(self, found: tuple[BacklinksReport | None, float]) -> None:
        self._writing = False
        report, self._seconds = found
        if report is None:
            return
        if report.skipped and not self._timer.isActive():
            self._timer.start(RETRY_MS)
        self.wrote.emit(report)

    @Slot(object)
    def _not_written(self, error: BaseException) -> None:
        self._writing = False
        self._session.problem.emit(*in_words(error))

    def decide(self, policy: str) -> None:
        """A person's answer: `write` or `off`."""
        self._session.run(self._session.engine.set_backlinks_policy, policy, done=self._decided)

    @Slot(object)
    def _decided(self, _nothing: object) -> None:
        self.write_if_wanted()

    def preview(self, report: BacklinksReport) -> None:
        """Work out what would change; `previewed` follows."""
        paths = report.written[:MOST_PREVIEWED]
        self._session.run(_versions, self._session.engine, paths, done=self._versions_found)

    @Slot(object)
    def _versions_found(self, versions: list[Versions]) -> None:
        self.previewed.emit(versions)


def _policy_and_preview(engine: Engine) -> tuple[str, BacklinksReport | None]:
    policy = engine.backlinks_policy()
    return policy, engine.backlinks("preview") if policy == "ask" else None


def _write_if_wanted(engine: Engine) -> tuple[BacklinksReport | None, float]:
    if engine.backlinks_policy() != "write":
        return None, 0.0
    started = time.perf_counter()
    return engine.backlinks("write"), time.perf_counter() - started


def _versions(engine: Engine, paths: tuple[str, ...]) -> list[Versions]:
    found = []
    for path in paths:
        try:
            before, after = engine.section_preview(path)
        except SectionRefused:
            continue
        found.append(Versions(path, before.decode("utf-8", "replace"), after.decode("utf-8", "replace")))
    return found

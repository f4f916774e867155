"""Keeps up with the agents of the open vault, and does what a person decides about them.

News come from the owner (who came, went, called), from the engine's writes and from the file of the
registry, which the command line may change; nobody asks again and again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import shiboken6
from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal, Slot

from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.engine.questions.results import Undone
from synapse.window.agents.state import AgentsState, AgentState, gather
from synapse.window.session import Session, Task, in_words

SETTLE_MS = 120
"""News that follow each other this fast are one reason to ask again."""


class AgentsKeeper(QObject):
    """The agents of one vault as the window sees them."""

    changed = Signal(object)
    """The new AgentsState."""
    problem = Signal(str, str)
    """Something that was asked for did not work: what happened, what to do."""
    tokenIssued = Signal(str, str)
    """A name, and the token that proves it; shown this once."""
    wouldUndo = Signal(object, str)
    """Undone as it would be, and the UTC time since when ("" is everything)."""
    undone = Signal(object)
    _news = Signal()

    def __init__(
        self, session: Session, owner: Owner | None, registry: Registry, parent: QObject | None = None
    ) -> None:
        """owner: None where the vault cannot be served; then nobody is attached."""
        super().__init__(parent)
        self.session = session
        self.owner = owner
        self.registry = registry
        self.state = AgentsState()
        self._lock = threading.Lock()
        self._closed = False
        self._task: Task | None = None
        self._stale = False
        self._since = ""
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self._ask)
        self._news.connect(self.refresh)
        session.changed.connect(self.refresh)
        # The folder, not the file: what is replaced is not the file that was watched.
        self._watcher = QFileSystemWatcher(self)
        self._watcher.directoryChanged.connect(self.refresh)
        folder = registry.file.parent
        if folder.is_dir():
            self._watcher.addPath(str(folder))
        self._unsubscribe: Callable[[], None] | None = None
        self.set_owner(owner)

    @Slot(object)
    def set_owner(self, owner: Owner | None) -> None:
        """Another owner serves the vault from now on."""
        if self._unsubscribe is not None:
            self._unsubscribe()
        self.owner = owner
        self._unsubscribe = owner.subscribe(self._on_agents_thread) if owner is not None else None
        self._ask()

    def _on_agents_thread(self) -> None:
        with self._lock:
            if not self._closed and shiboken6.isValid(self):
                self._news.emit()

    @Slot()
    def refresh(self) -> None:
        """Something changed; ask when it has settled."""
        if not self._settle.isActive():
            self._settle.start()

    @Slot()
    def _ask(self) -> None:
        if self._task is not None and not self._task.finished:
            self._stale = True  # its answer may be from before the news
            return
        self._stale = False
        self._task = self.session.run(
            gather,
            self.session.engine,
            self.owner,
            self.registry,
            done=self._arrived,
            failed=self._not_gathered,
        )

    @Slot(object)
    def _arrived(self, state: AgentsState) -> None:
        folder = str(self.registry.file.parent)
        if folder not in self._watcher.directories() and Path(folder).is_dir():
            self._watcher.addPath(folder)
        if state != self.state:
            self.state = state
            self.changed.emit(state)
        if self._stale:
            self.refresh()

    @Slot(object)
    def _not_gathered(self, error: BaseException) -> None:
        self.problem.emit(*in_words(error))

    # -- what a person decides -----------------------------------------------------------------------

    def allow(self, name: str) -> None:
        """Let an agent write."""
        self._act(self.registry.allow, name)

    def pause(self, name: str) -> None:
        self._act(self.registry.pause, name)

    def resume(self, name: str) -> None:
        self._act(self.registry.resume, name)

    def revoke(self, agent: AgentState) -> None:
        """Let an agent do nothing any more, and hang up on it."""
        self._act(_revoke, self.registry, self.owner, agent)

    def issue_token(self, name: str) -> None:
        """`tokenIssued` follows."""
        self.session.run(_issue, self.registry, name, done=self._issued, failed=self._failed)

    def preview_undo(self, name: str, since: str) -> None:
        """Say how much an undo would take back; `wouldUndo` follows."""
        self._since = since
        self.session.run(
            self.session.engine.undo_agent,
            name,
            since or None,
            reason=_REASON,
            dry_run=True,
            done=self._previewed,
            failed=self._failed,
        )

    def undo(self, name: str, since: str) -> None:
        """Take back what an agent wrote since a UTC time, "" for everything; `undone` follows."""
        self.session.run(
            self.session.engine.undo_agent,
            name,
            since or None,
            reason=_REASON,
            done=self._undid,
            failed=self._failed,
        )

    def _act(self, act: Callable[..., None], *args: object) -> None:
        self.session.run(act, *args, done=self._acted, failed=self._failed)

    @Slot(object)
    def _acted(self, _nothing: object) -> None:
        self._ask()

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.problem.emit(*in_words(error))

    @Slot(object)
    def _issued(self, issued: tuple[str, str]) -> None:
        self.tokenIssued.emit(*issued)
        self._ask()

    @Slot(object)
    def _previewed(self, undone: Undone) -> None:
        self.wouldUndo.emit(undone, self._since)

    @Slot(object)
    def _undid(self, undone: Undone) -> None:
        self.undone.emit(undone)
        self._ask()

    def close(self) -> None:
        """Hear no more; call it before the owner closes."""
        with self._lock:
            self._closed = True
        if self._unsubscribe is not None:
            self._unsubscribe()
        self._settle.stop()


_REASON = "Undone by the person in the window."


def _revoke(registry: Registry, owner: Owner | None, agent: AgentState) -> None:
    registry.revoke(agent.name)
    if owner is not None:
        for one in owner.attached():
            if one.name == agent.name and one.protocol == "mcp":
                owner.detach(one.id)


def _issue(registry: Registry, name: str) -> tuple[str, str]:
    shown = " ".join(name.split())
    return shown, registry.add(shown)

"""Opening, serving and closing a vault without holding up the window.

Opening takes the vault over from a headless owner; while it is open it is served to agents. The
order at the end: stop accepting and fail calls (`stop_serving`), the editors are saved, the engine
closes (`close`), and then, where a person wants it, a headless owner goes on.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot

from synapse.agents.owner import Owner
from synapse.agents.registry import Registry
from synapse.agents.taking_over import leave_stopped, open_taking_over, serve_after_all, serve_in_background
from synapse.engine import Engine
from synapse.engine.errors import SynapseError, WriteFailed
from synapse.engine.vaults import create_vault, remember_vault
from synapse.window.session import Runner

log = logging.getLogger(__name__)

ROLE = "Synapse's window"
After = Literal["", "keep", "stop"]
"""What becomes of agents when the vault is closed here: nothing is done about them, they are served
in the background, or no more."""

SHUTDOWN = 5.0
"""Seconds that the end of the program waits for the vault to close."""


class VaultHost(QObject):
    """Holds the engine and the owner of the open vault; at most one is open, or on its way, at a time."""

    opened = Signal(object)
    """The Engine."""
    failed = Signal(object)
    """Why the vault did not open."""
    takingOver = Signal()
    """A headless owner has the vault and was asked for it."""
    quiet = Signal()
    """After `stop_serving`: no agent is attached, and none can attach."""
    served = Signal(object)
    """After `serve_again`: the new Owner, or None."""
    closed = Signal()

    def __init__(
        self,
        parent: QObject | None = None,
        data_root: Path | None = None,
        registry: Registry | None = None,
    ) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(1, "synapse-opener")
        self._runner = Runner(self._pool, self)
        self._data_root = data_root
        self._holding = _Holding(registry or Registry())
        self.engine: Engine | None = None

    @property
    def registry(self) -> Registry:
        return self._holding.registry

    @property
    def owner(self) -> Owner | None:
        """Serves the open vault to agents; None where it cannot be served."""
        return self._holding.owner

    @property
    def unserved(self) -> SynapseError | None:
        """Why the open vault is not served to agents."""
        return self._holding.unserved

    def open(self, vault: Path, *, create: bool = False) -> None:
        """Open a vault. create: make a new one there first."""
        self._runner.run(
            self._holding.open,
            vault,
            create,
            self._data_root,
            self.takingOver.emit,
            done=self._opened,
            failed=self._failed,
        )

    @Slot(object)
    def _opened(self, engine: Engine) -> None:
        self.engine = engine
        self.opened.emit(engine)

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.failed.emit(error)

    def indexed(self) -> None:
        """The vault has been read for the first time, well or badly: agents' calls wait no more."""
        self._holding.indexed()

    def stop_serving(self, after: After = "") -> None:
        """Fail agents' calls and hang up; `quiet` follows. after: `stop` keeps bridges from starting
        an owner of their own."""
        self._runner.run(self._holding.stop_serving, after, done=self._quiet)

    @Slot(object)
    def _quiet(self, _nothing: object) -> None:
        self.quiet.emit()

    def serve_again(self) -> None:
        """The vault stays open after all; `served` follows."""
        self._runner.run(self._holding.serve, done=self._served)

    @Slot(object)
    def _served(self, owner: Owner | None) -> None:
        self.served.emit(owner)

    def close(self) -> None:
        """Close the vault, and then do what `stop_serving` was told; `closed` follows."""
        self.engine = None
        self._runner.run(self._holding.close, done=self._closed, failed=self._not_closed)

    @Slot(object)
    def _closed(self, _nothing: object) -> None:
        self.closed.emit()

    @Slot(object)
    def _not_closed(self, error: BaseException) -> None:
        log.warning("the vault did not close well: %s", error)
        self.closed.emit()

    def shut_down(self) -> bool:
        """Close everything now, at the end of the program. Waits `SHUTDOWN` seconds at most; False
        where something had not ended by then."""
        self._runner.close()
        self.engine = None
        try:
            last = self._pool.submit(self._holding.close)
        except RuntimeError:  # shut down before
            return True
        self._pool.shutdown(wait=False)
        try:
            last.result(SHUTDOWN)
        except TimeoutError:
            return False
        except SynapseError as error:
            log.warning("the vault did not close well: %s", error)
        self._pool.shutdown(wait=True)
        return True


class _Holding:
    """What is open. Its calls run one at a time on the opener's thread."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self.owner: Owner | None = None
        self.unserved: SynapseError | None = None
        self._engine: Engine | None = None
        self._first_index: Future[None] = Future()
        self._lock = threading.Lock()
        self._after: After = ""

    def open(
        self, vault: Path, create: bool, data_root: Path | None, taking_over: Callable[[], object]
    ) -> Engine:
        if create:
            create_vault(vault)
        engine = open_taking_over(vault, data_root, role=ROLE, asking=taking_over)
        remember_vault(engine.vault)
        self._engine, self._first_index = engine, Future()
        self.serve()
        return engine

    def serve(self) -> Owner | None:
        self._after = ""
        if self._engine is None:
            return None
        serve_after_all(self._engine.vault)
        try:
            self.owner, self.unserved = (
                Owner(self._engine, "window", self.registry, first_index=self._first_index),
                None,
            )
        except WriteFailed as error:
            self.owner, self.unserved = None, error
        return self.owner

    def indexed(self) -> None:
        with self._lock:
            if not self._first_index.done():
                self._first_index.set_result(None)
                # What is loaded by now stays; going through it again and again would hold the window
                # up for 100 ms each time (measured).
                gc.freeze()

    def stop_serving(self, after: After) -> None:
        self._after = after
        if after == "stop" and self._engine is not None:
            # Before they are hung up on: a bridge starts an owner at once where none answers.
            try:
                leave_stopped(self._engine.vault)
            except WriteFailed as error:
                log.warning("%s", error)
        self._quiet()

    def _quiet(self) -> None:
        owner, self.owner = self.owner, None
        if owner is not None:
            owner.close()

    def close(self) -> None:
        self._quiet()
        engine, self._engine = self._engine, None
        after, self._after = self._after, ""
        if engine is None:
            return
        gc.unfreeze()  # the store looks for what still holds it
        engine.close()
        if after == "keep":
            with suppress(WriteFailed):  # its bridges start one themselves
                serve_in_background(engine.vault)

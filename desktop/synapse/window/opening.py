"""Opening and closing a vault without holding up the window."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from synapse.engine import Engine, open_vault
from synapse.engine.vaults import create_vault, remember_vault
from synapse.window.session import Runner


class VaultHost(QObject):
    """Holds the engine of the open vault; at most one is open, or on its way, at a time."""

    opened = Signal(object)
    """The Engine."""
    failed = Signal(object)
    """Why the vault did not open."""
    closed = Signal()

    def __init__(self, parent: QObject | None = None, data_root: Path | None = None) -> None:
        super().__init__(parent)
        self._pool = ThreadPoolExecutor(1, "synapse-opener")
        self._runner = Runner(self._pool, self)
        self._data_root = data_root
        self.engine: Engine | None = None

    def open(self, vault: Path, *, create: bool = False) -> None:
        """Open a vault. create: make a new one there first."""
        self._runner.run(_open, vault, create, self._data_root, done=self._opened, failed=self._failed)

    @Slot(object)
    def _opened(self, engine: Engine) -> None:
        self.engine = engine
        self.opened.emit(engine)

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self.failed.emit(error)

    def close(self) -> None:
        """Close the vault; `closed` follows."""
        engine, self.engine = self.engine, None
        self._runner.run(_close, engine, done=self._closed)

    @Slot(object)
    def _closed(self, _nothing: object) -> None:
        self.closed.emit()

    def shut_down(self) -> None:
        """Close everything now, at the end of the program; waits."""
        self._runner.close()
        self._pool.shutdown(wait=True)
        engine, self.engine = self.engine, None
        _close(engine)


def _open(vault: Path, create: bool, data_root: Path | None) -> Engine:
    if create:
        create_vault(vault)
    engine = open_vault(vault, data_root, role="Synapse's window")
    remember_vault(engine.vault)
    return engine


def _close(engine: Engine | None) -> None:
    if engine is not None:
        engine.close()


"""`.synapse/DIGEST.md`: the digest as a file, for whoever begins by reading it (data-model.md section 7).

Written only into a vault that has a `.synapse` folder, only if its text changed, at most every 10 s.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from synapse.engine.errors import SynapseError, VaultUnavailable
from synapse.engine.notes.files import atomic_write

log = logging.getLogger(__name__)

EVERY = 10.0
"""Seconds between two writings."""


class DigestWriter:
    """Keeps the file in line with what `make` returns, some seconds after the last change."""

    def __init__(self, vault: Path, make: Callable[[], str]) -> None:
        self._folder = vault / ".synapse"
        self._make = make
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._last: threading.Timer | None = None
        self._missed = False
        """The vault began to close while the digest was made: `finish` makes it."""

    def changed(self) -> None:
        """The graph changed: write within 10 s, once for all changes until then."""
        with self._lock:
            if self._timer is None and self._folder.is_dir():
                self._timer = self._last = threading.Timer(EVERY, self._due)
                self._timer.daemon = True
                self._timer.start()

    def finish(self) -> None:
        """Write at once what is due; nothing is written afterwards."""
        with self._lock:
            timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if self._last is not None:
            self._last.join(EVERY)  # it may be at work, and the store is closed next
        if timer is not None or self._missed:
            self._write()

    def _due(self) -> None:
        with self._lock:
            if self._timer is None:
                return  # `finish` does it
            self._timer = None
        self._write()

    def _write(self) -> None:
        self._missed = False
        path = self._folder / "DIGEST.md"
        try:
            text = self._make().encode("utf-8")
            before = path.read_bytes() if path.exists() else None
            if text != before:
                atomic_write(path, text, before)
        except VaultUnavailable:
            self._missed = True
        except (OSError, SynapseError) as error:
            # Whoever closes or saves must not fail for it; the next change tries again.
            log.warning("the digest could not be written: %s", error)

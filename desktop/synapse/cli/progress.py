"""A progress bar on standard error, where that is a terminal."""

from __future__ import annotations

import shutil
import sys
import time
from types import TracebackType

_EVERY = 0.1
"""Seconds between two drawings."""


class ProgressBar:
    """Draws "done of total"; shows nothing for work that ends at once."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._last = time.monotonic()
        self._drawn = False

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._enabled or now - self._last < _EVERY or total == 0:
            return
        self._last, self._drawn = now, True
        room = max(10, min(40, shutil.get_terminal_size().columns - 30))
        filled = room * done // total
        sys.stderr.write(f"\r[{'#' * filled}{'.' * (room - filled)}] {done:,} of {total:,} files")
        sys.stderr.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

"""Opening the database, and proving that it is closed."""

from __future__ import annotations

import gc
import re
import time
import traceback
from pathlib import Path
from typing import Final

from pyoxigraph import Store

from synapse.engine.errors import StoreCorrupt, VaultLocked, VaultUnavailable
from synapse.engine.graph.seal import check_seal

WAIT: Final = 2.0
"""Seconds that closing and reopening wait for reads under way."""

_UNREADABLE = re.compile(r"corrupt|not a directory|no such file|mismatch|does not exist|invalid", re.I)


def open_database(folder: Path) -> Store:
    """Opens or makes the database. Raises VaultLocked, StoreCorrupt or VaultUnavailable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        check_seal(folder)
        opened = Store(folder)
    except RuntimeError as error:
        raise corrupt(error) from error
    except OSError as error:
        message = first_line(error)
        if "lock" in message.lower():
            raise VaultLocked(
                "Another Synapse holds this vault's store.", "Close it there, or use that window."
            ) from error
        if _UNREADABLE.search(message):
            raise corrupt(error) from error
        raise VaultUnavailable(f"The store cannot be opened: {message}.", "Check the data folder.") from error
    # RocksDB keeps the log of each of the last thousand openings, some 130 kB each.
    for old in folder.glob("LOG.old.*"):
        old.unlink(missing_ok=True)
    return opened


def lock_is_free(folder: Path) -> bool:
    """Whether the database's lock can be taken, waiting a little for the last reader to go."""
    deadline = time.monotonic() + WAIT
    while True:
        try:
            opened = Store(folder)
        except (OSError, RuntimeError) as error:
            if "lock" not in str(error).lower():
                return True
            if time.monotonic() > deadline:
                return False
            gc.collect()
            time.sleep(0.02)
        else:
            del opened
            return True


def let_go(error: BaseException | None, handled: BaseException | None) -> None:
    """Empties the frames that an error remembers, so that none of them keeps the database open.

    handled: what the caller was already dealing with; its frames are left alone.
    """
    while error is not None and error is not handled:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__


def corrupt(error: Exception) -> StoreCorrupt:
    """The error for a database that cannot be read. pyoxigraph raises RuntimeError for corruption."""
    return StoreCorrupt(f"The store cannot be read: {first_line(error)}.", "It is rebuilt from the vault.")


def first_line(error: Exception) -> str:
    """What the system or RocksDB says, short."""
    return str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__

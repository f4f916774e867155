"""A person chose not to serve a vault when its window closed: bridges start no owner for it then."""

from __future__ import annotations

import contextlib
import os

from synapse.bridge import discovery, places


def stopped_path(vault: str | os.PathLike[str]) -> str:
    """The file whose presence says so."""
    return os.path.join(discovery.run_folder(), f"{places.vault_key(vault)}.stopped")


def is_stopped(vault: str | os.PathLike[str]) -> bool:
    """Whether a person stopped serving this vault and nobody opened it since."""
    return os.path.exists(stopped_path(vault))


def mark(vault: str | os.PathLike[str]) -> None:
    """Remember that a person stopped serving this vault. Raises OSError."""
    os.makedirs(discovery.run_folder(), mode=0o700, exist_ok=True)
    os.close(os.open(stopped_path(vault), os.O_WRONLY | os.O_CREAT, 0o600))


def forget(vault: str | os.PathLike[str]) -> None:
    """The vault is served again. Raises OSError."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(stopped_path(vault))

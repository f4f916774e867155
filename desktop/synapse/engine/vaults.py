"""Where a vault's derived data live, who owns them, and how a new vault begins."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_config_path, user_data_path, user_documents_path

from synapse.engine.errors import VaultLocked, VaultUnavailable, WriteFailed
from synapse.engine.record import device_id
from synapse.engine.settings import Settings, save_settings
from synapse.engine.shipped import resource_folder

APPLICATION = "synapse"


def user_data_folder() -> Path:
    """The folder of this user's derived data on this machine."""
    return user_data_path(APPLICATION, appauthor=False)


def data_folder(vault: Path, root: Path | None = None) -> Path:
    """The folder for one vault's graph, catalogue and history, keyed by the vault's real path."""
    key = sha256(os.fsencode(os.path.realpath(vault))).hexdigest()[:16]
    return (root or user_data_folder()) / "vaults" / key


def this_device(root: Path | None = None) -> str:
    """The id under which this machine writes journals."""
    return device_id(root or user_data_folder())


class Ownership:
    """The right to a vault's store: one process at a time, held for its life (agents.md, "The owner")."""

    def __init__(self, vault: Path, data: Path, role: str) -> None:
        """role: what this process is to a person, for whoever comes second.

        Raises VaultLocked, naming the process that holds the vault.
        """
        try:
            data.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise WriteFailed(
                f"The data folder {data} cannot be made: {error.strerror}.", "Check its permissions."
            ) from error
        self._note = data / "owner.json"
        # Not per thread: a window opens a vault on one thread and closes it on another.
        self._lock = FileLock(data / "owner.lock", mode=0o600, thread_local=False)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise VaultLocked(
                f"The vault {vault} is open in {self._holder()}.", "Use it there, or close it first."
            ) from error
        except OSError as error:
            raise WriteFailed(
                f"The lock in {data} cannot be taken: {error.strerror}.", "Check its permissions."
            ) from error
        self._note.write_text(json.dumps({"pid": os.getpid(), "role": role}), encoding="utf-8")

    def _holder(self) -> str:
        try:
            read = json.loads(self._note.read_text(encoding="utf-8"))
            return f"{read['role']} (process {read['pid']})"
        except (OSError, ValueError, KeyError, TypeError):
            return "another process"

    def release(self) -> None:
        self._note.unlink(missing_ok=True)
        self._lock.release()


def checked_vault(path: Path) -> Path:
    """The vault's folder, resolved. Raises VaultUnavailable."""
    try:
        folder = path.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise VaultUnavailable(f"There is no folder {path}.", "Check the path, or mount the disk.") from error
    if not folder.is_dir():
        raise VaultUnavailable(f"{path} is not a folder.", "Give the folder that holds the notes.")
    return folder


def create_vault(folder: Path) -> None:
    """A new, empty vault: Synapse made it, so backlinks are written without asking.

    Raises WriteFailed where something is there already.
    """
    try:
        folder.mkdir(parents=True)
        save_settings(folder, Settings(backlinks="write"))
    except OSError as error:
        raise WriteFailed(f"{folder} cannot be made: {error.strerror}.", "Choose another place.") from error


def create_sample_vault(folder: Path) -> None:
    """A copy of the sample vault. Raises WriteFailed where something is there already."""
    try:
        shutil.copytree(resource_folder() / "sample-vault", folder)
        save_settings(folder, Settings(backlinks="write"))
    except (OSError, shutil.Error) as error:
        raise WriteFailed(f"{folder} cannot be made: {error.strerror}.", "Choose another place.") from error


# -- the vaults a person works with --------------------------------------------------------------

_MOST_RECENT = 10


def _recent_file() -> Path:
    return user_config_path(APPLICATION, appauthor=False) / "vaults.json"


def recent_vaults() -> list[Path]:
    """The vaults that this user opened in the window, the last first; those that are gone left out."""
    try:
        read = json.loads(_recent_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    paths = [Path(item) for item in read if isinstance(item, str)] if isinstance(read, list) else []
    return [path for path in paths if path.is_dir()]


def remember_vault(vault: Path) -> None:
    """Put a vault first among the recent ones. A disk that refuses costs only the memory of it."""
    paths = [str(vault), *(str(path) for path in recent_vaults() if path != vault)]
    file = _recent_file()
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary = file.with_suffix(".tmp")
        temporary.write_text(json.dumps(paths[:_MOST_RECENT]), encoding="utf-8")
        os.replace(temporary, file)


def first_vault() -> Path:
    """The vault to open where none is named: the last one, the first time a copy of the sample vault.

    Raises WriteFailed where the copy cannot be made; a folder that is there is never overwritten.
    """
    for path in recent_vaults():
        return path
    folder = user_documents_path() / "Synapse" / "Sample vault"
    if not folder.exists():
        create_sample_vault(folder)
    return folder

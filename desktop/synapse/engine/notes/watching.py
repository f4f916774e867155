"""Telling what changed in a vault's folder while it is open."""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from watchfiles import watch as watch_files

from synapse.engine.errors import VaultUnavailable
from synapse.engine.notes.atomic import is_temporary
from synapse.engine.notes.files import Ignore, scan

log = logging.getLogger(__name__)

WHOLE_VAULT = ""
"""In a set of changes: anything may have changed, scan again."""

SYNAPSE_FOLDER = ".synapse"
JOURNAL_FOLDER = ".synapse/journal"
SETTINGS_FILE = ".synapse/settings.json"

_GROUP_MS = 300  # the longest time that changes are collected: seen within a second
_QUIET_MS = 50
_POLL_SECONDS = 1.0
_POLL_SHARE = 10  # a scan of a large vault may take at most a tenth of the time
_REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "vboxsf"}


def watch(
    vault: Path, stop: threading.Event, *, synapse: bool = False, polling: bool | None = None
) -> Iterator[set[str]]:
    """Yields sets of changed vault-relative paths until `stop` is set.

    A folder's name stands for all that is in it (a renamed folder can be one change); WHOLE_VAULT
    stands for everything, when the vault's folder went away or came back or the way of watching
    changed; `expand` makes files of both. Dot folders, dot files and our own temporary files are
    left out; with `synapse`, the vault's journal files, settings and their folders
    are told of too.
    polling: None watches by the system's notifications and polls where there are none: on network
    file systems, or past the system's limit of watches.
    """
    root = Path(os.path.realpath(vault))
    poll = is_remote(root) if polling is None else polling
    while not stop.is_set():
        if poll:
            yield from _polled(root, stop, synapse)
        else:
            try:
                yield from _notified(root, stop, synapse)
            except (OSError, RuntimeError) as error:
                # watchfiles: OSError for limits and permissions, WatchfilesRustInternalError otherwise
                if root.is_dir():
                    log.warning("watching %s by notifications failed (%s); polling instead", root.name, error)
                    poll = True
        if not stop.is_set():
            yield {WHOLE_VAULT}
        while not stop.is_set() and not root.is_dir():
            stop.wait(0.3)
            if root.is_dir():
                yield {WHOLE_VAULT}


def expand(
    vault: Path, paths: Iterable[str], known: Collection[str], ignore: Ignore | Sequence[str] = ()
) -> set[str] | None:
    """The files that a set of changes from `watch` is about; None for the whole vault.

    known: the vault-relative paths of the files known before, so that a folder that went away
    stands for all that was in it.
    """
    found: set[str] = set()
    folders: list[str] = []
    for path in paths:
        if path == WHOLE_VAULT:
            return None
        if path in known or (vault / path).is_file():
            found.add(path)
        else:
            folders.append(path + "/")
    if folders:
        below = tuple(folders)
        found.update(path for path in known if path.startswith(below))
        if any((vault / folder).is_dir() for folder in folders):
            found.update(entry.path for entry in scan(vault, ignore).files if entry.path.startswith(below))
    return found


def _notified(root: Path, stop: threading.Event, synapse: bool) -> Iterator[set[str]]:
    """Changes as the system tells them; ends when the root itself is gone."""
    identity = _identity(root)
    for changes in watch_files(
        root,
        watch_filter=lambda _, path: _told(_relative(root, path), synapse),
        debounce=_GROUP_MS,
        step=_QUIET_MS,
        rust_timeout=1000,
        yield_on_timeout=True,
        stop_event=stop,
        raise_interrupt=False,
        force_polling=False,
        ignore_permission_denied=True,
    ):
        paths = {path for _, changed in changes if (path := _relative(root, changed)) is not None}
        if paths:
            yield paths
        # Notifications end with the folder; another one at its path would go unnoticed.
        if _identity(root) != identity:
            return


def _polled(root: Path, stop: threading.Event, synapse: bool) -> Iterator[set[str]]:
    """Changes found by looking again and again; ends when the root itself is gone.

    Our own, because watchfiles' polling compares times by the second and misses a second change
    within one.
    """
    try:
        before = _snapshot(root, synapse)
        took = 0.0
        while not stop.wait(max(_POLL_SECONDS, took * _POLL_SHARE)):
            began = time.monotonic()
            after = _snapshot(root, synapse)
            took = time.monotonic() - began
            changed = {path for path, _ in before.items() ^ after.items()}
            if changed:
                yield changed
            before = after
    except VaultUnavailable:
        return  # the caller waits for it to come back


def _snapshot(root: Path, synapse: bool) -> dict[str, tuple[int, int, int]]:
    """Path -> size, modification time and inode of every file that is told of."""
    found = {}
    paths = [entry.path for entry in scan(root).files]
    if synapse:
        paths.append(SETTINGS_FILE)
        paths += [f"{JOURNAL_FOLDER}/{path.name}" for path in (root / JOURNAL_FOLDER).glob("*.jsonl")]
    for path in paths:
        try:
            status = (root / path).stat()
        except OSError:
            continue  # gone since it was listed: the next look tells
        found[path] = (status.st_size, status.st_mtime_ns, status.st_ino)
    return found


def _identity(root: Path) -> tuple[int, int] | None:
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _relative(root: Path, changed: str) -> str | None:
    try:
        return Path(changed).relative_to(root).as_posix()
    except ValueError:
        return None


def _told(path: str | None, synapse: bool) -> bool:
    if path is None or path == ".":
        return False
    pure = PurePosixPath(path)
    if synapse and (
        # A folder that appears may have got its files before anybody watched it.
        path in (SETTINGS_FILE, SYNAPSE_FOLDER, JOURNAL_FOLDER)
        or (path.startswith(JOURNAL_FOLDER + "/") and pure.suffix == ".jsonl")
    ):
        return not is_temporary(pure.name)
    return not any(part.startswith(".") for part in pure.parts)


def is_remote(folder: Path) -> bool:
    """Whether a folder is on a network file system, whose changes elsewhere no notification tells.

    Known on Linux (proc_pid_mountinfo(5)); elsewhere False.
    """
    if sys.platform != "linux":
        return False
    try:
        mounts = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return False
    best, kind = "", ""
    for mount in mounts:
        fields, _, rest = mount.partition(" - ")
        point = fields.split()[4].replace("\\040", " ")
        if len(point) >= len(best) and (str(folder) + "/").startswith(point.rstrip("/") + "/"):
            best, kind = point, rest.split()[0]
    return kind in _REMOTE

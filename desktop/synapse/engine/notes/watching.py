"""Telling what changed in a vault's folder while it is open."""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from watchfiles import watch as watch_files

from synapse.engine.notes.atomic import is_temporary

log = logging.getLogger(__name__)

WHOLE_VAULT = ""
"""In a set of changes: anything may have changed, scan again."""

JOURNAL_FOLDER = ".synapse/journal"
SETTINGS_FILE = ".synapse/settings.json"

_GROUP_MS = 300  # the longest time that changes are collected: seen within a second
_QUIET_MS = 50
_POLL_MS = 1000
_REMOTE = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "fuse.sshfs", "vboxsf"}


def watch(
    vault: Path, stop: threading.Event, *, synapse: bool = False, polling: bool | None = None
) -> Iterator[set[str]]:
    """Yields sets of changed vault-relative paths until `stop` is set.

    A folder's name stands for all that is in it (a renamed folder is one change); WHOLE_VAULT
    stands for everything, when the vault's folder went away or came back or the way of watching
    changed. Dot folders, dot files and our own temporary files are left out; with `synapse`, the
    vault's journal files and settings are told of too. polling: None watches by the system's
    notifications and polls where there are none: on network file systems, or past the system's
    limit of watches.
    """
    root = Path(os.path.realpath(vault))
    poll = is_remote(root) if polling is None else polling
    while not stop.is_set():
        try:
            yield from _changes(root, stop, synapse, poll)
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


def _changes(root: Path, stop: threading.Event, synapse: bool, poll: bool) -> Iterator[set[str]]:
    """Ends when the root itself is gone."""
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
        force_polling=poll,
        poll_delay_ms=_POLL_MS,
        ignore_permission_denied=True,
    ):
        paths = {path for _, changed in changes if (path := _relative(root, changed)) is not None}
        if paths:
            yield paths
        # Notifications end with the folder; another one at its path would go unnoticed.
        if _identity(root) != identity:
            return


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
        path == SETTINGS_FILE or (path.startswith(JOURNAL_FOLDER + "/") and pure.suffix == ".jsonl")
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

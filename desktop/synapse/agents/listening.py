"""Where an owner listens: a local socket for this user alone, or a port where there are no such sockets."""

from __future__ import annotations

import os
import socket
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from synapse.bridge import discovery, places
from synapse.bridge.discovery import Discovery

LONGEST_PATH = 103
"""Bytes of the longest path that every system can bind (sun_path is 104 bytes on macOS)."""

HAS_LOCAL_SOCKETS = hasattr(socket, "AF_UNIX")

_BACKLOG = 128
_PREFIX = "synapse-"
"""Of the private temporary folder for a socket whose usual path is too long."""


@dataclass(frozen=True, slots=True)
class Listening:
    """A listening socket, and where it is: a path or a port on 127.0.0.1."""

    socket: socket.socket
    path: str | None = None
    port: int | None = None

    def remove(self) -> None:
        """Close the socket and take its file away."""
        self.socket.close()
        if self.path is not None:
            _remove(self.path)


def listen(vault: Path) -> Listening:
    """Listen for a vault whose lock this process holds. Raises OSError."""
    if not HAS_LOCAL_SOCKETS:
        server = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        return _bound(server, ("127.0.0.1", 0))
    key = places.vault_key(vault)
    for folder in _folders():
        path = os.path.join(folder, key)
        if len(os.fsencode(path)) <= LONGEST_PATH and _is_free(path):
            with suppress(OSError):  # the next folder may do
                return _at(path)
    # It goes away with the socket; what a killed owner leaves, the next one sweeps.
    path = os.path.join(tempfile.mkdtemp(prefix=_PREFIX), key)
    return _at(path)


def sweep(vault: Path) -> None:
    """Take away what a killed owner of this vault left, whose lock this process holds now."""
    left = discovery.read(vault)
    if left is None or left.socket is None or os.path.basename(left.socket) != places.vault_key(vault):
        return
    if _is_socket(left.socket) and not _answers(left.socket):
        _remove(left.socket)


def described(listening: Listening, vault: Path, token: str, version: str, role: str) -> Discovery:
    """What an owner in this process says of itself."""
    pid = os.getpid()
    return Discovery(
        str(vault),
        pid,
        discovery.process_start(pid) or "",
        token,
        version,
        role,
        socket=listening.path,
        port=listening.port,
    )


def _folders() -> list[str]:
    """Folders for the socket, made where they are missing, closed to everybody else."""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "").strip()
    wanted = [os.path.join(runtime, "synapse")] if runtime and os.path.isdir(runtime) else []
    found = []
    for folder in (*wanted, discovery.run_folder()):
        with suppress(OSError):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            os.chmod(folder, 0o700)
            found.append(folder)
    return found


def _at(path: str) -> Listening:
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening = _bound(server, path)
    os.chmod(path, 0o600)
    return listening


def _bound(server: socket.socket, address: str | tuple[str, int]) -> Listening:
    try:
        server.bind(address)
        server.listen(_BACKLOG)
    except BaseException:
        server.close()
        raise
    if isinstance(address, str):
        return Listening(server, path=address)
    return Listening(server, port=server.getsockname()[1])


def _is_free(path: str) -> bool:
    """Whether a socket can be bound there; a stale one is taken away.

    A live one belongs to an owner of the same folder with other data folders: it is left alone.
    """
    if not os.path.lexists(path):
        return True
    if not _is_socket(path) or _answers(path):
        return False
    _remove(path)
    return not os.path.lexists(path)


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except OSError:
        return False


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            return True  # busy, or not ours to judge
    return True


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
    folder = os.path.dirname(path)
    if os.path.basename(folder).startswith(_PREFIX):
        with suppress(OSError):
            os.rmdir(folder)

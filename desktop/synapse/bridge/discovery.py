"""How a vault's owner is found: one small file per vault, for this user's eyes only.

The file lies in `<data>/run`, not in the session's runtime folder: a host that starts a bridge with
an empty environment must find the owner that a desktop session started. Whether the owner it names
still lives is proved by dialling it, never by the file alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import NamedTuple

from synapse.bridge import places

SCHEMA = 1


class Discovery(NamedTuple):
    """What an owner says of itself.

    pid, started: the process and, where the system tells, when it began, so that a pid used again
    by another program is seen. socket: path of the local socket; port: on 127.0.0.1, where the
    system has no such sockets. role: `window` or `headless`. token: opens the socket.
    """

    vault: str
    pid: int
    started: str
    token: str
    version: str
    role: str = "headless"
    socket: str | None = None
    port: int | None = None
    http: str | None = None
    schema: int = SCHEMA


def run_folder() -> str:
    """The folder of the discovery files."""
    return os.path.join(places.data_folder(), "run")


def discovery_path(vault: str | os.PathLike[str]) -> str:
    """Where the owner of this vault is written down."""
    return os.path.join(run_folder(), f"{places.vault_key(vault)}.json")


def write(found: Discovery) -> str:
    """Write an owner down, atomically, readable by this user alone; returns the path. Raises OSError."""
    path = discovery_path(found.vault)
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    os.chmod(folder, 0o700)
    temporary = f"{path}.{os.getpid()}.new"
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(found._asdict(), file)
    os.replace(temporary, path)
    return path


def read(vault: str | os.PathLike[str]) -> Discovery | None:
    """The owner that is written down; None where there is none or the file makes no sense.

    A newer version's file is read as far as its fields are known.
    """
    return _read(discovery_path(vault))


def remove(found: Discovery) -> None:
    """Take the file away if it is still this owner's."""
    now = read(found.vault)
    if now is not None and (now.pid, now.token) == (found.pid, found.token):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(discovery_path(found.vault))


def all_owners() -> list[Discovery]:
    """The owners of all vaults that are written down and whose process lives, by vault."""
    try:
        names = sorted(os.listdir(run_folder()))
    except OSError:
        return []
    found = [_read(os.path.join(run_folder(), name)) for name in names if name.endswith(".json")]
    return sorted(one for one in found if one is not None and may_live(one))


def may_live(found: Discovery) -> bool:
    """False where the process is certainly gone, or another program has its number now."""
    now = process_start(found.pid)
    return now is not None and (not found.started or not now or now == found.started)


def process_start(pid: int) -> str | None:
    """When a process began, as the system counts; "" where it does not tell, None for no process."""
    if pid <= 0:
        return None
    if sys.platform.startswith("linux"):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                # The second field is the program's name in parentheses and may hold anything.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            return None
        return None if fields[0] in (b"Z", b"X") else fields[19].decode()
    if sys.platform == "win32":
        return ""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        return ""
    return ""


def _read(path: str) -> Discovery | None:
    try:
        with open(path, encoding="utf-8") as file:
            written = json.load(file)
        known = {name: written[name] for name in Discovery._fields if name in written}
        found = Discovery(**known)
    except (OSError, ValueError, TypeError, RecursionError):
        return None
    texts = (found.vault, found.started, found.token, found.version, found.role)
    if not all(isinstance(text, str) for text in texts) or type(found.pid) is not int:
        return None
    if isinstance(found.socket, str) or type(found.port) is int:
        return found
    return None

"""Starting an owner where there is none: a headless one, detached, which outlives the bridge."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from synapse.bridge import discovery, places

if TYPE_CHECKING:
    import subprocess

HINT = "Open the vault in Synapse, or run `synapse serve {vault}`, then call again."

_MOST_OF_LOG = 1024 * 1024
_PAUSE = 2.0
"""Seconds from one start to the next: an owner that another process started needs them to listen."""


def log_path(vault: str) -> str:
    """Where an owner without a terminal writes what it has to say."""
    return os.path.join(discovery.run_folder(), f"{places.vault_key(vault)}.log")


def start(vault: str) -> subprocess.Popen[bytes]:
    """Start a headless owner, with no tie to this process but the handle. Raises OSError."""
    import subprocess  # only where an owner is started: half a megabyte that few bridges need

    os.makedirs(discovery.run_folder(), mode=0o700, exist_ok=True)
    path = log_path(vault)
    longer = os.path.exists(path) and os.path.getsize(path) > _MOST_OF_LOG
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if longer else os.O_APPEND)
    environment = {name: value for name, value in os.environ.items() if name != "SYNAPSE_AGENT_TOKEN"}
    flags_of_process = 0
    if sys.platform == "win32":
        flags_of_process = subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP
    log = os.open(path, flags, 0o600)
    try:
        # -P: a folder named synapse where the host stands is not the program.
        return subprocess.Popen(
            [sys.executable, "-P", "-m", "synapse", "serve", vault, "--detached"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=os.path.abspath(os.sep),  # a folder that nobody wants to unmount
            env=environment,
            start_new_session=True,
            creationflags=flags_of_process,
        )
    finally:
        os.close(log)


class Starter:
    """Sees to it that an owner comes up, and says why none does."""

    def __init__(self, vault: str) -> None:
        self._vault = vault
        self._child: subprocess.Popen[bytes] | None = None
        self._last: float | None = None
        self._answered = False

    def wanted(self, now: float) -> str | None:
        """An owner is wanted and none answers; returns why there will be none, or None to wait on.

        now: seconds of a clock that only goes forward.
        """
        if self._child is not None:
            status = self._child.poll()
            if status is None:
                return None
            self._child = None
            # Less than 0: somebody killed it, and the next may live. 0: another owner was quicker.
            if status > 0 and not self._answered:
                return f"The server of the vault did not start: {self._last_words()}."
        if self._last is not None and now - self._last < _PAUSE:
            return None
        self._last, self._answered = now, False
        try:
            self._child = start(self._vault)
        except OSError as error:
            return f"The server of the vault could not be started: {error.strerror or error}."
        return None

    def answered(self) -> None:
        """An owner answers: what its process does from now on is no failure to start."""
        self._answered = True

    def reap(self) -> None:
        """Let the system forget a child that ended."""
        if self._child is not None:
            self._child.poll()

    def _last_words(self) -> str:
        path = log_path(self._vault)
        try:
            with open(path, "rb") as file:
                file.seek(max(0, os.path.getsize(path) - 4096))
                said = [line for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
        except OSError:
            said = []
        return said[-1].strip().removeprefix("synapse: ").rstrip(".") if said else "it did not say why"

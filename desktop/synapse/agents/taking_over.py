"""How a vault passes from one owner to the next: a headless one hands over to a window, a closing
window leaves the vault to a headless one."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from synapse.bridge import discovery, starting, stopped
from synapse.bridge.dialling import Refused, dial
from synapse.bridge.discovery import Discovery
from synapse.engine import Engine, open_vault
from synapse.engine.errors import VaultLocked, WriteFailed
from synapse.engine.vaults import Ownership, data_folder

T = TypeVar("T")

PATIENCE = 10.0
"""Seconds that whoever holds the vault has to give it up."""

_PAUSE = 0.05
_ASK_AGAIN = 2.0
"""Seconds after which the same owner is asked again: it may not have heard."""


def take_over(vault: str | os.PathLike[str], timeout: float = PATIENCE) -> None:
    """Ask a headless owner for the vault and wait until nobody holds it; nothing to do where nobody does.

    timeout: seconds. A command that holds the vault for a moment is waited for, too. Raises
    VaultLocked, which says who holds it.
    """

    def look() -> None:
        data = data_folder(Path(vault))
        if (data / "owner.lock").exists():
            Ownership(Path(vault), data, "a window that opens").release()

    _wait(vault, timeout, look)


def open_taking_over(
    vault: str | os.PathLike[str],
    data_root: Path | None = None,
    *,
    role: str = "the window",
    timeout: float = PATIENCE,
    asking: Callable[[], object] | None = None,
) -> Engine:
    """Open a vault as `open_vault` does, taking it over from a headless owner where one has it.

    Where a bridge starts the next headless owner before the lock is taken, that one is asked too.
    asking: called when an owner is asked. That the vault was not to be served is forgotten.
    """
    engine = _wait(vault, timeout, lambda: open_vault(vault, data_root, role=role), asking)
    serve_after_all(engine.vault)
    return engine


def serve_after_all(vault: str | os.PathLike[str]) -> None:
    """Forget that a person did not want the vault served."""
    with suppress(OSError):
        stopped.forget(vault)


def leave_stopped(vault: str | os.PathLike[str]) -> None:
    """A person does not want the vault served once it is closed here. Raises WriteFailed."""
    try:
        stopped.mark(vault)
    except OSError as error:
        raise WriteFailed(
            f"That the vault is not to be served cannot be written down: {error.strerror or error}.",
            "Free space or check the permissions of the data folder.",
        ) from error


def serve_in_background(vault: str | os.PathLike[str]) -> None:
    """Start a headless owner that outlives this process, for a vault that was closed here just now.

    It ends by itself ten minutes after its last agent. Raises WriteFailed.
    """
    try:
        process = starting.start(str(vault))
    except OSError as error:
        raise WriteFailed(
            f"The vault cannot be served in the background: {error.strerror or error}.",
            "Run `synapse serve` on it.",
        ) from error
    # Whenever it ends, the system may forget it.
    threading.Thread(target=process.wait, name="synapse-serve", daemon=True).start()


def _wait(
    vault: str | os.PathLike[str],
    timeout: float,
    attempt: Callable[[], T],
    asking: Callable[[], object] | None = None,
) -> T:
    """Try until it is not locked; ask each headless owner that is met meanwhile to hand over."""
    end = time.monotonic() + timeout
    asked: dict[str, float] = {}
    while True:
        try:
            return attempt()
        except VaultLocked:
            owner = discovery.read(vault)
            if owner is not None and discovery.may_live(owner):
                if owner.role == "window":
                    raise
                if time.monotonic() - asked.get(owner.token, -_ASK_AGAIN) >= _ASK_AGAIN:
                    asked[owner.token] = time.monotonic()
                    if asking is not None:
                        asking()
                    _ask(owner)
            if time.monotonic() >= end:
                raise
        time.sleep(_PAUSE)


def _ask(owner: Discovery) -> None:
    """Ask an owner to hand over. Raises VaultLocked where it says that it will not.

    One that does not answer may be ending already; the lock will tell.
    """
    with suppress(OSError, Refused, ValueError):
        connection, _ = dial(owner, "ops")
        with connection, connection.makefile("rb") as answers:
            connection.settimeout(3.0)
            connection.sendall(b'{"id": 1, "op": "hand-over", "args": {}}\n')
            answer = json.loads(answers.readline(1024 * 1024))
        error = answer.get("error") if isinstance(answer, dict) else None
        if isinstance(error, dict) and error.get("kind") == VaultLocked.kind:
            raise VaultLocked(str(error.get("message")), str(error.get("hint")))

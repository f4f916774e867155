"""`synapse open`: the window, or what stands in for it where there is no display."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

from synapse.cli import terminal
from synapse.cli.progress import ProgressBar
from synapse.cli.render import Renderer
from synapse.cli.run import warn
from synapse.engine import ChangeSet, Engine, open_vault
from synapse.engine.errors import UnknownEntity
from synapse.engine.vaults import first_vault

_EXAMPLE = "modules/payments"
"""What the sample vault's tour asks about."""


def has_display() -> bool:
    """Whether a window can be shown."""
    if sys.platform in ("win32", "darwin") or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def open_command(vault: str | None, *, headless: bool, once: bool) -> int:
    """Open the window on a vault, by default the last one; without a display say what is known.

    Returns the exit status. Raises the errors of `open_vault`.
    """
    folder = Path(vault) if vault is not None else first_vault()
    if not (headless or once) and has_display():
        from synapse.window.app import run

        return run(folder)
    if not headless and not has_display():
        terminal.say("there is no display, so there is no window.")
    with open_vault(folder) as engine:
        warn(engine)
        _say_what_is_known(engine)
        if not once:
            _follow(engine)
    return 0


def _say_what_is_known(engine: Engine) -> None:
    with ProgressBar(enabled=sys.stderr.isatty()) as progress:
        engine.index(progress=progress)
    status = engine.status()
    print(f"{engine.vault}")
    print(f"{status.notes:,} notes, {status.facts:,} facts, {status.inferred:,} inferred facts")
    try:
        found = engine.impact(_EXAMPLE)
    except UnknownEntity:
        return  # a vault of one's own has no such note
    print()
    terminal.write(Renderer(engine, terminal.width()).text(found))


def _follow(engine: Engine) -> None:
    """Keep the graph in line with the folder until interrupted."""
    stopped = threading.Event()

    def changed(changeset: ChangeSet) -> None:
        files = [*changeset.files, *changeset.removed_files]
        if files:
            print(f"revision {changeset.revision}: {', '.join(files)}", flush=True)

    print("\nFollowing the vault without a window; agents cannot attach yet. Ctrl+C ends it.", flush=True)
    engine.subscribe(changed)
    engine.watch()
    before = {
        number: signal.signal(number, lambda *_: stopped.set()) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        stopped.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

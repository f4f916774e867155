"""`synapse open`: the window, or what stands in for it where there is no display."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from pathlib import Path

from synapse.cli import terminal
from synapse.cli.hosts import Host, LocalHost, open_host
from synapse.cli.progress import ProgressBar
from synapse.cli.render import Renderer
from synapse.cli.run import warn
from synapse.engine import ChangeSet
from synapse.engine.errors import SynapseError, UnknownEntity
from synapse.engine.operations import operation
from synapse.engine.questions.results import Status
from synapse.engine.vaults import first_vault
from synapse.engine.wire import read_values

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
    if not once:
        _follow(folder)
        return 0
    with open_host(folder) as host:
        warn(host)
        with ProgressBar(enabled=sys.stderr.isatty()) as progress:
            host.call(operation("index"), read_values(operation("index"), {}), progress)
        _say_what_is_known(host)
    return 0


def _say_what_is_known(host: Host) -> None:
    status, impact = operation("status"), operation("impact")
    numbers = host.call(status, read_values(status, {}))
    assert isinstance(numbers, Status)
    print(f"{host.vault}")
    print(f"{numbers.notes:,} notes, {numbers.facts:,} facts, {numbers.inferred:,} inferred facts")
    try:
        found = host.call(impact, read_values(impact, {"entity": _EXAMPLE}))
    except UnknownEntity:
        return  # a vault of one's own has no such note
    print()
    terminal.write(Renderer(host.describe, terminal.width()).text(found))


def _follow(folder: Path) -> None:
    """Own the vault as `synapse serve` does, and say what changes, until interrupted."""
    from synapse.agents.headless import Headless

    def changed(changeset: ChangeSet) -> None:
        files = [*changeset.files, *changeset.removed_files]
        if files:
            print(f"revision {changeset.revision}: {', '.join(files)}", flush=True)

    with Headless(folder) as headless, ExitStack() as bars:
        engine = headless.engine
        warn(engine)

        def indexed(failed: SynapseError | None) -> None:
            bars.close()
            if failed is not None:
                raise failed
            _say_what_is_known(LocalHost(engine))
            print(
                "\nFollowing the vault without a window, and serving it to agents. Ctrl+C ends it.",
                flush=True,
            )
            engine.subscribe(changed)

        headless.start(bars.enter_context(ProgressBar(enabled=sys.stderr.isatty())))
        headless.wait(indexed)

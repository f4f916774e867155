"""The `synapse` command. Nothing is imported before it is known what was asked for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 a finding or a failure, 2 wrong usage.

    `mcp` with plain arguments ends the process itself.
    """
    if os.environ.get("HOME") == "":
        # As if it were not set: the user's entry in the system's list counts, not the root folder.
        del os.environ["HOME"]
    try:
        given = list(sys.argv[1:] if arguments is None else arguments)
        if given[:1] == ["mcp"]:
            from synapse.bridge import command

            command.main(given[1:])
        if given == ["_worker", "query"]:
            from synapse.engine.graph import worker

            worker.main()

        from synapse.cli.run import run

        return run(given)
    except KeyboardInterrupt:  # also while modules are still being read
        sys.stderr.write("synapse: stopped.\n")
        return 1

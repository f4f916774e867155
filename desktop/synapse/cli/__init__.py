"""The `synapse` command. Nothing is imported before it is known what was asked for."""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 done, 1 a finding or a failure, 2 wrong usage."""
    try:
        from synapse.cli.run import run

        return run(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:  # also while modules are still being read
        sys.stderr.write("synapse: stopped.\n")
        return 1

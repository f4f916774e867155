"""Arguments that tools share with the table of operations, from which the command line is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from synapse.engine.operations import Argument, operation


def taken(name: str, *only: str) -> Sequence[Argument]:
    """The arguments of an operation, those named or all, as a tool takes them.

    What concerns files of a person at a terminal is left out, and a limit says that an answer may be
    shorter: agents' answers are bounded.
    """
    known = {argument.name: argument for argument in operation(name).arguments if not argument.local}
    return [_for_agents(known[each]) for each in only or known]


def _for_agents(argument: Argument) -> Argument:
    if argument.name == "limit":
        return replace(argument, doc=f"{argument.doc}; fewer where the answer would be too long")
    if argument.name == "cursor":
        return replace(argument, doc="the `cursor` of the previous answer, for the next page")
    return argument

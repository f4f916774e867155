"""Errors as agents read them: one text that says what is wrong and what to do, and nothing of this
machine beyond the vault."""

from __future__ import annotations

import re
from pathlib import Path

from synapse.agents.tools.arguments import ArgumentError
from synapse.agents.tools.quoting import escaped, flat, named
from synapse.engine.errors import SynapseError, UnknownEntity

LONGEST = 2000
UNEXPECTED = "Synapse failed at this by a fault of its own; the call may have taken no effect. It is logged."

_OUTSIDE = re.compile(r"(?<![\w:/.])(?:/(?:[^\s/'\"`:,;()]+/)+[^\s/'\"`:,;()]*|[A-Za-z]:\\[^\s'\"`,;()]+)")
"""An absolute path in a message."""


def told(error: SynapseError, vault: Path) -> str:
    """The error as the text of an answer."""
    place = _place(error, vault)
    # What the arguments' own reader says is quoted already; other messages may hold names and texts.
    message = flat(error.message) if isinstance(error, ArgumentError) else escaped(error.message)
    text = " ".join(part for part in (f"{place}:" if place else "", message, _hint(error)) if part)
    text = _without_paths(text, vault)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _hint(error: SynapseError) -> str:
    if isinstance(error, UnknownEntity) and error.candidates:
        return f"The nearest ids: {', '.join(map(named, error.candidates))}."
    # What a person types, in the words of an agent.
    return flat(error.hint).replace("`synapse explain`", "fact_provenance")


def _place(error: SynapseError, vault: Path) -> str:
    if error.path is None:
        return "" if error.line is None else f"line {error.line}" + _column(error)
    path = Path(error.path)
    if path.is_absolute():
        if not path.is_relative_to(vault):
            return ""
        path = path.relative_to(vault)
    return named(path.as_posix() if error.line is None else f"{path.as_posix()}:{error.line}")


def _column(error: SynapseError) -> str:
    return "" if error.column is None else f", column {error.column}"


def _without_paths(text: str, vault: Path) -> str:
    text = text.replace(f"{vault}/", "").replace(str(vault), "the vault")
    return _OUTSIDE.sub("…", text)

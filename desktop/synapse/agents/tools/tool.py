"""A tool: what an agent is told of it, what it takes, what it answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from synapse.agents.tools.quoting import flat
from synapse.engine import Engine
from synapse.engine.operations import Argument
from synapse.engine.record import Agent

Schema = Mapping[str, Any]
Values = Mapping[str, Any]

BUDGET = 32_000
"""UTF-8 bytes of an answer at most: its text and its structured content together."""

_SHORTENED = "\n\n…(the text is shortened; the structured content is complete)"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool. agent: as whom it writes. cancel: set when nobody waits for it any more."""

    engine: Engine
    values: Values
    agent: Agent
    cancel: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool answers.

    text: Markdown that stands alone. data: the structured content, JSON values. shown: how many
    items of a list are in it, by which a page is made to fit. wrote: something was changed.
    """

    text: str
    data: Mapping[str, Any]
    shown: int = 0
    wrote: bool = False

    @property
    def size(self) -> int:
        """UTF-8 bytes of text and structured content."""
        return len(self.text.encode()) + size_of(self.data)


@dataclass(frozen=True, slots=True)
class Tool:
    """name: ASCII, at most 64 characters. description: for a model that never heard of Synapse.

    example: arguments that make sense in many vaults. result: the schema of the structured content.
    run: on a thread, with checked values. reads: changes nothing. destructive: may take something
    away. idempotent: doing it twice is as doing it once. long: may take more than a moment.
    may_only_try: the name of the flag with which a tool that writes changes nothing.
    """

    name: str
    title: str
    description: str
    example: Mapping[str, Any]
    arguments: Sequence[Argument]
    result: Schema
    run: Callable[[Call], Answer]
    reads: bool = True
    destructive: bool = False
    idempotent: bool = True
    long: bool = False
    may_only_try: str | None = None

    @property
    def told(self) -> str:
        """The description with its example, as agents read it."""
        return f"{self.description}\n\nExample arguments: {json.dumps(self.example, ensure_ascii=False)}"


def size_of(data: object) -> int:
    """UTF-8 bytes of JSON values as they are sent."""
    return len(json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace"))


def fitted(ask: Callable[[int], Answer], limit: int) -> Answer:
    """The longest answer of at most `limit` items that keeps within the budget.

    ask: answers with at most so many items; it is asked again with fewer until the answer fits, so
    that the cursor it gives is the right one. A single item is bounded by whoever describes it; should
    its text still not fit, the text is cut and says so.
    """
    answer = ask(limit)
    while answer.size > BUDGET and answer.shown > 1:
        fewer = int(answer.shown * BUDGET / answer.size * 0.97)
        answer = ask(max(1, min(answer.shown - 1, fewer)))
    return shortened(answer)


def shortened(answer: Answer) -> Answer:
    """The answer with its text cut where it is over the budget; the structured content is kept."""
    over = answer.size - BUDGET
    if over <= 0:
        return answer
    text = answer.text.encode()
    kept = max(0, len(text) - over - len(_SHORTENED.encode()))
    cut = text[:kept].decode("utf-8", "ignore")
    return Answer(cut + _SHORTENED, answer.data, answer.shown, answer.wrote)


def plural(number: int, noun: str, several: str | None = None) -> str:
    """`1 fact`, `2,000 facts`."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def bounded(text: str, longest: int) -> tuple[str, bool]:
    """The text, or its beginning, and whether something was cut."""
    return (text, False) if len(text) <= longest else (text[:longest], True)


def one_line(text: str, longest: int = 200) -> str:
    """A label for structured content: on one line and bounded."""
    line = flat(text)
    return line if len(line) <= longest else line[: longest - 1] + "…"

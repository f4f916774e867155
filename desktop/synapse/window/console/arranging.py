"""Which rows of an answer are shown, and in what order. No Qt: runs in any thread.

Long work is done in steps that let other threads in: one `list.sort` over 100,000 rows would hold
the interpreter, and with it the interface, for a third of a second.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.engine.graph.results import Term
from synapse.engine.questions.results import Entity
from synapse.engine.terms import vocabulary as v
from synapse.window.console.running import Answer

STEP = 4_000
"""Rows that are sorted in one go."""
_WHOLE = ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger")
_WHOLE_TOO = ("nonPositiveInteger", "negativeInteger", "unsignedInt", "unsignedLong", "unsignedShort")
INTEGERS = frozenset(v.XSD + name for name in (*_WHOLE, *_WHOLE_TOO, "unsignedByte"))
NUMBERS = INTEGERS | {v.XSD + name for name in ("decimal", "double", "float")}
_TIMES = frozenset((v.XSD_DATE.value, v.XSD_DATE_TIME.value, v.XSD + "time", v.XSD + "gYear"))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """What a person chose. words: every one is in some cell of a row that stays; column: the order
    of the query where None; with_names: cells read as names, else as ids."""

    words: str = ""
    column: int | None = None
    descending: bool = False
    with_names: bool = True


def text_of(term: Term | None, names: dict[str, Entity], with_names: bool) -> str:
    """A term in full, as it is shown and copied; "" for unbound."""
    if term is None:
        return ""
    if isinstance(term, Literal):
        return term.value
    if isinstance(term, NamedNode):
        entity = names.get(term.value)
        if entity is None:
            return term.value
        return entity.label if with_names else entity.id
    if isinstance(term, BlankNode):
        return f"_:{term.value}"
    assert isinstance(term, Triple)
    parts = (term.subject, term.predicate, term.object)
    return f"<<( {' '.join(text_of(part, names, with_names) for part in parts)} )>>"


def sort_key(term: Term | None, label: str) -> tuple[int, Any]:
    """Orders any terms: unbound, numbers by value, times, true and false, then text and names by
    how they read."""
    if term is None:
        return 0, 0
    if isinstance(term, Literal):
        datatype = term.datatype.value
        if datatype in NUMBERS:
            return 1, _number(term.value, datatype)
        if datatype in _TIMES:
            return 2, _moment(term.value)
        if datatype == v.XSD_BOOLEAN.value:
            return 3, term.value
    return 4, label.casefold()


def _number(text: str, datatype: str) -> int | float | Decimal:
    """The value; what is no number (NaN, an ill-typed literal) comes before all."""
    try:
        if datatype in INTEGERS:
            return int(text)
        number = Decimal(text)
    except (ValueError, InvalidOperation):
        return -math.inf
    if number.is_nan():
        return -math.inf
    return float(text) if number.is_infinite() else number


def _moment(text: str) -> str:
    """A date or time in an order that compares: in UTC where a zone is given."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.tzinfo is None:
        return moment.isoformat()
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat()


def arrange(answer: Answer, wanted: Arrangement) -> list[int]:
    """Numbers of the rows that stay, in their order; rows that are equal keep the query's order."""
    kept = _kept(answer, wanted)
    if wanted.column is None or not 0 <= wanted.column < len(answer.columns):
        return kept
    column, names = wanted.column, answer.names
    keyed = []
    for number in kept:
        term = answer.rows[number][column]
        keyed.append((sort_key(term, text_of(term, names, wanted.with_names)), number))
    return [number for _, number in _sorted(keyed, wanted.descending)]


def _kept(answer: Answer, wanted: Arrangement) -> list[int]:
    words = wanted.words.casefold().split()
    numbers = list(range(len(answer.rows)))
    if not words:
        return numbers
    kept = []
    for number in numbers:
        row = answer.rows[number]
        text = "\n".join(text_of(term, answer.names, wanted.with_names) for term in row).casefold()
        if all(word in text for word in words):
            kept.append(number)
    return kept


def _sorted(keyed: Sequence[tuple[Any, int]], descending: bool) -> list[tuple[Any, int]]:
    def key(entry: tuple[Any, int]) -> Any:
        return entry[0]

    steps = [
        sorted(keyed[start : start + STEP], key=key, reverse=descending)
        for start in range(0, len(keyed), STEP)
    ]
    # Both are stable, and merge takes equal entries from the earlier step first.
    return list(heapq.merge(*steps, key=key, reverse=descending))

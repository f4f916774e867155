"""Values of properties as written, and the literal that a plain scalar is.

The lexical rules are Synapse's own (design/data-model.md section 4), not YAML 1.1's: `12:30` is
text and not 750, `no` is text and not false.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time
from typing import Final, TypeAlias

from pyoxigraph import Literal

from synapse.engine.notes.source import Span
from synapse.engine.terms import canonical
from synapse.engine.terms import vocabulary as v

_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]*)\.[0-9]+")
_DOUBLE: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?[eE][+-]?[0-9]+")
_DATE: Final = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_DATE_TIME: Final = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(\.[0-9]+)?)?"
    r"(?:([Zz])|([+-])([0-9]{2}):?([0-9]{2}))?"
)
_MAYBE_TYPED: Final = re.compile(r"[-0-9tf]")
_NULL: Final = frozenset(("", "~", "null"))


@dataclass(frozen=True, slots=True)
class ScalarValue:
    """`quoted`: written in quotes, as a block or recovered text: never a number, date or boolean."""

    text: str
    quoted: bool
    span: Span

    @property
    def is_null(self) -> bool:
        """Whether it states nothing: empty, `~` or `null`, unquoted."""
        return not self.quoted and self.text in _NULL


@dataclass(frozen=True, slots=True)
class ListValue:
    items: tuple[Value, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class MapValue:
    entries: tuple[Property, ...]
    span: Span


Value: TypeAlias = ScalarValue | ListValue | MapValue


@dataclass(frozen=True, slots=True)
class Property:
    """A key and its value, in the frontmatter or inline; `span` covers both."""

    key: str
    value: Value
    span: Span


def scalars(value: Value) -> tuple[ScalarValue, ...]:
    """The scalars of a value that is one or a list of them, nulls left out; maps are passed over."""
    if isinstance(value, ScalarValue):
        return () if value.is_null else (value,)
    if isinstance(value, ListValue):
        return tuple(scalar for item in value.items for scalar in scalars(item))
    return ()


def text_literal(text: str) -> Literal:
    """The text, which `source.rdf_text` has seen or found nothing in, as `xsd:string`."""
    return Literal(text)


def plain_literal(text: str) -> Literal:
    """The literal of an unquoted scalar that is not null, in the store's form."""
    if _MAYBE_TYPED.match(text) is None:
        return text_literal(text)
    if text == "true" or text == "false":
        return Literal(text, datatype=v.XSD_BOOLEAN)
    if _INTEGER.fullmatch(text):
        return canonical(Literal(text, datatype=v.XSD_INTEGER))
    if _DECIMAL.fullmatch(text):
        return canonical(Literal(text, datatype=v.XSD_DECIMAL))
    if found := _DATE.fullmatch(text):
        if _is_date(text):
            return canonical(Literal(text, datatype=v.XSD_DATE))
    elif found := _DATE_TIME.fullmatch(text):
        if lexical := _date_time(found):
            return canonical(Literal(lexical, datatype=v.XSD_DATE_TIME))
    elif _DOUBLE.fullmatch(text):
        return canonical(Literal(text, datatype=v.XSD_DOUBLE))
    return text_literal(text)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _date_time(found: re.Match[str]) -> str | None:
    """The `xsd:dateTime` form of a match, or None where there is no such moment."""
    day, hour, minute, second, fraction, utc, sign, zone_hour, zone_minute = found.groups()
    second = second or "00"
    try:
        date.fromisoformat(day)
        time(int(hour), int(minute), int(second))
    except ValueError:
        return None
    zone = "Z" if utc else ""
    if sign:
        if int(zone_minute) > 59 or int(zone_hour) * 60 + int(zone_minute) > 14 * 60:
            return None
        zone = f"{sign}{zone_hour}:{zone_minute}"
    return f"{day}T{hour}:{minute}:{second}{fraction or ''}{zone}"

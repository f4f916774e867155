"""One line of the journal: what was done, by whom, when and why (design/data-model.md, section 1)."""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final, Literal

from synapse.engine.errors import InvalidFact

AgentKind = Literal["person", "software"]
ASSERT: Final = "assert"
RETRACT: Final = "retract"
UNDO: Final = "undo"
KINDS: Final = frozenset(
    {
        ASSERT,
        RETRACT,
        UNDO,
        "verify",
        "promote",
        "accept-identity",
        "mark-specification",
        "rename",
        "memory-store",
        "memory-update",
        "memory-delete",
    }
)

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_EVENT_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def utc_now() -> str:
    """The time now as events hold it: ISO 8601, UTC, milliseconds, `Z`; such texts sort by time."""
    return _iso(datetime.now(UTC))


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Identifiers:
    """Ids that sort by the time they were made in: 26 characters, as in the ULID specification
    (https://github.com/ulid/spec), also in its rule for several within one millisecond."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = (0, 0)

    def new(self, time: str) -> str:
        """An id for an event at `time` (as utc_now gives it); ids of one maker rise."""
        millisecond = int(datetime.fromisoformat(time).timestamp() * 1000 + 0.5)
        with self._lock:
            before, tail = self._last
            if millisecond > before:
                # The highest bit stays free, so that counting on never overflows.
                tail = secrets.randbits(79)
            else:
                millisecond, tail = before, tail + 1
            self._last = (millisecond, tail)
        number = millisecond << 80 | tail
        return "".join(_CROCKFORD[number >> shift & 31] for shift in range(125, -1, -5))


@dataclass(frozen=True, slots=True)
class Agent:
    """Who did something. client and version: the program it came through, "" where unknown."""

    name: str
    kind: AgentKind = "software"
    client: str = ""
    version: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing done. sequence counts the events of one device from 1; time as utc_now gives it.

    `data` is plain JSON whose shape depends on `kind`; see facts.py for assert and retract.
    """

    id: str
    device: str
    sequence: int
    time: str
    kind: str
    who: Agent
    why: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)

    @property
    def order(self) -> tuple[str, str, int, str]:
        """What events are sorted by, the same on every machine."""
        return self.time, self.device, self.sequence, self.id

    def line(self) -> bytes:
        """The event as one line of JSON with its line ending.

        Raises InvalidFact for what JSON or UTF-8 cannot hold.
        """
        who = {"name": self.who.name, "kind": self.who.kind}
        if self.who.client:
            who["client"] = self.who.client
        if self.who.version:
            who["version"] = self.who.version
        value = {
            "id": self.id,
            "device": self.device,
            "sequence": self.sequence,
            "time": self.time,
            "kind": self.kind,
            "who": who,
            "why": self.why,
            "data": dict(self.data),
        }
        try:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode("utf-8") + b"\n"
        except UnicodeEncodeError as error:
            raise InvalidFact(
                "A text holds a lone surrogate, which is not valid Unicode.", "Send well-formed text."
            ) from error
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidFact(
                f"The data is not plain JSON: {error}.", "Send text, numbers and lists."
            ) from error


def parse_event(line: bytes) -> Event:
    """The event in one line. Raises ValueError that says what is wrong with it.

    Kinds of newer versions are kept as they are; a time in another precision is brought into
    the form that sorts.
    """
    try:
        value = json.loads(line)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if b"\\ud" in line.lower():
        json.dumps(value, ensure_ascii=False).encode("utf-8")  # a lone surrogate is a ValueError
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    who = value.get("who")
    if not isinstance(who, dict):
        raise ValueError("it does not say who")
    kind = _text(who, "kind")
    return Event(
        id=_event_id(value),
        device=_text(value, "device"),
        sequence=_number(value, "sequence"),
        time=_time(value),
        kind=_text(value, "kind"),
        who=Agent(
            _text(who, "name"),
            "person" if kind == "person" else "software",
            _text(who, "client", ""),
            _text(who, "version", ""),
        ),
        why=_text(value, "why", ""),
        data=_mapping(value, "data"),
    )


def _text(value: Mapping[str, object], key: str, default: str | None = None) -> str:
    found = value.get(key, default)
    if not isinstance(found, str):
        raise ValueError(f"{key!r} is no text")
    return found


def _event_id(value: Mapping[str, object]) -> str:
    found = _text(value, "id")
    if not _EVENT_ID.fullmatch(found):
        raise ValueError("'id' cannot name an event")
    return found


def _number(value: Mapping[str, object], key: str) -> int:
    found = value.get(key)
    if not isinstance(found, int) or isinstance(found, bool):
        raise ValueError(f"{key!r} is no whole number")
    return found


def _time(value: Mapping[str, object]) -> str:
    found = _text(value, "time")
    if _TIME.fullmatch(found):
        return found
    try:
        moment = datetime.fromisoformat(found)
    except ValueError:
        raise ValueError("'time' is no ISO 8601 time") from None
    if moment.tzinfo is None:
        raise ValueError("'time' has no time zone")
    return _iso(moment)


def _mapping(value: Mapping[str, object], key: str) -> Mapping[str, Any]:
    found = value.get(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key!r} is no JSON object")
    return found

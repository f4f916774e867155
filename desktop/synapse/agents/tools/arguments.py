"""The arguments of a tool: their schema, and reading what an agent sent.

Agents err in a few known ways, and each is met: an array or object sent as a JSON string, a number as
a string, a single value where a list is meant are taken; an unknown name, a missing one and a wrong
value are errors that say what was meant or expected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from synapse.agents.tools.quoting import escaped
from synapse.engine.errors import UsageError
from synapse.engine.operating import given_facts
from synapse.engine.operations import Argument

MOST: Mapping[str, int] = {"limit": 1000, "depth": 1000, "timeout": 300}
"""The greatest value of numbers, by the argument's name."""
LONGEST_TEXT = 100_000
MOST_ITEMS = 1000

_NUMBER = re.compile(r"\s*[+-]?\d{1,9}(\.\d{0,9})?\s*")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")

FACT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "subject": {"type": "string", "description": "an entity's id, such as people/ada"},
        "predicate": {
            "type": "string",
            "description": "the relation: a word such as works_for, prefix:name, or an IRI",
        },
        "object": {
            "type": "string",
            "description": "an entity's id, or the text of a literal; numbers and dates as text",
        },
        "object_kind": {
            "type": "string",
            "enum": ["entity", "literal"],
            "description": "entity: the object is an id (the default). literal: it is a text. "
            "A datatype or a language makes it a literal",
        },
        "datatype": {"type": "string", "description": "of a literal: xsd:date, xsd:integer, an IRI"},
        "language": {"type": "string", "description": "of a literal: a language tag such as en or pt-BR"},
    },
    "required": ["subject", "predicate", "object"],
    "additionalProperties": False,
}


class ArgumentError(UsageError):
    """A wrong call. In its message, what the agent sent is quoted already."""


# -- schemas -------------------------------------------------------------------------------------


def input_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: a plain object, nothing combined at its root."""
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {argument.name: _property(argument) for argument in arguments},
        "additionalProperties": False,
    }
    required = [argument.name for argument in arguments if argument.required]
    if required:
        schema["required"] = required
    return schema


def _property(argument: Argument) -> dict[str, Any]:
    found: dict[str, Any] = {**_SCHEMAS[argument.type](argument), "description": argument.doc}
    if argument.choices:
        found["enum"] = list(argument.choices)
    if argument.default not in (None, ()) and not argument.required:
        found["default"] = argument.default
    return found


_SCHEMAS: Mapping[str, Any] = {
    "text": lambda _: {"type": "string"},
    "integer": lambda argument: {"type": "integer", "minimum": 1, "maximum": _most(argument)},
    "number": lambda argument: {"type": "number", "exclusiveMinimum": 0, "maximum": _most(argument)},
    "flag": lambda _: {"type": "boolean"},
    "texts": lambda argument: {
        "type": "array",
        "items": {"type": "string", **({"enum": list(argument.choices)} if argument.choices else {})},
        "maxItems": MOST_ITEMS,
    },
    "facts": lambda _: {"type": "array", "items": FACT, "minItems": 1, "maxItems": MOST_ITEMS},
}


def _most(argument: Argument) -> int:
    return MOST.get(argument.name, 1000)


# -- values --------------------------------------------------------------------------------------


def read_arguments(tool: str, arguments: Sequence[Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each argument, the defaults included. Raises ArgumentError, InvalidFact."""
    known = {argument.name: argument for argument in arguments}
    for name in given:
        if name not in known:
            near = get_close_matches(name.casefold(), known, 1, 0.5)
            guess = f" Did you mean `{near[0]}`?" if near else ""
            raise ArgumentError(f"{tool} has no argument {_shown(name)}.{guess}", _takes(known))
    missing = [a.name for a in arguments if a.required and given.get(a.name) is None]
    if missing:
        lacks = " and ".join(f"`{name}`" for name in missing)
        raise ArgumentError(f"{tool} needs {lacks}.", _takes(known))
    values: dict[str, Any] = {}
    for name, argument in known.items():
        value = given.get(name)
        if value is None:
            values[name] = argument.default
            continue
        _check_texts(name, value)
        values[name] = _READ[argument.type](argument, value)
    return values


def _takes(known: Mapping[str, Argument]) -> str:
    if not known:
        return "It takes no arguments."
    listed = ", ".join(f"{a.name}{' (required)' if a.required else ''}" for a in known.values())
    return f"It takes {listed}."


def _check_texts(place: str, value: object) -> None:
    """Refuse what no id, literal or query can hold. Raises ArgumentError that names the place."""
    if isinstance(value, str):
        found = _NO_TEXT.search(value)
        if found:
            what = "a NUL character" if found[0] == "\x00" else "half of a surrogate pair"
            raise ArgumentError(f"`{place}` holds {what}, which no text of the graph can.", "Leave it out.")
        if len(value) > LONGEST_TEXT:
            raise ArgumentError(
                f"`{place}` has {len(value):,} characters; {LONGEST_TEXT:,} are the most.", "Say less."
            )
    elif isinstance(value, list):
        for number, item in enumerate(value):
            _check_texts(f"{place}[{number}]", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            _check_texts(f"{place}.{escaped(key)[:60]}", item)


def _text(argument: Argument, value: object) -> str:
    if not isinstance(value, str):
        raise _wrong(argument, "a text", value)
    return value if not argument.choices else _choice(argument, value)


def _choice(argument: Argument, value: str) -> str:
    for choice in argument.choices:
        if value.strip().casefold() == choice:
            return choice
    raise _wrong(argument, f"one of {', '.join(argument.choices)}", value)


def _integer(argument: Argument, value: object) -> int:
    most = _most(argument)
    number = _number_of(value)
    if number is None or number != int(number) or not 1 <= number <= most:
        raise _wrong(argument, f"a whole number from 1 to {most:,}", value)
    return int(number)


def _decimal(argument: Argument, value: object) -> float:
    most = _most(argument)
    number = _number_of(value)
    if number is None or not 0 < number <= most:
        raise _wrong(argument, f"a number above 0 and at most {most:,}", value)
    return number


def _number_of(value: object) -> float | None:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return float(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e12:
        return float(value)
    return None


def _flag(argument: Argument, value: object) -> bool:
    if isinstance(value, str) and value.strip().casefold() in ("true", "false"):
        return value.strip().casefold() == "true"
    if not isinstance(value, bool):
        raise _wrong(argument, "true or false", value)
    return value


def _texts(argument: Argument, value: object) -> tuple[str, ...]:
    found = _decoded(value, list)
    every = found if isinstance(found, list) else [found]
    items = [item for item in every if isinstance(item, str)]
    if len(items) < len(every) or len(items) > MOST_ITEMS:
        raise _wrong(argument, f"a list of at most {MOST_ITEMS:,} texts", value)
    _check_texts(argument.name, items)  # once more, for what a JSON string held
    return tuple(_choice(argument, item) if argument.choices else item for item in items)


def _facts(argument: Argument, value: object) -> object:
    found = _decoded(value, (list, dict))
    items = [found] if isinstance(found, dict) else found
    if not isinstance(items, list) or not items or len(items) > MOST_ITEMS:
        raise _wrong(
            argument,
            f"a list of 1 to {MOST_ITEMS:,} facts, each with subject, predicate and object",
            value,
        )
    items = [_decoded(item, dict) for item in items]
    _check_texts(argument.name, items)
    return given_facts(items)


_READ: Mapping[str, Any] = {
    "text": _text,
    "integer": _integer,
    "number": _decimal,
    "flag": _flag,
    "texts": _texts,
    "facts": _facts,
}


def _decoded(value: object, wanted: type | tuple[type, ...]) -> object:
    """A list or an object that came as a JSON string; everything else as it is."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        if isinstance(found, wanted):
            return found
    return value


def _wrong(argument: Argument, expected: str, value: object) -> ArgumentError:
    return ArgumentError(f"`{argument.name}` must be {expected}, not {_shown(value)}.")


def _shown(value: object) -> str:
    text = escaped(json.dumps(value, ensure_ascii=False, default=str))
    return text if len(text) <= 80 else text[:79] + "…"

"""`as_json` backwards: the dataclasses of results.py from JSON that another process wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from synapse.engine.questions.results import Proof


class Undecodable(ValueError):
    """The JSON is of another shape than the type: it was written by another version."""


def from_json(kind: Any, value: object) -> Any:
    """The value of a type whose `as_json` this is.

    kind: a class of results.py, str, int, float, bool, `tuple[X, ...]` or a union of these. Fields
    that a class does not have are left out, those with a default may be missing, so that versions
    which differ in such fields understand each other. Raises Undecodable.
    """
    if kind is Proof:
        return _proof(value)
    origin = get_origin(kind)
    if origin is tuple:
        (item, _) = get_args(kind)
        return tuple(from_json(item, each) for each in _list(value))
    if origin in (UnionType, Union):
        return _one_of(get_args(kind), value)
    if origin is Literal:
        # A newer version may know one more word; it is shown, not judged.
        return _plain(str, value)
    if isinstance(kind, type) and is_dataclass(kind):
        return _record(kind, value)
    return _plain(kind, value)


def _plain(kind: Any, value: object) -> object:
    if kind is float and type(value) is int:
        return float(value)
    if type(value) is not kind:
        raise Undecodable(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _one_of(kinds: tuple[Any, ...], value: object) -> object:
    if value is None and NoneType in kinds:
        return None
    candidates = [kind for kind in kinds if kind is not NoneType]
    # Of an Entity and a Value, say, only one has the fields that the other lacks.
    for kind in candidates:
        try:
            return from_json(kind, value)
        except Undecodable:
            if kind is candidates[-1]:
                raise
    raise Undecodable("nothing is of this type")


def _record(kind: Any, value: object) -> object:
    told = _object(value)
    given = {}
    for name, hint in _hints(kind).items():
        if name in told:
            given[name] = from_json(hint, told[name])
        elif name in _required(kind):
            raise Undecodable(f"{kind.__name__} lacks {name}")
    return kind(**given)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


@cache
def _required(kind: Any) -> frozenset[str]:
    return frozenset(
        field.name for field in fields(kind) if field.default is MISSING and field.default_factory is MISSING
    )


def _proof(value: object) -> Proof:
    """The proof whose last step this is; a premise that several steps share stays one object."""
    steps: list[Proof] = []
    facts = _hints(Proof)["fact"]
    for step in map(_object, _list(_object(value).get("steps"))):
        positions = _list(step.get("premises"))
        if not all(type(place) is int and 0 <= place < len(steps) for place in positions):
            raise Undecodable("a step of the proof comes before its premise")
        steps.append(
            Proof(
                from_json(facts, step.get("fact")),
                from_json(str, step.get("sentence")),
                from_json(str | None, step.get("rule")),
                from_json(str | None, step.get("reference")),
                tuple(steps[place] for place in positions),
            )
        )
    if not steps:
        raise Undecodable("the proof has no step")
    return steps[-1]


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise Undecodable(f"expected a list, found {type(value).__name__}")
    return value


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise Undecodable(f"expected an object, found {type(value).__name__}")
    return value

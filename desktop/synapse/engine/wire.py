"""Operations between processes: arguments and results as JSON, one definition for both ends.

An owner reads arguments with `read_values` and answers with `to_wire`; who asked reads the answer
with `from_wire`. A result that is a file's content travels before its answer, in pieces.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from pyoxigraph import QueryBoolean, QueryResultsFormat, RdfFormat, Triple, parse, parse_query_results

from synapse.engine.errors import UsageError
from synapse.engine.graph.results import AskResult, GraphResult, QueryResult, SelectResult
from synapse.engine.graph.tables import results_object, serialize_results
from synapse.engine.graph.writing import serialize_graph
from synapse.engine.operating import given_facts
from synapse.engine.operations import Argument, Operation
from synapse.engine.questions.decoding import Undecodable, from_json
from synapse.engine.questions.results import as_json

PIECE = 1024 * 1024
"""UTF-8 bytes of the longest piece of a file's content."""

_ITEMS = 500
"""Items of a list that are encoded together: a few milliseconds' worth."""

_HALF = re.compile("[\ud800-\udfff]")


def to_wire(result: object) -> object:
    """A result as JSON values.

    A SELECT is `{"select": SPARQL 1.1 JSON results, "truncated"}`, an ASK `{"ask": the same}`, a
    graph `{"graph": N-Triples, "truncated"}`; bytes, which `pieces` cuts, are `{"bytes": how many}`;
    everything else is as `--json` prints it. Oxigraph reads each term of these results back as it
    was, with datatype, language, direction, blank node's label and nested triples.
    """
    if isinstance(result, SelectResult):
        return {"select": results_object(result), "truncated": result.truncated}
    if isinstance(result, AskResult):
        return {"ask": json.loads(serialize_results(result, "json"))}
    if isinstance(result, GraphResult):
        return {"graph": serialize_graph(result, "ntriples").decode(), "truncated": result.truncated}
    if isinstance(result, bytes):
        return {"bytes": len(result)}
    return as_json(result)


def from_wire(operation: Operation, value: object) -> object:
    """The result of an operation, as `carry_out` would have returned it here.

    A graph's triples are sorted, as they are whenever they are printed. Bytes are whatever the
    pieces were; their number comes back as the answer's own object. Raises Undecodable.
    """
    if operation.result == QueryResult:
        return _solutions(value)
    if operation.result is bytes:
        return value
    return from_json(operation.result, value)


def dumped(value: object) -> str:
    """JSON in ASCII, on one line. Long lists are written some items at a time: the standard library's
    encoder lets no other thread run while it works, and an owner may be a window."""
    return "".join(_dumped(value))


def _dumped(value: object) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for number, (key, each) in enumerate(value.items()):
            yield f"{',' if number else '{'}{json.dumps(str(key))}:"
            yield from _dumped(each)
        yield "}"
    elif isinstance(value, list) and len(value) > _ITEMS:
        for start in range(0, len(value), _ITEMS):
            yield "," if start else "["
            yield json.dumps(value[start : start + _ITEMS], separators=(",", ":"))[1:-1]
        yield "]"
    else:
        yield json.dumps(value, separators=(",", ":"))


def pieces(content: bytes) -> Iterator[str]:
    """UTF-8 content as texts of at most `PIECE` bytes, to be joined."""
    start = 0
    while start < len(content):
        end = min(start + PIECE, len(content))
        while end < len(content) and content[end] & 0xC0 == 0x80:  # within a character
            end -= 1
        yield content[start:end].decode()
        start = end


def _solutions(value: object) -> QueryResult:
    told = value if isinstance(value, Mapping) else {}
    try:
        if "graph" in told:
            found = parse(str(told["graph"]), format=RdfFormat.N_TRIPLES)
            triples = tuple(Triple(quad.subject, quad.predicate, quad.object) for quad in found)
            return GraphResult(triples, told.get("truncated") is True)
        written = json.dumps(told["ask" if "ask" in told else "select"])
        read = parse_query_results(written, QueryResultsFormat.JSON)
        if isinstance(read, QueryBoolean):
            return AskResult(bool(read))
        names = tuple(variable.value for variable in read.variables)
        return SelectResult(names, tuple(map(tuple, read)), told.get("truncated") is True)
    except (KeyError, SyntaxError, ValueError) as error:
        raise Undecodable(f"this is no query's answer: {error}") from error


# -- arguments -----------------------------------------------------------------------------------


def to_arguments(operation: Operation, values: Mapping[str, Any]) -> dict[str, object]:
    """The arguments of an operation as JSON values; those that are at their default are left out."""
    found: dict[str, object] = {}
    for argument in operation.arguments:
        value = values.get(argument.name, argument.default)
        if argument.local or value == argument.default:
            continue
        if argument.type == "facts":
            value = [fact.as_json() for fact in value]
        found[argument.name] = list(value) if isinstance(value, tuple) else value
    return found


def read_values(operation: Operation, told: Mapping[str, Any]) -> dict[str, Any]:
    """The values for `carry_out` from arguments as JSON values, the defaults included.

    Raises UsageError that names the argument at fault, InvalidFact.
    """
    known = {argument.name: argument for argument in operation.arguments if not argument.local}
    for name in told:
        if name not in known:
            near = get_close_matches(name, known, 1)
            guess = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"`{operation.name}` has no argument {name!r}.{guess}", _takes(known))
    values: dict[str, Any] = {}
    for name, argument in known.items():
        value = told.get(name)
        if value is None:
            if argument.required:
                raise UsageError(f"`{operation.name}` lacks {name}.", _takes(known))
            values[name] = argument.default
            continue
        values[name] = _read(argument, value)
    return values


def _takes(known: Mapping[str, Argument]) -> str:
    return f"It takes {', '.join(known)}." if known else "It takes none."


def _read(argument: Argument, value: object) -> object:
    if argument.type == "facts":
        return given_facts(value)
    expected, fits = _TYPES[argument.type]
    if not fits(value):
        raise UsageError(f"{argument.name} must be {expected}, not {_shown(value)}.")
    texts = value if isinstance(value, list) else [value]
    if any(isinstance(text, str) and _HALF.search(text) for text in texts):
        raise UsageError(f"{argument.name} holds half of a surrogate pair, which is no character.")
    if argument.choices and value not in argument.choices:
        raise UsageError(
            f"{argument.name} cannot be {value!r}.", f"It is one of {', '.join(argument.choices)}."
        )
    return tuple(texts) if argument.type == "texts" else value


def _shown(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_time(value: object) -> bool:
    return type(value) in (int, float) and 0 < value < 1e9  # type: ignore[operator]


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


_TYPES: dict[str, tuple[str, Callable[[object], bool]]] = {
    "text": ("a text", _is_text),
    "integer": ("a whole number, at least 1", _is_count),
    "number": ("a number of seconds, more than 0", _is_time),
    "flag": ("true or false", _is_flag),
    "texts": ("a list of texts", _are_texts),
}

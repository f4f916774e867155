"""Where a query stops being SPARQL, and what could have stood there.

Oxigraph reports the furthest position that any alternative of its grammar looked at, which is up to
a keyword's length past the error or simply the end. The place is found by what its parser accepts:
the first token that cannot follow the ones before it. A text followed by spaces is a beginning of
some query exactly if the parser gets to their end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import pairwise
from typing import Final

from pyoxigraph import NamedNode

from synapse.engine.errors import InvalidQuery
from synapse.engine.graph.places import offset_of, place_of
from synapse.engine.graph.terminals import Token, tokens

Parse = Callable[[str], str | None]
"""Gives the parser's message for a text that does not parse, None for one that does."""

_PLACE: Final = re.compile(r"error at (\d+):(\d+): expected (?:one of )?(.*)", re.DOTALL)
_PAD: Final = 64
"""Spaces that are more than any keyword is long."""
_LONGEST_KEYWORD: Final = 16
_MUCH_TEXT: Final = 20_000
"""Characters of a query from which on the keywords that could follow are not worked out."""
_MANY: Final = 8

_SIGNS: Final = {
    '"?"': "a variable",
    '"<"': "an IRI",
    '":"': "a prefixed name",
    '"\\""': "a string",
    "['0'..='9']": "a number",
    '"_:"': "a blank node",
    '"{"': "{",
    '"}"': "}",
    '"("': "(",
    '")"': ")",
    '"["': "[",
    '"]"': "]",
    '"."': ".",
    '";"': ";",
    '","': ",",
    '"*"': "*",
    '"="': "=",
}


def invalid_query(text: str, message: str, parse: Parse, prefixes: Collection[str]) -> InvalidQuery:
    """The error to raise for a text that the parser refused with `message`.

    prefixes: names that need no declaration. Line and column point into the text as given.
    """
    found = list(tokens(text))
    if not found:
        return InvalidQuery("The query is empty.", "Begin with SELECT, ASK, CONSTRUCT or DESCRIBE.")
    broken = next((token for token in found if token.kind == "broken"), None)
    if broken is not None:
        return _error(text, broken.start, "This string has no closing quote, or a wrong escape in it.")
    reached = _first_that_cannot_follow(text, found, parse)
    semantic = _sentence(message)
    if reached == len(found):
        if semantic:
            return _error(text, found[-1].start, semantic)
        return _error(text, found[-1].end, "The query ends too early.", _expected(text, found[-1].end, parse))
    token = found[reached]
    shown = text[token.start : token.end]
    complaint = parse(text[: token.end] + " " * _PAD) or message
    name = shown.partition(":")[0]
    if token.kind == "name" and name not in _declared(text, found) | {*prefixes}:
        hint = f"Add PREFIX {name}: <...>."
        return _error(text, token.start, f"The prefix `{name}:` is not declared.", hint)
    if "IRI parsing failed" in complaint and shown.endswith(">"):
        start = token.start if token.kind == "iri" else text.rfind("<", 0, token.start)
        return _error(text, start, f"`{_short(text[start : token.end])}` is no valid IRI.")
    end_before = found[reached - 1].end if reached else 0
    # The parser knows what is wrong with a group as it ends; it says so only if the text ends there too.
    for end in (end_before, token.end):
        semantic = semantic or _sentence(complaint) or _sentence(parse(text[:end]) or "")
    if semantic:
        return _error(text, token.start, semantic)
    return _error(
        text, token.start, f"`{_short(shown)}` cannot stand here.", _expected(text, end_before, parse)
    )


def _first_that_cannot_follow(text: str, found: list[Token], parse: Parse) -> int:
    """Index of the token after which no query begins so any more; their number if there is none."""
    low, high = 0, len(found)  # the first `low` tokens begin a query, more than `high` do not
    while low < high:
        middle = (low + high + 1) // 2
        if _begins_a_query(text[: found[middle - 1].end], parse):
            low = middle
        else:
            high = middle - 1
    return low


def _begins_a_query(start: str, parse: Parse) -> bool:
    padded = start + " " * _PAD
    message = parse(padded)
    if message is None:
        return True
    place = _PLACE.match(message)
    return place is not None and offset_of(padded, int(place[1]), int(place[2])) >= len(padded)


def _expected(text: str, end: int, parse: Parse) -> str:
    start = text[:end] + " "
    items = [said for sign, said in _SIGNS.items() if sign in _alternatives(start, parse)]
    if end <= _MUCH_TEXT:
        for length in range(2, _LONGEST_KEYWORD + 1):
            # No keyword matches these characters, so each that is tried here fails just behind them.
            tried = _alternatives(start + "\x01" * length, parse)
            items += [word for word in tried if len(word) == length and word.isalpha()]
    if not items:
        return ""
    if len(items) > _MANY:
        items = [*items[:_MANY], "…"]
    return f"Expected {', '.join(items)}."


def _alternatives(start: str, parse: Parse) -> list[str]:
    place = _PLACE.match(parse(start) or "")
    if place is None or offset_of(start, int(place[1]), int(place[2])) < len(start):
        return []
    return place[3].split(", ")


def _sentence(message: str) -> str:
    """A complaint about meaning, where the parser has one: it is longer than a grammar's symbol."""
    place = _PLACE.match(message)
    for item in place[3].split(", ") if place else ():
        if item.count(" ") >= 3 and item[0].isalpha():
            return item[0].upper() + item[1:].rstrip(".") + "."
    return ""


def _declared(text: str, found: list[Token]) -> set[str]:
    names = set()
    for before, token in pairwise(found):
        if token.kind == "name" and text[before.start : before.end].upper() == "PREFIX":
            names.add(text[token.start : token.end].partition(":")[0])
    return names


def _error(text: str, offset: int, message: str, hint: str = "") -> InvalidQuery:
    line, column = place_of(text, offset)
    return InvalidQuery(message, hint, line=line, column=column)


def _short(shown: str) -> str:
    return shown if len(shown) <= 40 else shown[:39] + "…"


def unknown_function(text: str, message: str) -> InvalidQuery:
    """The error for a call of a function that Oxigraph does not have."""
    named = re.search(r"<([^<>]*)>", message)
    if named is None:
        return InvalidQuery(message)
    iri = NamedNode(named[1])
    offset = text.find(str(iri))
    line, column = place_of(text, offset) if offset >= 0 else (None, None)
    return InvalidQuery(f"There is no function {iri}.", line=line, column=column)

"""Refuses SPARQL that would reach out of the store: SERVICE, and LOAD with the other updates.

pyoxigraph has no query parser to ask and opens connections for SERVICE, so what it will read has
to be foreseen. Its grammar is a parsing expression grammar without separate words, and more texts
call a service than a lexer by the longest match would see [tried, each opened a connection]:

- keywords need no space around them: `?s ?p trueSERVICE<http://h/>{}`;
- `FILTER(1<2)SERVICE?e#>` and a group on the next line: `<2)SERVICE?e#>` looks like an IRI;
- `ex:SERVICE` falls apart into `ex:` and `SERVICE` where the prefix's IRI ends in a port number
  and so cannot be continued by letters;
- `ex:a.b.SERVICE`, since a local name has one dotted part only;
- `SERVICE:e {}` calls the service named by the empty prefix.

So the text is not cut into tokens once. From the start every terminal that Oxigraph could read at
a position leads to the next positions, and a query is refused if one that can be reached has the
form `SERVICE SILENT? (variable | IRI | name) {`. Inside comments, strings, IRIs, variables and
names the word is harmless.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pyoxigraph import NamedNode

from synapse.engine.errors import RefusedQuery
from synapse.engine.graph import terminals
from synapse.engine.graph.places import place_of
from synapse.engine.terms import vocabulary as v

_SERVICE: Final = re.compile("service", re.IGNORECASE | re.ASCII)
_SILENT: Final = re.compile("silent", re.IGNORECASE | re.ASCII)
_DECLARATION: Final = re.compile(r"PREFIX", re.IGNORECASE | re.ASCII)
_CODEPOINT: Final = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")
_UPDATES: Final = frozenset(
    ("INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH")
)
_WHOLE: Final = (terminals.VARIABLE, terminals.BLANK, terminals.LANGUAGE)
"""Terminals that can be read in one way only."""

_MOST_READINGS: Final = 8
"""Ways to read a text, on average per character, after which it is taken for an attack."""


def check(text: str, prefixes: Mapping[str, str] = v.PREFIXES) -> None:
    """Raises RefusedQuery, with the place, for a query that calls a service or is an update.

    prefixes: name -> IRI, all that the query may use without declaring them.
    """
    called = _service_call(text, prefixes)
    if called is not None or _service_call(_without_codepoint_escapes(text), prefixes) is not None:
        line, column = place_of(text, called) if called is not None else (None, None)
        raise RefusedQuery(
            "SERVICE is not allowed: queries never leave this machine.",
            "Remove the SERVICE clause.",
            line=line,
            column=column,
        )
    if update := _update_form(text):
        word = text[update.start : update.end].upper()
        line, column = place_of(text, update.start)
        message = (
            "LOAD is not allowed: queries never leave this machine."
            if word == "LOAD"
            else f"{word} is an update, and queries only read."
        )
        hint = "State and retract facts instead, so that who and why is recorded."
        raise RefusedQuery(message, hint, line=line, column=column)


def _update_form(text: str) -> terminals.Token | None:
    """The keyword of an update, if the text is one."""
    previous = ""
    for token in terminals.tokens(text):
        if token.kind == "word":
            word = text[token.start : token.end].upper()
            if word not in ("BASE", "PREFIX", "VERSION"):
                return token if word in _UPDATES else None
            previous = word
        elif token.kind not in ("iri", "name", "string") or not previous:
            return None
    return None


def _service_call(text: str, prefixes: Mapping[str, str]) -> int | None:
    """Where the text may call a service; None if it cannot."""
    suspects = [found.start() for found in _SERVICE.finditer(text)]
    names = _declared(text, prefixes) if suspects else {}
    calls = {at for at in suspects if _has_call_form(text, at + len("service"), names)}
    return min(_reachable(text, calls, names), default=None) if calls else None


def _has_call_form(text: str, at: int, names: dict[str, list[str]]) -> bool:
    """Whether what follows the word could be a service call's `SILENT? VarOrIri {`."""
    at = _skip(text, at)
    starts = [at]
    if silent := _SILENT.match(text, at):
        starts.append(_skip(text, silent.end()))
    return any(
        text.startswith("{", _skip(text, end)) for start in starts for end in _target_ends(text, start, names)
    )


def _target_ends(text: str, at: int, names: dict[str, list[str]]) -> Iterator[int]:
    for pattern in (terminals.VARIABLE, terminals.IRIREF):
        if found := pattern.match(text, at):
            yield found.end()
    # Without its declaration a prefix is an error wherever Oxigraph meets it.
    if (name := terminals.name_end(text, at)) and text[at : name[0] - 1] in names:
        yield from name


def _skip(text: str, at: int) -> int:
    skipped = terminals.SKIP.match(text, at)
    return skipped.end() if skipped else at


def _declared(text: str, prefixes: Mapping[str, str]) -> dict[str, list[str]]:
    """Every IRI that each prefix may stand for: the known ones and all that look declared."""
    names = {name: [iri] for name, iri in prefixes.items()}
    for found in _DECLARATION.finditer(text):
        prefix = terminals.PREFIX.match(text, _skip(text, found.end()))
        iri = prefix and terminals.IRIREF.match(text, _skip(text, prefix.end()))
        if prefix and iri:
            names.setdefault(prefix.group()[:-1], []).append(iri.group(1))
    return names


def _reachable(text: str, calls: set[int], names: dict[str, list[str]]) -> set[int]:
    """Which of the given positions of the word Oxigraph could read as a keyword.

    States are (position, open parentheses): a `<` that could begin an IRI is read as less-than
    only inside parentheses, where alone SPARQL has comparisons.
    """
    reached: set[int] = set()
    seen: set[tuple[int, int]] = set()
    waiting = [(0, 0)]
    while waiting:
        state = waiting.pop()
        at, depth = state
        if state in seen or at >= len(text) or depth < 0:
            continue
        seen.add(state)
        if len(seen) > _MOST_READINGS * len(text):
            return calls
        if word := terminals.WORD.match(text, at):
            # A run of letters may be several keywords without space between them.
            reached.update(call for call in calls if at <= call < word.end())
        for end in _ends(text, at, depth, names):
            change = {"(": 1, ")": -1}.get(text[at], 0) if end == at + 1 else 0
            waiting.append((end, depth + change))
    return reached


def _ends(text: str, at: int, depth: int, names: dict[str, list[str]]) -> Iterator[int]:
    """Where a terminal that begins at `at` can end, for each way in which it can be read."""
    char = text[at]
    if skipped := terminals.SKIP.match(text, at):
        yield skipped.end()
    elif char in "\"'":
        end = terminals.string_end(text, at)
        if end is not None:
            yield end
    elif char == "<":
        iri = terminals.IRIREF.match(text, at)
        if iri:
            yield iri.end()
        if iri is None or depth > 0:
            yield at + 1
    elif found := next(filter(None, (pattern.match(text, at) for pattern in _WHOLE)), None):
        yield found.end()
    elif char != "\\":
        if name := terminals.name_end(text, at):
            colon, end = name
            yield end
            if _falls_apart(text[at : colon - 1], text[colon:end], names):
                yield colon
        if word := terminals.WORD.match(text, at):
            yield word.end()
        elif char != ":":  # a colon is always part of a name
            yield at + 1


def _falls_apart(label: str, local: str, names: dict[str, list[str]]) -> bool:
    """Whether `label:local` can fail as a name where `label:` alone does not."""
    local = local.replace("\\", "")
    for name, iris in names.items():
        if not label.endswith(name):  # letters before the prefix may be a keyword
            continue
        for iri in iris:
            try:
                NamedNode(iri + local)
            except ValueError:
                return True
    return False


def _without_codepoint_escapes(text: str) -> str:
    """The text with `\\uXXXX` replaced as SPARQL asks (section 19.2); Oxigraph leaves that out today."""

    def character(found: re.Match[str]) -> str:
        code = int(found.group(1) or found.group(2), 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else found.group()

    return _CODEPOINT.sub(character, text) if "\\" in text else text

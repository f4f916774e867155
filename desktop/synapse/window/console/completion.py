"""What may stand where the cursor is: read from the text before it, filled from the store."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal as OneOf

from synapse.window.console.tokens import (
    BRACKETS,
    FUNCTIONS,
    KEYWORDS,
    Token,
    declared_prefixes,
    tokens,
    variables,
)

Slot = OneOf["prefix", "class", "property", "entity", "graph", "variable", "any", "none"]

MOST = 60
_AFTER_GRAPH = frozenset({"GRAPH", "FROM", "NAMED"})


@dataclass(frozen=True, slots=True)
class Term:
    """A class, property or entity of the store. text: as it is inserted (`schema:name`,
    `<people/bob>`); label: for people; count: how often it is used."""

    text: str
    label: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class Known:
    """What completion knows of the store."""

    classes: tuple[Term, ...] = ()
    properties: tuple[Term, ...] = ()
    entities: tuple[Term, ...] = ()
    graphs: tuple[Term, ...] = ()
    prefixes: dict[str, str] = field(default_factory=dict)
    undeclared: frozenset[str] = frozenset()
    """Prefixes that the engine knows without a PREFIX line."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the cursor is: what belongs there, and the piece of word before it (code points)."""

    slot: Slot
    start: int
    end: int
    typed: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """text: inserted over the place; shown, detail: its row. declares: a prefix it needs."""

    text: str
    shown: str
    detail: str = ""
    declares: str | None = None


def place_at(text: str, cursor: int) -> Place:
    """What belongs at `cursor` (code points), by the tokens before it."""
    before, inside = tokens(text[:cursor])
    line, start = list(before), cursor
    if inside or (line and line[-1].kind in ("comment", "string") and line[-1].end == cursor):
        return Place("none", cursor, cursor, "")
    typed = ""
    opened = _open_iri(text, cursor)
    if opened is not None:
        start, typed = opened, text[opened:cursor]
        line = [token for token in line if token.end <= opened]
    elif line and line[-1].end == cursor and line[-1].kind in (
        "word", "keyword", "function", "name", "variable", "iri",
    ):  # fmt: skip
        start, typed = line[-1].start, text[line[-1].start : cursor]
        line.pop()
    elif line and line[-1].end == cursor and text[cursor - 1] in "?$":
        start, typed = cursor - 1, "?"
        line.pop()
    if typed[:1] in ("?", "$"):
        return Place("variable", start, cursor, typed)
    return Place(_slot(text, line), start, cursor, typed)


def _open_iri(text: str, cursor: int) -> int | None:
    """Where an IRI begins that is being typed at the cursor."""
    at = text.rfind("<", 0, cursor)
    if at < 0:
        return None
    typed = text[at + 1 : cursor]
    return at if not any(char in typed for char in " \t\r\n<>\"{}|^`\\?$") else None


def _slot(text: str, line: list[Token]) -> Slot:
    words = [text[token.start : token.end] for token in line]
    if not words:
        return "any"
    last = words[-1].upper()
    if last == "PREFIX":
        return "prefix"
    if last in _AFTER_GRAPH:
        return "graph"
    position = _position(line, words)
    if position is None:
        return "any"
    if position == 1:
        return "property"
    return "class" if position == 2 and _is_type(words[-1]) else "entity"


def _is_type(word: str) -> bool:
    return word == "a" or word == "rdf:type"


def _position(line: list[Token], words: list[str]) -> int | None:
    """0 subject, 1 property, 2 object of the triple at the end; None outside a pattern."""
    depth: list[str] = []
    for word, token in zip(words, line, strict=True):
        if token.kind == "bracket" and word in BRACKETS:
            depth.append(word)
        elif token.kind == "bracket" and depth:
            depth.pop()
    if "{" not in depth and "[" not in depth:
        return None
    if depth[-1] == "(":
        return None
    position = 0
    for at in range(len(line) - 1, -1, -1):
        word, kind = words[at], line[at].kind
        if word in (".", "{", "}") or (kind == "keyword" and word != "a"):
            return min(position, 2)
        if word in (";", "["):
            return min(position + 1, 2)
        if word == ",":
            return 2
        if word in ("/", "^", "|", "*", "+", "?", "!"):
            # A path is one property, however many steps it has.
            position = max(position - (word in "/|"), 0)
            if at == len(line) - 1 and word in "/^|!":
                return 1
            continue
        if kind == "bracket":
            return min(position + 1, 2) if word == "]" else None
        position += 1
    return min(position, 2)


def proposals(text: str, place: Place, known: Known) -> list[Proposal]:
    """What to offer at a place, the best first, at most MOST."""
    if place.slot == "none":
        return []
    declared = declared_prefixes(text)
    found: list[Proposal] = []
    typed = place.typed
    if place.slot == "prefix":
        wanted = typed.rstrip(":").casefold()
        return [
            Proposal(f"{name}: <{iri}>", f"{name}:", iri)
            for name, iri in sorted(known.prefixes.items())
            if name.casefold().startswith(wanted) and name not in declared
        ][:MOST]
    if place.slot == "variable":
        names = variables(text[: place.start] + " " + text[place.end :])
        return [Proposal(name, name) for name in names if name.casefold().startswith(typed.casefold())][:MOST]
    terms = {
        "class": known.classes,
        "property": known.properties,
        "entity": known.entities,
        "graph": known.graphs,
        "any": (),
    }[place.slot]
    found += _ranked(terms, typed, known, declared)
    if place.slot == "entity" and len(typed) >= 2 and not typed.startswith("<"):
        found += _ranked(known.classes, typed, known, declared)
    if typed and typed[0].isalpha() and ":" not in typed:
        words = sorted(word for word in (KEYWORDS | FUNCTIONS) - {"A"} if word.startswith(typed.upper()))
        calls = [Proposal(f"{word}(" if word in FUNCTIONS else word, word) for word in words]
        found = calls + found if place.slot == "any" else found + calls
    return [proposal for proposal in found if proposal.text != typed][:MOST]


def _ranked(terms: Iterable[Term], typed: str, known: Known, declared: dict[str, str]) -> list[Proposal]:
    wanted = typed.lstrip("<").casefold()
    ranked = []
    for term in terms:
        bare = term.text.strip("<>").casefold()
        label = term.label.casefold()
        local = bare.rpartition(":")[2] if not term.text.startswith("<") else bare.rpartition("/")[2]
        if bare.startswith(wanted):
            rank = 0
        elif local.startswith(wanted) or label.startswith(wanted):
            rank = 1
        elif wanted and (wanted in bare or wanted in label):
            rank = 2
        else:
            continue
        ranked.append((rank, -term.count, term.text.casefold(), term))
    ranked.sort(key=lambda entry: entry[:3])
    found = []
    for _, _, _, term in ranked[:MOST]:
        prefix = term.text.partition(":")[0] if not term.text.startswith("<") else ""
        is_known = prefix in declared or prefix in known.undeclared
        needs = prefix if prefix in known.prefixes and not is_known else None
        found.append(Proposal(term.text, term.text, term.label, declares=needs))
    return found

"""SPARQL as an editor sees it: text in the making, cut into tokens line by line.

Tolerant where a parser is strict: an open string runs to the end of its line, an unknown character
is punctuation. SPARQL 1.1 section 19.8 for the terminals, 19.2 for the keywords; 1.2's triple
terms and the words of its new functions are known too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple


class State(IntEnum):
    """What a line begins inside of."""

    NORMAL = 0
    LONG_DOUBLE = 1
    LONG_SINGLE = 2


class Token(NamedTuple):
    """kind: keyword, function, variable, iri, name, string, number, language, comment, blank,
    bracket, punctuation or word. start, end: code points in the line or text."""

    kind: str
    start: int
    end: int


_KEYWORDS = """
    BASE PREFIX VERSION SELECT DISTINCT REDUCED AS CONSTRUCT DESCRIBE ASK FROM NAMED WHERE ORDER BY ASC
    DESC LIMIT OFFSET GROUP HAVING VALUES UNDEF GRAPH OPTIONAL UNION MINUS FILTER BIND SERVICE SILENT EXISTS
    NOT IN SEPARATOR TRUE FALSE A INSERT DELETE DATA WITH USING LOAD CLEAR DROP CREATE ADD MOVE COPY
    TO INTO DEFAULT ALL LATERAL"""
_FUNCTIONS = """
    STR LANG LANGMATCHES LANGDIR HASLANG HASLANGDIR STRLANGDIR DATATYPE BOUND IRI URI BNODE RAND ABS CEIL
    FLOOR ROUND CONCAT STRLEN UCASE LCASE ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR
    MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF
    STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL ISNUMERIC REGEX SUBSTR REPLACE COUNT SUM MIN MAX
    AVG SAMPLE GROUP_CONCAT TRIPLE SUBJECT PREDICATE OBJECT ISTRIPLE ADJUST"""
KEYWORDS: Final = frozenset(_KEYWORDS.split())
FUNCTIONS: Final = frozenset(_FUNCTIONS.split())
BRACKETS: Final = {"(": ")", "{": "}", "[": "]"}

_NAME_START = r"[^\W\d]"
_TOKEN: Final = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<comment>\#.*)
    | (?P<iri><[^<>"{{}}|^`\\\x00-\x20]*>)
    | (?P<variable>[?$]\w+)
    | (?P<long>\"\"\"|''')
    | (?P<string>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)
    | (?P<language>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
    | (?P<blank>_:[\w.-]*\w)
    | (?P<name>(?:{_NAME_START}[\w.-]*)?:
        (?:[\w:-]|%[0-9A-Fa-f]{{2}}|\\[_~.\-!$&'()*+,;=/?\#@%]|\.(?=[\w:%\\-]))*)
    | (?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)
    | (?P<word>{_NAME_START}\w*)
    | (?P<bracket>[(){{}}\[\]])
    | (?P<punctuation>\^\^|&&|\|\||!=|<=|>=|<<|>>|.)
    """,
    re.VERBOSE,
)
_LONG_ENDS: Final = {
    State.LONG_DOUBLE: re.compile(r'(?:[^"\\]|\\.|"{1,2}(?!"))*"""', re.DOTALL),
    State.LONG_SINGLE: re.compile(r"(?:[^'\\]|\\.|'{1,2}(?!'))*'''", re.DOTALL),
}


def tokens(text: str, state: State = State.NORMAL) -> tuple[list[Token], State]:
    """The tokens of a line (or of a whole text), without white space, and what the next one begins
    inside of."""
    found: list[Token] = []
    at = 0
    if state is not State.NORMAL:
        closed = _LONG_ENDS[state].match(text)
        if closed is None:
            return [Token("string", 0, len(text))] if text else [], state
        found.append(Token("string", 0, closed.end()))
        at = closed.end()
    while at < len(text):
        match = _TOKEN.match(text, at)
        assert match is not None, "every character is at least punctuation"
        kind, end = match.lastgroup or "punctuation", match.end()
        if kind == "long":
            opened = State.LONG_DOUBLE if text[at] == '"' else State.LONG_SINGLE
            closed = _LONG_ENDS[opened].match(text, end)
            if closed is None:
                found.append(Token("string", at, len(text)))
                return found, opened
            kind, end = "string", closed.end()
        if kind == "word":
            kind = kind_of_word(text[at:end])
        if kind != "space":
            found.append(Token(kind, at, end))
        at = end
    return found, State.NORMAL


def kind_of_word(word: str) -> str:
    """`a` is a keyword in lower case only."""
    upper = word.upper()
    if upper == "A":
        return "keyword" if word == "a" else "word"
    if upper in KEYWORDS:
        return "keyword"
    return "function" if upper in FUNCTIONS else "word"


def matching_bracket(text: str, at: int) -> int | None:
    """Where the bracket is that belongs to the one at `at`; None where it has none.

    Brackets in strings, comments and IRIs do not count.
    """
    opened: list[tuple[str, int]] = []
    for token in _brackets(text):
        char = text[token.start]
        if char in BRACKETS:
            opened.append((BRACKETS[char], token.start))
        elif opened and opened[-1][0] == char:
            _, start = opened.pop()
            if at in (start, token.start):
                return start if at == token.start else token.start
        elif token.start == at:
            return None
    return None


def _brackets(text: str) -> Iterator[Token]:
    return (token for token in tokens(text)[0] if token.kind == "bracket")


def declared_prefixes(text: str) -> dict[str, str]:
    """The prefixes that the text declares, with their IRIs."""
    found: dict[str, str] = {}
    line = tokens(text)[0]
    for word, name, iri in zip(line, line[1:], line[2:], strict=False):
        if (
            word.kind == "keyword"
            and text[word.start : word.end].upper() == "PREFIX"
            and name.kind == "name"
            and iri.kind == "iri"
        ):
            found[text[name.start : name.end].partition(":")[0]] = text[iri.start + 1 : iri.end - 1]
    return found


def variables(text: str) -> list[str]:
    """The variables of a query, each once, in the order in which they come."""
    names = (text[token.start : token.end] for token in tokens(text)[0] if token.kind == "variable")
    return list(dict.fromkeys(f"?{name[1:]}" for name in names))

"""The terminals of SPARQL 1.1 (section 19.8) and 1.2, as Oxigraph's grammar reads them.

Where Oxigraph 0.5 is laxer than the specification the patterns follow Oxigraph, since they are
there to foresee what it will do: a local name has at most one dotted part, for instance, so that
`ex:a.b.c` is `ex:a.b`, a full stop and the letter `c`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_BASE = (
    "A-Za-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd"
)
_START = _BASE + "_"
_CHARS = _START + "0-9\u00b7\u0300-\u036f\u203f-\u2040-"
_ESCAPE = r"%[0-9A-Fa-f]{2}|\\[_~.\-!$&'()*+,;=/?#@%]"
_UCHAR = r"\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}"
_STRING_ESCAPE = r"\\[tbnrf\"'\\]|" + _UCHAR

_ESCAPED_CHARACTER: Final = re.compile(_UCHAR + r"|\\\\")

SKIP: Final = re.compile(r"(?:[ \t\r\n]++|#[^\r\n]*+)++")
"""White space and comments."""
WORD: Final = re.compile(r"[A-Za-z]++")
IRIREF: Final = re.compile(rf"<((?:[^\x00-\x20<>\"{{}}|^`\\]|{_UCHAR})*+)>")
VARIABLE: Final = re.compile(rf"[?$][{_START}0-9][{_CHARS.removesuffix('-')}]*+")
PREFIX: Final = re.compile(rf"(?:[{_BASE}][{_CHARS}]*+(?:\.++[{_CHARS}]++)*+)?+:")
LOCAL: Final = re.compile(
    rf"(?:[{_START}:0-9]|{_ESCAPE})(?:[{_CHARS}:]|{_ESCAPE})*+(?:\.++(?:[{_CHARS}:]|{_ESCAPE})++)?+"
)
BLANK: Final = re.compile(rf"_:[{_START}0-9][{_CHARS}]*+(?:\.++[{_CHARS}]++)*+")
LANGUAGE: Final = re.compile(r"@[A-Za-z]++(?:-[A-Za-z0-9]++)*+(?:--[A-Za-z]++)?+")
NUMBER: Final = re.compile(r"(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
SHORT: Final = (
    re.compile(rf"\"(?:[^\"\\\n\r]++|{_STRING_ESCAPE})*+\""),
    re.compile(rf"'(?:[^'\\\n\r]++|{_STRING_ESCAPE})*+'"),
)
LONG: Final = (
    re.compile(rf"\"\"\"(?:[^\"\\]++|\"{{1,2}}(?!\")|{_STRING_ESCAPE})*+\"\"\""),
    re.compile(rf"'''(?:[^'\\]++|'{{1,2}}(?!')|{_STRING_ESCAPE})*+'''"),
)


class Token(NamedTuple):
    """kind: word, iri, variable, name, blank, language, number, string, punctuation or broken."""

    kind: str
    start: int
    end: int


def tokens(text: str, start: int = 0) -> Iterator[Token]:
    """The terminals of a text, longest first, without white space and comments.

    A quote that is never closed gives a `broken` token that runs to the end of its line.
    """
    at = start
    while at < len(text):
        if skipped := SKIP.match(text, at):
            at = skipped.end()
            continue
        token = _token(text, at)
        yield token
        at = token.end


def string_end(text: str, at: int) -> int | None:
    """Where the string that begins at `at` ends; None if it is not closed."""
    kind = 0 if text[at] == '"' else 1
    for pattern in (LONG[kind], SHORT[kind]):
        found = pattern.match(text, at)
        if found and _escapes_are_characters(found.group()):
            return found.end()
    return None


def _escapes_are_characters(string: str) -> bool:
    """Whether no escape names half a surrogate pair or what lies beyond Unicode; such a string is none."""
    return all(
        (code := int(digits[2:], 16)) <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF
        for digits in _ESCAPED_CHARACTER.findall(string)
        if digits[1] in "uU"
    )


def name_end(text: str, at: int) -> tuple[int, int] | None:
    """Of the prefixed name at `at`: where its colon ends, and where it ends itself."""
    prefix = PREFIX.match(text, at)
    if prefix is None:
        return None
    local = LOCAL.match(text, prefix.end())
    return prefix.end(), local.end() if local else prefix.end()


def _token(text: str, at: int) -> Token:
    char = text[at]
    if char in "\"'":
        end = string_end(text, at)
        if end is not None:
            return Token("string", at, end)
        line_end = re.compile(r"[^\r\n]*").match(text, at)
        return Token("broken", at, line_end.end() if line_end else len(text))
    for kind, pattern in (("blank", BLANK), ("iri", IRIREF), ("variable", VARIABLE)):
        if found := pattern.match(text, at):
            return Token(kind, at, found.end())
    if name := name_end(text, at):
        return Token("name", at, name[1])
    for kind, pattern in (("word", WORD), ("language", LANGUAGE), ("number", NUMBER)):
        if found := pattern.match(text, at):
            return Token(kind, at, found.end())
    for sign in ("<<(", ")>>", "<<", ">>", "&&", "||", "!=", "<=", ">=", "^^", "{|", "|}"):
        if text.startswith(sign, at):
            return Token("punctuation", at, at + len(sign))
    return Token("punctuation", at, at + 1)

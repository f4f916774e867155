"""Text as the full-text index takes it (data-model.md section 7, `search`).

Chinese, Japanese, Korean and Thai write no spaces. Their characters are indexed one by one, kept
apart by a zero-width space that SQLite's `unicode61` tokenizer reads as a separator, and a run of
them in a query becomes a phrase.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

SEPARATOR = "\u200b"
HIT_START, HIT_END = "\ue000", "\ue001"
"""Around the found words of a snippet; from the private use area, so that no text holds them."""

_UNSPACED = (
    "\u0e00-\u0e7f"  # Thai
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
_CHARACTER = re.compile(f"[{_UNSPACED}]")
_TOKEN = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_MARKS = re.compile("[\u0300-\u036f]")
"""Accents that no letter takes in; `unicode61` passes them over within a word, a pattern does not."""
_PHRASE = re.compile(r'"([^"]*)"')


def indexed(text: str) -> str:
    """The text with its unspaced characters kept apart, as one `str.translate` would give it."""
    return _CHARACTER.sub(lambda found: f"{SEPARATOR}{found[0]}{SEPARATOR}", text)


def shown(snippet: str) -> str:
    """A snippet of indexed text as a person reads it."""
    return snippet.replace(SEPARATOR, "")


def _composed(text: str) -> str:
    """A query with each accented letter as one character, which is no word boundary."""
    return _MARKS.sub("", unicodedata.normalize("NFC", text))


def _quoted(words: list[str]) -> str:
    return '"' + " ".join(words) + '"'


def _tokens(text: str) -> list[str]:
    """The tokens that `unicode61` would find in `text`, unspaced runs split into characters."""
    found: list[str] = []
    for token in _TOKEN.findall(text):
        if _CHARACTER.match(token):
            found.extend(token)
        else:
            found.append(token)
    return found


def match_expression(text: str) -> str | None:
    """An FTS5 query for what a person typed: every word must occur, the last of each run of letters
    may be the beginning of a longer word, `"..."` is a phrase. None where nothing can be searched.

    All operators of FTS5 in `text` are taken as text, so no input is a syntax error.
    """
    return _expression(_parts(text), "*")


def whole_words(text: str) -> str | None:
    """The same query for the stemmed table: every word and phrase, whole. None where no word is of
    three letters or more, so that there is nothing to widen."""
    parts = _parts(text)
    if not any(len(word) >= 3 for words, _ in parts for word in words):
        return None
    return _expression(parts, "")


def matcher(text: str) -> Callable[[str], bool] | None:
    """Whether a name has what `text` asks for, by the rules of `match_expression`; None where nothing
    can be searched."""
    wanted = [([_plain(word) for word in words], goes_on) for words, goes_on in _parts(text)]

    def matches(name: str) -> bool:
        found = [_plain(word) for word in _tokens(_composed(name))]
        return all(_stands_in(found, words, goes_on) for words, goes_on in wanted)

    return matches if wanted else None


def _stands_in(found: list[str], words: list[str], goes_on: bool) -> bool:
    *before, last = words
    for start in range(len(found) - len(words) + 1):
        end = found[start + len(before)]
        if found[start : start + len(before)] == before and (
            end.startswith(last) if goes_on else end == last
        ):
            return True
    return False


def _plain(word: str) -> str:
    """A word without case and accents, as `unicode61` compares words."""
    parts = unicodedata.normalize("NFD", word.casefold())
    return "".join(part for part in parts if not unicodedata.combining(part))


def _parts(text: str) -> list[tuple[list[str], bool]]:
    """The words that must stand together, in order, and whether the last may go on."""
    text = _composed(text)
    parts: list[tuple[list[str], bool]] = []
    rest_start = 0
    for phrase in _PHRASE.finditer(text):
        parts += _words(text[rest_start : phrase.start()])
        if words := _tokens(phrase[1]):
            parts.append((words, False))
        rest_start = phrase.end()
    return parts + _words(text[rest_start:])


def _words(text: str) -> list[tuple[list[str], bool]]:
    return [
        (list(token), False) if _CHARACTER.match(token) else ([token], True) for token in _TOKEN.findall(text)
    ]


def _expression(parts: list[tuple[list[str], bool]], more: str) -> str | None:
    return " AND ".join(_quoted(words) + more * goes_on for words, goes_on in parts) or None

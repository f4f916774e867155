"""What stands inside the text of a body: tags, inline properties, relations, block ids, axioms.

Works on an `Outline`, so code, math, HTML and links are already known not to be text. Inline
properties are Dataview's: `key:: value` on a line of its own, `[key:: value]` and `(key:: value)`
anywhere; the colons are followed by a blank or a link, so that `std::vector` stays prose.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import Final

from synapse.engine.notes.body import BodyLink, Line, Outline
from synapse.engine.notes.syntax import only_separators

# Obsidian's tags end at white space, ASCII punctuation but - _ /, and general punctuation.
_TAG: Final = re.compile(r"#([^\s\u2000-\u206f\u2e00-\u2e7f!-,.:-@\[-^`{-~]+)")
_ESCAPED_END: Final = re.compile(r"(\\+)[!-/:-@\[-`{-~]\Z")
_ONLY_DIGITS: Final = re.compile(r"[0-9]*\Z")
_KEY: Final = r"[^\W\d][\w./-]*+(?: [\w./-]++)*+(?::[\w-]++)?"
_KEY_LINE: Final = re.compile(
    rf"(?:\*\*|__|[*_])?({_KEY})[ \t]*(?:\*\*|__|[*_])?::(?:\*\*|__|[*_])?(?=[ \t\[]|\Z)"
)
_KEY_BRACKET: Final = re.compile(rf"[\[(]({_KEY})[ \t]*::(?=[ \t\[])")
_BRACKET: Final = re.compile(r"[\[\]()]")
_BLOCK_ID: Final = re.compile(rb"(?:^|(?<=[ \t]))\^([A-Za-z0-9-]+)[ \t]*\Z")
_RELATION: Final = re.compile(rf"({_KEY})[ \t]*:?[ \t]*\Z")
_AXIOM: Final = re.compile(
    r"(sub_?class_of|sub_?property_of|inverse_of|transitive|symmetric)[ \t]*::?[ \t]+(\S.*)", re.I | re.S
)
LONGEST_KEY: Final = 80
"""Characters of a key or relation in a body; longer ones are prose."""


@dataclass(frozen=True, slots=True)
class InlineProperty:
    """`key:: value`; `start:end` is the whole of it, `value_start` where the value begins."""

    key: str
    value: str
    start: int
    value_start: int
    end: int


def read_tags(outline: Outline, encoded: bytes) -> list[tuple[str, int, int]]:
    """`#tag`s as name, start, end. One begins a run of text, or follows white space or an escape."""
    found: list[tuple[str, int, int]] = []
    if b"#" not in encoded:
        return found
    for start, end, after_markup in outline.runs:
        if encoded.find(b"#", start, end) < 0:
            continue
        raw = encoded[start:end]
        text = raw.decode()
        offset = _Offsets(text, raw, start)
        # A run may begin right after a backslash, with the character that this one escapes.
        before = "\\" if start > 0 and encoded[start - 1] == 0x5C else ""
        for match in _TAG.finditer(text):
            at = match.start()
            if at == 0:
                if before or not after_markup:
                    continue
            elif not text[at - 1].isspace() and not _ends_in_escape(before + text[max(0, at - 40) : at]):
                continue
            name = match[1].strip("/")
            if _ONLY_DIGITS.match(name):
                continue
            found.append((name, offset(at), offset(match.end())))
    return found


def _ends_in_escape(text: str) -> bool:
    """Whether the last character is escaped by a backslash, so that it is no markup."""
    found = _ESCAPED_END.search(text)
    return found is not None and len(found[1]) % 2 == 1


def read_block_ids(outline: Outline, encoded: bytes) -> list[tuple[str, int, int]]:
    """`^id` at the end of a block, as id, start, end."""
    found: list[tuple[str, int, int]] = []
    if b"^" not in encoded:
        return found
    for line in outline.lines:
        if not line.last:
            continue
        # Only the end of the line is looked at, so that a long one costs no more.
        first = max(line.start, line.end - 200)
        match = _BLOCK_ID.search(encoded[first : line.end])
        if match is not None:
            found.append((match[1].decode(), first + match.start(), first + match.end(1)))
    return found


def read_properties(outline: Outline, encoded: bytes) -> list[InlineProperty]:
    """Inline properties with a value; where the value is only links, these get the relation instead."""
    found: list[InlineProperty] = []
    if b"::" not in encoded:
        return found
    opaque_starts = [start for start, _ in outline.opaque]
    for line in outline.lines:
        if encoded.find(b"::", line.start, line.end) < 0:
            continue
        raw = encoded[line.start : line.end]
        text = raw.decode()
        offset = _Offsets(text, raw, line.start)
        for key, start, value_start, value_end, end in _property_ranges(text):
            first, value_first = offset(start), offset(value_start)
            value_last, last = offset(value_end), offset(end)
            if _is_opaque(outline, opaque_starts, first):
                continue
            if _relate(outline, line, encoded, key, value_first, value_last):
                continue
            value = text[value_start:value_end].strip()
            if value:
                found.append(InlineProperty(key, value, first, value_first, last))
    return found


def read_relations(outline: Outline, encoded: bytes) -> None:
    """Give the links of `- rel [[target]]` items under a Relations heading their relation."""
    for line in outline.lines:
        if not (line.relations and line.item) or line.first_link == line.end_link:
            continue
        links = outline.links
        first = links[line.first_link]
        if first.start - line.start > 4 * LONGEST_KEY:
            continue
        match = _RELATION.match(encoded[line.start : first.start].decode())
        if match is None or len(match[1]) > LONGEST_KEY:
            continue
        position = first.start
        for link in links[line.first_link : line.end_link]:
            if not only_separators(encoded[position : link.start].decode()):
                break
            if not link.embed and link.relation is None:
                link.relation = match[1]
            position = link.end


def read_axioms(outline: Outline, encoded: bytes) -> list[tuple[str, str, int, int]]:
    """Lines such as `subclass_of: a -> b`, as word, text, start, end."""
    found: list[tuple[str, str, int, int]] = []
    for line in outline.lines:
        match = _AXIOM.fullmatch(encoded[line.start : line.end].decode().strip())
        if match is not None:
            found.append((match[1], match[2], line.start, line.end))
    return found


def _property_ranges(text: str) -> list[tuple[str, int, int, int, int]]:
    """Key, and indices of start, value's start, value's end and end, of the properties in one line."""
    whole = _KEY_LINE.match(text)
    if whole is not None and len(whole[1]) <= LONGEST_KEY:
        return [(whole[1], 0, whole.end(), len(text), len(text))]
    opened = list(_KEY_BRACKET.finditer(text))
    if not opened:
        return []
    closing = _closing_brackets(text)
    found = []
    done = 0
    for match in opened:
        close = closing.get(match.start())
        if close is None or match.start() < done or len(match[1]) > LONGEST_KEY:
            continue
        found.append((match[1], match.start(), match.end(), close, close + 1))
        done = close + 1
    return found


def _closing_brackets(text: str) -> dict[int, int]:
    """Index of each opening bracket that is closed -> index of its closing one."""
    pairs: dict[int, int] = {}
    stacks: dict[str, list[int]] = {"[": [], "(": []}
    for match in _BRACKET.finditer(text):
        bracket = match[0]
        if bracket in stacks:
            stacks[bracket].append(match.start())
        else:
            stack = stacks["[" if bracket == "]" else "("]
            if stack:
                pairs[stack.pop()] = match.start()
    return pairs


def _is_opaque(outline: Outline, starts: list[int], offset: int) -> bool:
    """Whether the byte lies inside code, math, HTML or a link."""
    index = bisect_right(starts, offset) - 1
    return index >= 0 and offset < outline.opaque[index][1]


def _relate(outline: Outline, line: Line, encoded: bytes, key: str, start: int, end: int) -> bool:
    """If the value is nothing but links, give them the relation `key`."""
    first = bisect_left(outline.links, start, line.first_link, line.end_link, key=_start_of)
    after = bisect_left(outline.links, end, first, line.end_link, key=_start_of)
    links = outline.links[first:after]
    position = start
    for link in links:
        if link.start < position or not only_separators(encoded[position : link.start].decode()):
            return False
        position = link.end
    if not links or position > end or not only_separators(encoded[position:end].decode()):
        return False
    for link in links:
        if link.relation is None:
            link.relation = key
    return True


def _start_of(link: BodyLink) -> int:
    return link.start


class _Offsets:
    """Byte offsets of ascending character indices of one line; linear in the line, not in their number."""

    def __init__(self, text: str, raw: bytes, start: int) -> None:
        self._text = text
        self._plain = len(text) == len(raw)
        self._index = 0
        self._byte = start

    def __call__(self, index: int) -> int:
        passed = self._text[self._index : index]
        self._byte += len(passed) if self._plain else len(passed.encode())
        self._index = index
        return self._byte


def is_tag(name: str) -> bool:
    """Whether the word, without `#`, is a tag."""
    match = _TAG.fullmatch("#" + name)
    return match is not None and _ONLY_DIGITS.match(name) is None

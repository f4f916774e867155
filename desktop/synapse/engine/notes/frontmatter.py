"""The frontmatter block: where it is, and its properties with their places.

The block is read as composed YAML nodes by PyYAML's parser over libyaml, never as Python values:
nodes keep positions, duplicate keys and what was quoted. (python-frontmatter would call the same
parser and hand back its result; it adds nothing once splitting and loading are ours.)

What strict YAML rejects is read again key by key, and only the value at fault becomes text.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from typing import Any, Final

from yaml.cyaml import CBaseLoader
from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from synapse.engine.notes.source import Source, Span, rdf_text
from synapse.engine.notes.values import ListValue, MapValue, Property, ScalarValue, Value

LARGEST_BLOCK: Final = 256 * 1024
"""Characters; no property is read from a larger block."""
DEEPEST: Final = 32
"""Levels of nesting that are read."""
MOST_ALIASED: Final = 2000
"""Nodes that a note's aliases may repeat in all; a bomb of nested aliases ends here."""

_FIRST_LINE: Final = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)")
_LAST_LINE: Final = re.compile(r"(?<=[\r\n])(?:---|\.\.\.)[ \t]*+(?:\r\n|\n|\r|\Z)")
_LOOKS_LIKE_KEY: Final = re.compile(r"[\w\"'][\w \"'-]*:(?:\s|\Z)")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_KEYED: Final = re.compile(
    r"([^\s#\-:&*!|>{}\[\],\"'%@`][^:\r\n]*?|\"[^\"\r\n]+\"|'[^'\r\n]+')[ \t]*:(?:[ \t]+|$)"
)
_ITEM: Final = re.compile(r"-(?:[ \t]+|$)")
_STRING_TAG: Final = "tag:yaml.org,2002:str"


class _Composer(CBaseLoader):
    """libyaml's composer without tag resolution: a scalar's type is decided by `values`."""

    def descend_resolver(self, _parent: Any, _index: Any) -> None:
        """No path resolvers."""

    def ascend_resolver(self) -> None:
        """No path resolvers."""

    def resolve(self, _kind: Any, _value: Any, _implicit: Any) -> str:
        """One tag for whatever has none."""
        return ""


def split(text: str) -> tuple[int, int, int] | None:
    """Where the frontmatter is: start and end of the block, start of the body, as indices into `text`.

    The first line is `---`, the end a line `---` or `...`, each with trailing blanks allowed. None
    without such a block.
    """
    first = _FIRST_LINE.match(text)
    if first is None:
        return None
    last = _LAST_LINE.search(text, first.end())
    return None if last is None else (first.end(), last.start(), last.end())


def read_frontmatter(source: Source) -> tuple[tuple[Property, ...], int]:
    """The properties, and the index in `source.text` at which the body begins."""
    text = source.text
    place = split(text)
    if place is None:
        first = _FIRST_LINE.match(text)
        if first is not None and _LOOKS_LIKE_KEY.match(text, first.end()):
            source.report(
                0,
                "warning",
                "frontmatter-unclosed",
                "The frontmatter has no end, so all of it was read as text.",
                "Add a line with --- after the last property.",
            )
        return (), 0
    start, end, body = place
    if end - start > LARGEST_BLOCK:
        source.report(
            0,
            "error",
            "frontmatter-too-large",
            "The frontmatter is over 256 kB and was not read.",
            "Shorten it.",
        )
        return (), body
    return _BlockReader(source, start, end).properties(), body


class _BlockReader:
    """Reads the block `text[start:end]` of one source."""

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.text = source.text
        self.start = start
        self.end = end
        # Byte offset of each character of the block, unless they are the same as the index.
        self._offsets: list[int] | None = None
        block = self.text[start:end]
        if not block.isascii():
            self._offsets = [0, *accumulate(_utf8_length(character) for character in block)]
        self._seen: set[int] = set()
        self._roots: list[Node] = []  # kept alive, so that no id in `_seen` is used again
        self._aliased = 0
        self._base = start

    def properties(self) -> tuple[Property, ...]:
        try:
            root = self._compose(self.start, self.end)
        except (YAMLError, ValueError):
            return tuple(self._recovered(self.start, self.end, 0))
        self._base = self.start
        if root is None:
            return ()
        if isinstance(root, MappingNode):
            value = self._mapping(root, 0)
            return value.entries if isinstance(value, MapValue) else ()
        if isinstance(root, ScalarNode) and not root.value:
            return ()
        self._report(
            self._span(root),
            "frontmatter-not-a-mapping",
            "The frontmatter holds no properties.",
            "Write one `key: value` a line.",
        )
        return ()

    # --- places

    def _place(self, start: int, end: int) -> Span:
        """The span of two indices into the whole text."""
        if self._offsets is None:
            return self.source.span(start, end)
        offsets, first = self._offsets, self.start
        return self.source.span(first + offsets[start - first], first + offsets[end - first])

    def _span(self, node: Node) -> Span:
        first, last = self._base + node.start_mark.index, self._base + node.end_mark.index
        last = last if last < self.end else self.end
        if self._offsets is None:
            return self.source.span(first, last)
        return self._place(first, last)

    def _raw(self, node: Node) -> str:
        return self.text[self._base + node.start_mark.index : self._base + node.end_mark.index]

    def _report(self, place: Span, code: str, message: str, hint: str = "") -> None:
        self.source.report_at(place, "warning", code, message, hint)

    # --- strict YAML

    def _compose(self, start: int, end: int) -> Node | None:
        """The root node; its marks count from `start`. Raises YAMLError or ValueError."""
        parser = _Composer(self.text[start:end])
        try:
            node: Node | None = parser.get_single_node()
        finally:
            parser.dispose()
        self._base = start
        if node is not None:
            self._roots.append(node)
        return node

    def _value(self, node: Node, depth: int) -> Value | None:
        if id(node) in self._seen:
            self._aliased += 1
            if self._aliased >= MOST_ALIASED:
                if self._aliased == MOST_ALIASED:
                    self._report(
                        self._span(node),
                        "yaml-aliases",
                        "The aliases repeat too many values; the rest of them was not read.",
                        "Write the values out.",
                    )
                return None
        else:
            self._seen.add(id(node))
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if depth >= DEEPEST:
            self._report(
                self._span(node),
                "yaml-depth",
                f"Values nested over {DEEPEST} deep are not read.",
                "Nest less.",
            )
            return None
        if isinstance(node, SequenceNode):
            if self._is_wikilink(node):
                return ScalarValue(rdf_text(self._raw(node)), False, self._span(node))
            items = (self._value(item, depth + 1) for item in node.value)
            return ListValue(tuple(item for item in items if item is not None), self._span(node))
        return self._mapping(node, depth) if isinstance(node, MappingNode) else None

    def _scalar(self, node: ScalarNode) -> ScalarValue:
        quoted = node.style is not None and node.style != ""
        text: str = node.value
        if node.tag == _STRING_TAG and not quoted:
            quoted = True
        if "\0" in text:
            self._report(self._span(node), "nul", "A NUL character was read as U+FFFD.", "Remove it.")
            text = rdf_text(text)
        return ScalarValue(text, quoted, self._span(node))

    def _is_wikilink(self, node: SequenceNode) -> bool:
        """Whether a flow sequence in a flow sequence is an unquoted `[[link]]`."""
        if not node.flow_style or len(node.value) != 1 or not isinstance(node.value[0], SequenceNode):
            return False
        raw = self._raw(node)
        return raw.startswith("[[") and raw.endswith("]]") and "[" not in raw[2:] and "\n" not in raw

    def _mapping(self, node: MappingNode, depth: int) -> Value | None:
        if node.flow_style and any(not isinstance(key, ScalarNode) for key, _ in node.value):
            place = self._span(node)
            raw = rdf_text(self._raw(node))
            self._report(
                place,
                "yaml-placeholder",
                f"{_short(raw)} was read as text.",
                f'Put it in quotes: "{_short(raw)}".',
            )
            return ScalarValue(raw, True, place)
        entries: list[Property] = []
        keys: set[str] = set()
        merged: list[Property] = []
        for key, item in node.value:
            if not isinstance(key, ScalarNode):
                self._report(
                    self._span(key), "yaml-key", "A key that is no text was not read.", "Use a word."
                )
                continue
            value = self._value(item, depth + 1)
            if value is None:
                continue
            if key.value == "<<" and not key.style:
                merged.extend(_merged(value))
                continue
            place = self._span(key)
            if key.value in keys:
                self._report(
                    place,
                    "yaml-duplicate-key",
                    f"The key {_short(key.value)!r} is here twice; both values were read.",
                    "Write one key with a list.",
                )
            keys.add(key.value)
            span = Span(place.start, max(value.span.end, place.end), place.line, place.column)
            entries.append(Property(rdf_text(key.value), value, span))
        entries.extend(entry for entry in merged if entry.key not in keys)
        return MapValue(tuple(entries), self._span(node))

    # --- key by key, where strict YAML fails

    def _recovered(self, start: int, end: int, depth: int) -> list[Property]:
        """The properties of a block that a strict parser rejects, each key on its own."""
        found: list[Property] = []
        for first, last in self._chunks(start, end):
            try:
                node = self._compose(first, last)
            except (YAMLError, ValueError) as error:
                found.extend(self._recovered_chunk(first, last, depth, error))
                continue
            if isinstance(node, MappingNode):
                value = self._mapping(node, depth)
                if isinstance(value, MapValue):
                    found.extend(value.entries)
            elif node is not None and self.text[first:last].strip():
                self._unreadable(first, last)
        return found

    def _chunks(self, start: int, end: int) -> list[tuple[int, int]]:
        """Ranges of the lines that belong to one key each, by indentation."""
        chunks: list[list[int]] = []
        indent: int | None = None
        for line in _LINE.finditer(self.text, start, end):
            content = line[0].strip()
            if line.start() == line.end():
                continue
            width = len(line[0]) - len(line[0].lstrip(" \t"))
            if content and not content.startswith("#"):
                indent = width if indent is None else indent
                opens = width <= indent and not _ITEM.match(content)
                if opens or not chunks:
                    chunks.append([line.start(), line.end()])
                    continue
            if chunks:
                chunks[-1][1] = line.end()
        return [(first, last) for first, last in chunks]

    def _recovered_chunk(self, start: int, end: int, depth: int, error: Exception) -> list[Property]:
        """The one property of a chunk that strict YAML rejects."""
        line = _LINE.match(self.text, start, end)
        assert line is not None  # the pattern matches the empty string
        content = line[0].lstrip(" \t")
        begin = start + len(line[0]) - len(content)
        keyed = _KEYED.match(content.rstrip("\r\n"))
        if keyed is None:
            self._unreadable(begin, line.end(), error)
            return []
        key = rdf_text(keyed[1].strip("\"'"))
        rest = content[keyed.end() :].strip()
        value: Value
        if rest or not self.text[line.end() : end].strip():
            value = self._as_text(key, begin + keyed.end(), end, error)
        elif _ITEM.match(self.text[line.end() : end].lstrip()):
            value = self._recovered_list(key, line.end(), end, error)
        elif depth < DEEPEST:
            value = MapValue(tuple(self._recovered(line.end(), end, depth + 1)), self._place(begin, end))
        else:
            self._unreadable(begin, end, error)
            return []
        return [Property(key, value, self._place(begin, end))]

    def _recovered_list(self, key: str, start: int, end: int, error: Exception) -> ListValue:
        """The items of a block list in which at least one is not strict YAML."""
        starts = [
            line.start() for line in _LINE.finditer(self.text, start, end) if _ITEM.match(line[0].strip())
        ]
        items: list[Value] = []
        for first, last in zip(starts, [*starts[1:], end], strict=True):
            try:
                node = self._compose(first, last)
            except (YAMLError, ValueError) as inner:
                dash = self.text.index("-", first)
                items.append(self._as_text(key, dash + 1, last, inner))
                continue
            value = None if node is None else self._value(node, 1)
            items.extend(value.items if isinstance(value, ListValue) else ())
        return ListValue(tuple(items), self._place(start, end))

    def _as_text(self, key: str, start: int, end: int, error: Exception) -> ScalarValue:
        """A value as the text that stands there, its lines joined by spaces."""
        raw = self.text[start:end]
        start += len(raw) - len(raw.lstrip())
        end = max(start, start + len(raw.strip()))
        place = self._place(start, end)
        text = " ".join(line.strip() for line in raw.strip().splitlines())
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text = _unquoted(text)
        self._report(
            place,
            "yaml",
            f"The value of {_short(key)!r} is not valid YAML and was read as text: {_problem(error)}.",
            f'Put it in quotes: {_short(key)}: "{_short(text)}".',
        )
        return ScalarValue(rdf_text(text), True, place)

    def _unreadable(self, start: int, end: int, error: Exception | None = None) -> None:
        problem = "" if error is None else f": {_problem(error)}"
        self._report(
            self._place(start, start),
            "yaml",
            f"This line was not read{problem}.",
            "Write it as `key: value`.",
        )


def _merged(value: Value) -> tuple[Property, ...]:
    """The entries that a merge key `<<` brings: of one mapping or of a list of them."""
    if isinstance(value, MapValue):
        return value.entries
    if isinstance(value, ListValue):
        return tuple(entry for item in value.items for entry in _merged(item))
    return ()


def _utf8_length(character: str) -> int:
    code = ord(character)
    return 1 if code < 0x80 else 2 if code < 0x800 else 3 if code < 0x10000 else 4


def _unquoted(text: str) -> str:
    """A quoted text that YAML rejects, by JSON's rules where they fit."""
    try:
        value = json.loads(text)
    except ValueError:
        return text[1:-1]
    return value if isinstance(value, str) else text[1:-1]


def _problem(error: Exception) -> str:
    problem = error.problem if isinstance(error, MarkedYAMLError) else None
    return str(problem or error).splitlines()[0].rstrip(".")


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

"""A note as it stands in its file, read without looking at the rest of the vault.

`read_note` never raises on content: whatever cannot be read becomes a diagnostic. What the note
states is the second stage, `stating`, because links and words need the vault.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, Literal, NamedTuple

from synapse.engine.notes import inline
from synapse.engine.notes.body import Outline, read_outline
from synapse.engine.notes.diagnostics import Diagnostic, Severity
from synapse.engine.notes.frontmatter import read_frontmatter
from synapse.engine.notes.source import LARGEST_READ, Source, Span, rdf_text
from synapse.engine.notes.syntax import Syntax, valid_iri, value_links
from synapse.engine.notes.values import ListValue, MapValue, Property, ScalarValue, Value, scalars
from synapse.engine.terms import fold_word

READER_VERSION: Final = 1
"""Goes into every content hash, so that a change of the reader's rules reads every note again."""

LinkKind = Literal["wikilink", "markdown", "embed", "frontmatter", "url"]

LISTINGS: Final = frozenset(("index.md", "log.md"))
"""Names that are listings and not concepts in a bundle of the Open Knowledge Format (section 3.1)."""

_TEXT_KEYS: Final = frozenset(("title", "aliases", "alias", "tags", "tag", "uri", "okf_version"))


@dataclass(frozen=True, slots=True)
class Heading:
    """`text` as written without the `#`s (what an anchor names), `plain` without markup."""

    level: int
    text: str
    plain: str
    span: Span


@dataclass(frozen=True, slots=True)
class Tag:
    """`name` as written, without `#`."""

    name: str
    span: Span
    frontmatter: bool


@dataclass(frozen=True, slots=True)
class BlockId:
    """`^id` at the end of a block; `id` without the caret."""

    id: str
    span: Span


@dataclass(frozen=True, slots=True)
class Alias:
    text: str
    span: Span


class Link(NamedTuple):
    """A link as written. (A named tuple, as all that a note has many of: half the time to make.)

    kind: `embed` for both `![[x]]` and `![](x)`, `url` for an absolute address, `frontmatter` for a
    value of a property. syntax: how it is resolved. target: decoded, without anchor; "" is this note.
    relation: what the syntax, the line or the frontmatter key names; None where there is none or
    where it is still part of the target (`[[rel:x]]`), which `stating` decides. span: the whole link.
    """

    kind: LinkKind
    syntax: Syntax
    target: str
    anchor: str
    text: str
    relation: str | None
    span: Span


@dataclass(frozen=True, slots=True)
class Axiom:
    """A line of an ontology note: `subclass_of: a -> b` has word `subclass_of`, text `a -> b`."""

    word: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Note:
    """One note as read.

    path: relative to the vault, with `/`. text: decoded, without byte-order mark and generated
    section. body: `text` without frontmatter, for searching. title: the property, else the first
    heading of level 1, else the file's stem; title_span is None for the stem. uri: the absolute IRI
    that names the entity, if the note gives one. okf_version: as the frontmatter declares it.
    """

    path: str
    text: str
    body: str
    title: str
    title_span: Span | None
    uri: str | None
    aliases: tuple[Alias, ...]
    tags: tuple[Tag, ...]
    headings: tuple[Heading, ...]
    block_ids: tuple[BlockId, ...]
    links: tuple[Link, ...]
    frontmatter: tuple[Property, ...]
    inline: tuple[Property, ...]
    axioms: tuple[Axiom, ...]
    okf_version: str | None
    diagnostics: tuple[Diagnostic, ...]

    def properties(self, *words: str) -> tuple[Property, ...]:
        """The frontmatter properties whose folded key is one of `words`."""
        return tuple(found for found in self.frontmatter if fold_key(found.key) in words)


@lru_cache(maxsize=4096)
def fold_key(key: str) -> str:
    """`fold_word` of a key; a vault has few different ones."""
    return fold_word(key)


def is_listing(path: str) -> bool:
    """Whether the path has a name that is reserved for listings in an OKF bundle."""
    return PurePosixPath(path).name in LISTINGS


def read_note(path: str, data: bytes) -> Note:
    """Read the note at the vault-relative `path` with the file content `data`.

    Never raises on content, and takes time linear in its size.
    """
    source = Source(path, data)
    frontmatter, body_index = read_frontmatter(source)
    return _NoteReader(source, frontmatter, body_index).read()


class _NoteReader:
    def __init__(self, source: Source, frontmatter: tuple[Property, ...], body_index: int) -> None:
        self.source = source
        self.frontmatter = frontmatter
        self.by_word: dict[str, list[Property]] = {}
        for found in frontmatter:
            self.by_word.setdefault(fold_key(found.key), []).append(found)
        text = source.text
        self.body = text[body_index:] if body_index else text
        self.shift = body_index if source.encoded.isascii() else len(text[:body_index].encode())
        self.encoded = source.encoded[self.shift :] if self.shift else source.encoded

    def read(self) -> Note:
        outline, encoded = self._outline(), self.encoded
        inline.read_relations(outline, encoded)
        properties = tuple(map(self._property, inline.read_properties(outline, encoded)))
        tags = self._frontmatter_tags()
        tags.extend(
            Tag(name, self._span(start, end), False)
            for name, start, end in inline.read_tags(outline, encoded)
        )
        headings = tuple(
            Heading(found.level, found.text, found.plain, self._span(found.start, found.end))
            for found in outline.headings
        )
        title, title_span = self._title(headings)
        axioms = self._axioms(outline)
        links = [*self._frontmatter_links(), *self._body_links(outline)]
        block_ids = tuple(
            BlockId(name, self._span(start, end))
            for name, start, end in inline.read_block_ids(outline, encoded)
        )
        source = self.source
        uri = self._uri()
        version = self._first("okf_version")
        return Note(
            path=source.path,
            text=source.text,
            body=self.body,
            title=title,
            title_span=title_span,
            uri=uri,
            aliases=tuple(
                Alias(scalar.text, scalar.span)
                for word in ("aliases", "alias")
                for found in self.by_word.get(word, ())
                for scalar in scalars(found.value)
                if scalar.text.strip()
            ),
            tags=tuple(tags),
            headings=headings,
            block_ids=block_ids,
            links=tuple(links),
            frontmatter=self.frontmatter,
            inline=properties,
            axioms=axioms,
            okf_version=None if version is None else version.text,
            diagnostics=tuple(sorted(source.diagnostics, key=lambda found: (found.line, found.column))),
        )

    def _span(self, start: int, end: int) -> Span:
        return self.source.span(self.shift + start, self.shift + end)

    def _outline(self) -> Outline:
        if len(self.source.encoded) > LARGEST_READ:
            self.source.report(
                self.shift,
                "warning",
                "body-too-large",
                "The note is over 5 MB: its links, tags and headings were not read.",
                "Split the note.",
            )
            return Outline()
        return read_outline(self.body, self.encoded)

    def _first(self, word: str) -> ScalarValue | None:
        """The first scalar that a property gives."""
        for found in self.by_word.get(word, ()):
            for scalar in scalars(found.value):
                if scalar.text.strip():
                    return scalar
        return None

    def _title(self, headings: tuple[Heading, ...]) -> tuple[str, Span | None]:
        written = self._first("title")
        if written is not None:
            return " ".join(written.text.split()), written.span
        for heading in headings:
            if heading.level == 1 and heading.plain:
                return heading.plain, heading.span
        stem = PurePosixPath(self.source.path).name
        return rdf_text(stem[:-3] if stem.lower().endswith(".md") else stem), None

    def _uri(self) -> str | None:
        written = self._first("uri")
        if written is None:
            return None
        text = written.text.strip()
        problem = uri_problem(text)
        if problem is None:
            return text
        self.source.report_at(
            written.span,
            "warning",
            "uri",
            f"uri: {problem}",
            "Write an absolute IRI such as https://example.org/x.",
        )
        return None

    def _frontmatter_tags(self) -> list[Tag]:
        found: list[Tag] = []
        for entry in (*self.by_word.get("tags", ()), *self.by_word.get("tag", ())):
            for scalar in scalars(entry.value):
                name = " ".join(scalar.text.split()).removeprefix("#").strip("/")
                if is_tag(name):
                    found.append(Tag(name, scalar.span, True))
                elif name and not name.isdecimal() and isinstance(entry.value, ListValue):
                    # Meant as one keyword (OKF has such), whatever Obsidian makes of it.
                    found.append(Tag(name, scalar.span, True))
                    self._report_tag(
                        scalar, "info", "Obsidian reads no tag here", "Write - or _ between words."
                    )
                elif name:
                    advice = f"Write a list of words: {entry.key}: [a, b]."
                    self._report_tag(scalar, "warning", "this is no tag, and was not read", advice)
        return found

    def _report_tag(self, scalar: ScalarValue, severity: Severity, problem: str, hint: str) -> None:
        text = scalar.text.strip()[:60]
        self.source.report_at(scalar.span, severity, "tag", f"{text!r}: {problem}.", hint)

    def _property(self, found: inline.InlineProperty) -> Property:
        text, quoted = found.value, False
        if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
            text, quoted = text[1:-1], True
        value = ScalarValue(text, quoted, self._span(found.value_start, found.end))
        return Property(found.key, value, self._span(found.start, found.end))

    def _axioms(self, outline: Outline) -> tuple[Axiom, ...]:
        types = (scalar for found in self.by_word.get("type", ()) for scalar in scalars(found.value))
        if not any(fold_word(scalar.text) == "ontology" for scalar in types):
            return ()
        found = [
            Axiom(fold_word(word), scalar.text, scalar.span)
            for word, entries in self.by_word.items()
            if word in AXIOM_WORDS
            for entry in entries
            for scalar in scalars(entry.value)
        ]
        found.extend(
            Axiom(fold_word(word), text, self._span(start, end))
            for word, text, start, end in inline.read_axioms(outline, self.encoded)
        )
        return tuple(found)

    def _frontmatter_links(self) -> list[Link]:
        found: list[Link] = []
        for entry in self.frontmatter:
            if fold_key(entry.key) not in _TEXT_KEYS:
                _value_links(entry.key, entry.value, found)
        return found

    def _body_links(self, outline: Outline) -> list[Link]:
        return [
            Link(
                "embed" if found.embed else "url" if found.url else found.syntax,
                found.syntax,
                found.target,
                found.anchor,
                found.text,
                found.relation,
                self._span(found.start, found.end),
            )
            for found in outline.links
        ]


AXIOM_WORDS: Final = frozenset(
    (
        "subclass_of",
        "sub_class_of",
        "subproperty_of",
        "sub_property_of",
        "inverse_of",
        "transitive",
        "symmetric",
    )
)
"""The folded words that begin a line of an ontology note."""


def is_tag(name: str) -> bool:
    """Whether Obsidian takes the word, without `#`, for a tag."""
    return inline.is_tag(name)


def uri_problem(text: str) -> str | None:
    """Why `text` cannot be the IRI of a note's entity, or None if it can."""
    if valid_iri(text) is None:
        return f"{text[:60]!r} is not an absolute IRI."
    if text.startswith(("vault:", "urn:synapse:")):
        return "names under vault: and urn:synapse: are Synapse's own."
    return None


def _value_links(key: str, value: Value, found: list[Link]) -> None:
    """Append the links in a frontmatter value; their relation is the path of keys (`a.b`)."""
    if isinstance(value, ScalarValue):
        for link in value_links(value.text):
            found.append(
                Link("frontmatter", link.syntax, link.target, link.anchor, link.text, key, value.span)
            )
    elif isinstance(value, ListValue):
        for item in value.items:
            _value_links(key, item, found)
    elif isinstance(value, MapValue):
        for entry in value.entries:
            _value_links(f"{key}.{entry.key}", entry.value, found)

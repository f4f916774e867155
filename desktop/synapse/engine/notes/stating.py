"""What a note states: its facts, each with its place, and its links resolved in the vault.

The rows of the table in design/data-model.md section 4 are here, in its order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.notes.diagnostics import Diagnostic, Severity
from synapse.engine.notes.links import LinkResolver, Resolution, target_keys
from synapse.engine.notes.reading import AXIOM_WORDS, Axiom, Link, LinkKind, Note
from synapse.engine.notes.source import Span
from synapse.engine.notes.syntax import LinkText, double_colon, has_scheme, is_web, single_colon, value_links
from synapse.engine.notes.values import (
    ListValue,
    MapValue,
    Property,
    ScalarValue,
    Value,
    plain_literal,
    scalars,
    text_literal,
)
from synapse.engine.terms import Identities, InvalidId, Words, fold_word, skolem, tag_iri
from synapse.engine.terms import vocabulary as v

Term = NamedNode | Literal

_CITED: Final = re.compile(r"(?:https?|ftp)://|urn:|doi:", re.I)
_IRI: Final = re.compile(r"(?:https?://|urn:|mailto:)")
_NOT_IN_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|\\^`\[\]\x7f-\x9f\ue000-\uf8ff]|%(?![0-9A-Fa-f]{2})")
_ARROW: Final = re.compile(r"\s*(?:->|→)\s*")
_AXIOM_PROPERTIES: Final = {
    "subclass_of": v.RDFS_SUB_CLASS_OF,
    "sub_class_of": v.RDFS_SUB_CLASS_OF,
    "subproperty_of": v.RDFS_SUB_PROPERTY_OF,
    "sub_property_of": v.RDFS_SUB_PROPERTY_OF,
    "inverse_of": v.OWL_INVERSE_OF,
}
_AXIOM_CLASSES: Final = {"transitive": v.OWL_TRANSITIVE_PROPERTY, "symmetric": v.OWL_SYMMETRIC_PROPERTY}
_TARGET_WORDS: Final = ("to", "target")
_RELATION_WORDS: Final = ("type", "rel", "relation")


@dataclass(frozen=True, slots=True)
class StatedFact:
    """A fact and where the note states it; span is None for what the file's name says."""

    triple: Triple
    span: Span | None


@dataclass(frozen=True, slots=True)
class ResolvedLink:
    """A link and what it means.

    kind, anchor, text, span: as in `reading.Link`. target_text: as written, without the relation.
    target_id: id of the entity, path of an attachment, or the address for kind `url`; "" for nothing.
    path: the file, or None where it is not written. predicate: the property that the fact states, or
    None where the link states none.
    """

    kind: LinkKind
    target_text: str
    target_id: str
    path: str | None
    anchor: str
    text: str
    relation: str | None
    predicate: NamedNode | None
    span: Span


@dataclass(frozen=True, slots=True)
class NoteFacts:
    """All that one note states.

    graph: the document's IRI, its named graph. entity: what the note is about. lookups: keys
    (`links.path_key`) of every file whose coming or going could change these facts.
    """

    graph: NamedNode
    entity: NamedNode
    facts: tuple[StatedFact, ...]
    links: tuple[ResolvedLink, ...]
    lookups: frozenset[str]
    diagnostics: tuple[Diagnostic, ...]


def state_note(
    note: Note,
    resolver: LinkResolver,
    words: Words,
    identities: Identities,
    uris: Mapping[str, str] | None = None,
    listing: bool = False,
) -> NoteFacts:
    """The facts of a note in its vault.

    uris: path -> IRI of every note that has a `uri:`. listing: the note is an `index.md` or `log.md`
    of an OKF bundle (`reading.is_listing`); its links are resolved but it states nothing.
    diagnostics: those of reading and of stating, in order.

    Raises InvalidId if the note's own path is not valid Unicode.
    """
    return _Stater(note, resolver, words, identities, uris or {}).state(listing)


class _Stater:
    def __init__(
        self,
        note: Note,
        resolver: LinkResolver,
        words: Words,
        identities: Identities,
        uris: Mapping[str, str],
    ) -> None:
        self.note = note
        self.resolver = resolver
        self.words = words
        self.identities = identities
        self.uris = uris
        self.graph = identities.document(note.path)
        own = resolver.resolve("", note.path)
        self.entity = NamedNode(note.uri) if note.uri else identities.entity(own.entity_id)
        self.facts: dict[Triple, Span | None] = {}
        self.links: list[ResolvedLink] = []
        self.lookups: set[str] = set()
        self.diagnostics = list(note.diagnostics)

    def state(self, listing: bool) -> NoteFacts:
        note = self.note
        self._fact(self.entity, v.RDFS_LABEL, text_literal(note.title), note.title_span)
        for alias in note.aliases:
            self._fact(self.entity, v.SKOS_ALT_LABEL, text_literal(alias.text.strip()), alias.span)
        for tag in note.tags:
            self._tag(tag.name, tag.span)
        self._entries(self.entity, note.frontmatter, "", top=True)
        for number, entry in enumerate(note.inline):
            self._entry(self.entity, entry, f"/inline/{number}")
        for link in note.links:
            if link.kind != "frontmatter":  # those are stated as values, with their property
                self._link(link)
        for axiom in note.axioms:
            self._axiom(axiom)
        if listing:
            self.facts.clear()
        self.diagnostics.sort(key=lambda found: (found.line, found.column))
        return NoteFacts(
            self.graph,
            self.entity,
            tuple([StatedFact(triple, span) for triple, span in self.facts.items()]),
            tuple(self.links),
            frozenset(self.lookups),
            tuple(self.diagnostics),
        )

    def _fact(self, subject: NamedNode, predicate: NamedNode, object_: Term, span: Span | None) -> None:
        self.facts.setdefault(Triple(subject, predicate, object_), span)

    def _report(self, span: Span, severity: Severity, code: str, message: str, hint: str = "") -> None:
        self.diagnostics.append(
            Diagnostic(self.note.path, span.line, span.column, severity, code, message, hint)
        )

    # --- words

    def _word(self, word: str, span: Span, *, is_type: bool) -> NamedNode | None:
        """The term of a word; states its label where the word itself made the term."""
        word = word.strip()
        if not fold_word(word):
            self._report(span, "warning", "yaml-key", f"{word!r} names no property or class.", "Use letters.")
            return None
        try:
            term = self.words.type(word) if is_type else self.words.property(word)
        except ValueError:
            self._report(
                span, "warning", "yaml-key", f"{word[:60]!r} is not a valid IRI.", "Write a word or an IRI."
            )
            return None
        if term.value.startswith(v.TYPE if is_type else v.PROP) and self._expand(word) is None:
            self._fact(term, v.RDFS_LABEL, text_literal(word), span)
        return term

    def _expand(self, text: str) -> NamedNode | None:
        try:
            return self.words.expand(text)
        except ValueError:
            return None

    # --- tags

    def _tag(self, name: str, span: Span) -> None:
        levels = [level for level in name.split("/") if level]
        child: NamedNode | None = None
        while levels:
            written = "/".join(levels)
            concept = tag_iri(written)
            if child is None:
                self._fact(self.entity, v.SCHEMA_KEYWORDS, concept, span)
            else:
                self._fact(child, v.SKOS_BROADER, concept, span)
            kind = Triple(concept, v.RDF_TYPE, v.SKOS_CONCEPT)
            if kind not in self.facts:
                self.facts[kind] = span
                self._fact(concept, v.RDFS_LABEL, text_literal(written), span)
            child = concept
            levels.pop()

    # --- properties

    def _entries(self, node: NamedNode, entries: tuple[Property, ...], pointer: str, top: bool) -> None:
        """State the entries of the frontmatter (`top`) or of a mapping in it."""
        for entry in entries:
            word = fold_word(entry.key)
            place = f"{pointer}/{_pointer(entry.key)}"
            if word == "type":
                self._types(node, entry.value)
            elif top and self._stated_otherwise(word, entry):
                continue
            elif not top and word == "title":
                for scalar in scalars(entry.value):
                    self._fact(node, v.RDFS_LABEL, text_literal(scalar.text), scalar.span)
            else:
                self._entry(node, entry, place)

    def _stated_otherwise(self, word: str, entry: Property) -> bool:
        """Whether a property of the frontmatter has a row of its own in the table."""
        if word in _STATED_ELSEWHERE or (word in AXIOM_WORDS and self.note.axioms):
            return True
        return word in ("relationships", "links") and self._relationships(entry)

    def _entry(self, node: NamedNode, entry: Property, pointer: str) -> None:
        predicate = self._word(entry.key, entry.span, is_type=False)
        if predicate is not None:
            self._value(node, predicate, entry.key, entry.value, pointer)

    def _value(self, node: NamedNode, predicate: NamedNode, key: str, value: Value, pointer: str) -> None:
        if isinstance(value, ScalarValue):
            for term in self._terms(value, key, predicate):
                self._fact(node, predicate, term, value.span)
        elif isinstance(value, ListValue):
            for number, item in enumerate(value.items):
                self._value(node, predicate, key, item, f"{pointer}/{number}")
        else:
            part = skolem(self.graph.value, pointer)
            self._fact(node, predicate, part, value.span)
            self._entries(part, value.entries, pointer, top=False)

    def _terms(self, value: ScalarValue, key: str, predicate: NamedNode) -> list[Term]:
        """What a scalar states: nothing, an entity for each link in it, or a literal."""
        if value.is_null:
            return []
        text = value.text
        if links := value_links(text):
            found = [self._value_link(link, key, predicate, value.span) for link in links]
            return [term for term in found if term is not None]
        if "/" in text or text.endswith(".md"):
            entity = self._path_entity(text.strip(), key, predicate, value.span)
            if entity is not None:
                return [entity]
        if ":" in text and (not value.quoted or _IRI.match(text)):
            iri = self._expand(text)
            if iri is not None:
                return [iri]
        return [text_literal(text) if value.quoted else plain_literal(text)]

    def _path_entity(self, text: str, key: str, predicate: NamedNode, span: Span) -> NamedNode | None:
        """The entity at a path from the root that exists."""
        if "\n" in text or has_scheme(text):
            return None
        self.lookups.update(target_keys(text))
        path = self.resolver.from_root(text)
        if path is None:
            return None
        resolution = self.resolver.resolve("", path)
        self._add("frontmatter", text, resolution, "", "", key, predicate, span)
        return self._entity_of(resolution, span)

    def _value_link(self, link: LinkText, key: str, predicate: NamedNode, span: Span) -> NamedNode | None:
        if has_scheme(link.target) and (link.syntax == "markdown" or is_web(link.target)):
            iri = _web_iri(link.target)
            self._add_url("frontmatter", link.target, link.text, key, predicate, span)
            return iri
        resolution = self._resolve(link.target, link.syntax == "markdown", span)
        self._add("frontmatter", link.target, resolution, link.anchor, link.text, key, predicate, span)
        return self._entity_of(resolution, span)

    def _types(self, node: NamedNode, value: Value) -> None:
        found = scalars(value)
        if not found and not (isinstance(value, ScalarValue) and value.is_null):
            self._report(
                value.span, "warning", "value", "The type is no word.", "Write type: Person or a list."
            )
        for scalar in found:
            links = value_links(scalar.text)
            for link in links:
                entity = self._value_link(link, "type", v.RDF_TYPE, scalar.span)
                if entity is not None:
                    self._fact(node, v.RDF_TYPE, entity, scalar.span)
            if not links:
                term = self._word(scalar.text, scalar.span, is_type=True)
                if term is not None:
                    self._fact(node, v.RDF_TYPE, term, scalar.span)

    def _relationships(self, entry: Property) -> bool:
        """State `[{to, type}]` or `[{target, rel}]`; False if the value is something else."""
        items = entry.value.items if isinstance(entry.value, ListValue) else (entry.value,)
        maps = [item for item in items if isinstance(item, MapValue)]
        if len(maps) != len(items) or not maps:
            return False
        for item in maps:
            targets = _scalars_of(item, _TARGET_WORDS)
            relations = _scalars_of(item, _RELATION_WORDS)
            if not targets or not relations:
                self._report(
                    item.span,
                    "warning",
                    "relationship",
                    f"An item of {entry.key!r} has no target or no relation.",
                    "Write {to: people/bob, type: knows}.",
                )
                continue
            for relation in relations:
                predicate = self._word(relation.text, relation.span, is_type=False)
                for target in targets if predicate is not None else ():
                    assert predicate is not None
                    self._relationship(relation.text, predicate, target)
        return True

    def _relationship(self, relation: str, predicate: NamedNode, target: ScalarValue) -> None:
        text = target.text.strip()
        links = value_links(text)
        if not links and (iri := self._expand(text)) is not None:
            self._fact(self.entity, predicate, iri, target.span)
            return
        for link in links or (LinkText("wikilink", text.partition("#")[0], text.partition("#")[2], ""),):
            entity = self._value_link(link, relation, predicate, target.span)
            if entity is not None:
                self._fact(self.entity, predicate, entity, target.span)

    # --- links

    def _link(self, link: Link) -> None:
        if link.kind == "url" or (link.kind == "embed" and _is_address(link)):
            self._url(link)
            return
        target, relation = link.target, link.relation
        markdown = link.syntax == "markdown"
        resolution: Resolution | None = None
        if not markdown and ":" in target and relation is None:
            exists = self.resolver.resolve(target, self.note.path)
            if exists.path is None:
                if link.kind != "embed" and (split := self._split(target)) is not None:
                    relation, target = split
                elif (iri := self._expand(target)) is not None:
                    self._state_iri(link, iri)
                    return
                self.lookups.update(target_keys(link.target))
        resolution = self._resolve(target, markdown, link.span)
        predicate = self._predicate(link, relation)
        stated = predicate
        # `[[#heading]]` points inside the note; it says nothing about the entity.
        entity = self._entity_of(resolution, link.span) if target or relation else None
        if entity is None or predicate is None:
            stated = None
        else:
            self._fact(self.entity, predicate, entity, link.span)
        self._add(link.kind, target, resolution, link.anchor, link.text, relation, stated, link.span)

    def _split(self, target: str) -> tuple[str, str] | None:
        """Relation and target of a wikilink that names no existing note, or None for a title."""
        if (split := double_colon(target)) is not None:
            return split
        if (split := single_colon(target)) is None:
            return None
        relation, rest = split
        if relation in self.words.prefixes:
            name, colon, rest = rest.partition(":")
            if not colon or not rest.strip() or not name:
                return None
            return f"{relation}:{name}", rest.strip()
        return relation, rest.strip()

    def _predicate(self, link: Link, relation: str | None) -> NamedNode | None:
        if relation is not None:
            return self._word(relation, link.span, is_type=False)
        return v.EMBEDS if link.kind == "embed" else v.SCHEMA_MENTIONS

    def _url(self, link: Link) -> None:
        target = link.target
        if not is_web(target) and link.kind != "embed":
            # Not a scheme that the web knows: a note with a colon in its name, or `schema:Person`.
            found = self.resolver.resolve(target, self.note.path, "markdown")
            self.lookups.update(target_keys(target))
            if found.path is not None:
                predicate = self._predicate(link, link.relation)
                entity = self._entity_of(found, link.span)
                if entity is not None and predicate is not None:
                    self._fact(self.entity, predicate, entity, link.span)
                self._add(
                    "markdown", target, found, link.anchor, link.text, link.relation, predicate, link.span
                )
                return
            if (iri := self._expand(target)) is not None:
                self._state_iri(link, iri)
                return
        if link.relation is not None or link.kind == "embed":
            predicate = self._predicate(link, link.relation)
        else:
            predicate = v.SCHEMA_CITATION if _CITED.match(target) else None
        iri = _web_iri(target) if predicate is not None else None
        if predicate is not None and iri is not None:
            self._fact(self.entity, predicate, iri, link.span)
        elif predicate is not None:
            self._report(link.span, "info", "link-target", f"{target[:80]!r} is not a valid IRI.")
        self._add_url(link.kind, target, link.text, link.relation, predicate if iri else None, link.span)

    def _state_iri(self, link: Link, iri: NamedNode) -> None:
        """A link to `prefix:name`."""
        predicate = self._predicate(link, link.relation)
        if predicate is not None:
            self._fact(self.entity, predicate, iri, link.span)
        self.links.append(
            ResolvedLink(
                "url",
                link.target,
                iri.value,
                None,
                link.anchor,
                link.text,
                link.relation,
                predicate,
                link.span,
            )
        )

    def _resolve(self, target: str, markdown: bool, span: Span) -> Resolution:
        if target:
            self.lookups.update(target_keys(target))
        found = self.resolver.resolve(target, self.note.path, "markdown" if markdown else "wikilink")
        if found.ambiguous:
            self._report(
                span,
                "warning",
                "link-ambiguous",
                f"{target!r} also fits {', '.join(found.ambiguous[:3])}.",
                "Write more of the path.",
            )
        return found

    def _entity_of(self, resolution: Resolution, span: Span) -> NamedNode | None:
        """The node that a resolution names: an entity, or the document of another file."""
        path = resolution.path
        try:
            if path is not None:
                if path == self.note.path:
                    return self.entity
                if path in self.uris:
                    return NamedNode(self.uris[path])
                if not path.lower().endswith(".md"):
                    return self.identities.document(path)
            if resolution.entity_id:
                return self.identities.entity(resolution.entity_id)
        except InvalidId as error:
            self._report(span, "warning", "link-target", error.message, error.hint)
            return None
        self._report(span, "warning", "link-target", "The link names nothing.", "Write a path or a name.")
        return None

    def _add(
        self,
        kind: LinkKind,
        target: str,
        resolution: Resolution,
        anchor: str,
        text: str,
        relation: str | None,
        predicate: NamedNode | None,
        span: Span,
    ) -> None:
        self.links.append(
            ResolvedLink(
                kind, target, resolution.entity_id, resolution.path, anchor, text, relation, predicate, span
            )
        )

    def _add_url(
        self,
        kind: LinkKind,
        target: str,
        text: str,
        relation: str | None,
        predicate: NamedNode | None,
        span: Span,
    ) -> None:
        self.links.append(ResolvedLink(kind, target, target, None, "", text, relation, predicate, span))

    # --- ontology notes

    def _axiom(self, axiom: Axiom) -> None:
        is_type = axiom.word in ("subclass_of", "sub_class_of")
        predicate = _AXIOM_PROPERTIES.get(axiom.word)
        if predicate is None:
            for word in axiom.text.split(","):
                term = self._word(word, axiom.span, is_type=False) if word.strip() else None
                if term is not None:
                    self._fact(term, v.RDF_TYPE, _AXIOM_CLASSES[axiom.word], axiom.span)
            return
        sides = _ARROW.split(axiom.text.strip())
        if len(sides) != 2 or not all(sides):
            self._report(
                axiom.span,
                "warning",
                "axiom",
                f"{axiom.text[:60]!r} is not of the form a -> b.",
                f"Write {axiom.word}: a -> b.",
            )
            return
        terms = [self._word(side, axiom.span, is_type=is_type) for side in sides]
        if terms[0] is not None and terms[1] is not None:
            self._fact(terms[0], predicate, terms[1], axiom.span)


_STATED_ELSEWHERE: Final = frozenset(("title", "aliases", "alias", "tags", "tag", "uri"))


def _is_address(link: Link) -> bool:
    return is_web(link.target) if link.syntax == "wikilink" else has_scheme(link.target)


def _web_iri(target: str) -> NamedNode | None:
    """The IRI of an address, with what IRIs cannot hold percent-encoded; None if it is none even so."""
    encoded = _NOT_IN_IRI.sub(lambda found: quote(found[0], safe=""), target)
    before, _, fragment = encoded.partition("#")
    if fragment:
        encoded = f"{before}#{fragment.replace('#', '%23')}"
    try:
        return NamedNode(encoded)
    except ValueError:
        return None


def _pointer(key: str) -> str:
    """A key as a reference token of RFC 6901."""
    return key.replace("~", "~0").replace("/", "~1")


def _scalars_of(item: MapValue, names: tuple[str, ...]) -> tuple[ScalarValue, ...]:
    """The scalars under the first of the keys that the mapping has."""
    for name in names:
        for entry in item.entries:
            if fold_word(entry.key) == name:
                return scalars(entry.value)
    return ()

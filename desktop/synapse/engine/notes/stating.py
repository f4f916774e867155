"""What a note states: its facts, each with its place, and its links resolved in the vault.

The rows of the table in design/data-model.md section 4 are here and in `link_stating`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pyoxigraph import NamedNode, Triple

from synapse.engine.notes.facts import Gathering, NoteFacts, ResolvedLink, StatedFact, Term
from synapse.engine.notes.link_stating import LinkStater
from synapse.engine.notes.links import LinkResolver
from synapse.engine.notes.reading import AXIOM_WORDS, Axiom, Note, fold_key
from synapse.engine.notes.source import Span
from synapse.engine.notes.syntax import LinkText, value_links
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
from synapse.engine.terms import Identities, Words, skolem, tag_iri
from synapse.engine.terms import vocabulary as v

__all__ = ["NoteFacts", "ResolvedLink", "StatedFact", "state_note"]

_IRI: Final = re.compile(r"(?:https?://|urn:|mailto:)")
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
_STATED_ELSEWHERE: Final = frozenset(("title", "aliases", "alias", "tags", "tag", "uri"))


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
    return _NoteStater(Gathering(note, resolver, words, identities, uris or {})).state(listing)


class _NoteStater:
    def __init__(self, into: Gathering) -> None:
        self.into = into
        self.note = into.note
        self.entity = into.entity
        self.graph = into.identities.document(into.note.path)
        self.links = LinkStater(into)

    def state(self, listing: bool) -> NoteFacts:
        into, note, fact = self.into, self.note, self.into.fact
        fact(self.entity, v.RDFS_LABEL, text_literal(note.title), note.title_span)
        for alias in note.aliases:
            fact(self.entity, v.SKOS_ALT_LABEL, text_literal(alias.text.strip()), alias.span)
        for tag in note.tags:
            self._tag(tag.name, tag.span)
        self._entries(self.entity, note.frontmatter, "", top=True)
        for number, entry in enumerate(note.inline):
            self._entry(self.entity, entry, f"/inline/{number}")
        for link in note.links:
            if link.kind != "frontmatter":  # those are stated as values, with their property
                self.links.link(link)
        for axiom in note.axioms:
            self._axiom(axiom)
        if listing:
            into.facts.clear()
        into.diagnostics.sort(key=lambda found: (found.line, found.column))
        return NoteFacts(
            self.graph,
            self.entity,
            tuple(map(StatedFact._make, into.facts.items())),
            tuple(into.links),
            frozenset(into.lookups),
            tuple(into.diagnostics),
        )

    # --- tags

    def _tag(self, name: str, span: Span) -> None:
        levels = [level for level in name.split("/") if level]
        child: NamedNode | None = None
        while levels:
            written = "/".join(levels)
            concept = tag_iri(written)
            if child is None:
                self.into.fact(self.entity, v.SCHEMA_KEYWORDS, concept, span)
            else:
                self.into.fact(child, v.SKOS_BROADER, concept, span)
            kind = Triple(concept, v.RDF_TYPE, v.SKOS_CONCEPT)
            if kind not in self.into.facts:
                self.into.facts[kind] = span
                self.into.fact(concept, v.RDFS_LABEL, text_literal(written), span)
            child = concept
            levels.pop()

    # --- properties

    def _entries(self, node: NamedNode, entries: tuple[Property, ...], pointer: str, top: bool) -> None:
        """State the entries of the frontmatter (`top`) or of a mapping in it."""
        for entry in entries:
            word = fold_key(entry.key)
            place = f"{pointer}/{_pointer(entry.key)}"
            if word == "type":
                self._types(node, entry.value)
            elif top and self._stated_otherwise(word, entry):
                continue
            elif not top and word == "title":
                for scalar in scalars(entry.value):
                    self.into.fact(node, v.RDFS_LABEL, text_literal(scalar.text), scalar.span)
            else:
                self._entry(node, entry, place)

    def _stated_otherwise(self, word: str, entry: Property) -> bool:
        """Whether a property of the frontmatter has a row of its own in the table."""
        if word in _STATED_ELSEWHERE or (word in AXIOM_WORDS and self.note.axioms):
            return True
        return word in ("relationships", "links") and self._relationships(entry)

    def _entry(self, node: NamedNode, entry: Property, pointer: str) -> None:
        predicate = self.into.property(entry.key, entry.span)
        if predicate is not None:
            self._value(node, predicate, entry.key, entry.value, pointer)

    def _value(self, node: NamedNode, predicate: NamedNode, key: str, value: Value, pointer: str) -> None:
        if isinstance(value, ScalarValue):
            for term in self._terms(value, key, predicate):
                self.into.fact(node, predicate, term, value.span)
        elif isinstance(value, ListValue):
            for number, item in enumerate(value.items):
                self._value(node, predicate, key, item, f"{pointer}/{number}")
        else:
            part = skolem(self.graph.value, pointer)
            self.into.fact(node, predicate, part, value.span)
            self._entries(part, value.entries, pointer, top=False)

    def _terms(self, value: ScalarValue, key: str, predicate: NamedNode) -> list[Term]:
        """What a scalar states: nothing, an entity for each link in it, or a literal."""
        if value.is_null:
            return []
        text = value.text
        if links := value_links(text):
            found = [self.links.value(link, key, predicate, value.span) for link in links]
            return [term for term in found if term is not None]
        if "/" in text or text.endswith(".md"):
            entity = self.links.path(text.strip(), key, predicate, value.span)
            if entity is not None:
                return [entity]
        if ":" in text and (not value.quoted or _IRI.match(text)):
            iri = self.into.expand(text)
            if iri is not None:
                return [iri]
        return [text_literal(text) if value.quoted else plain_literal(text)]

    def _types(self, node: NamedNode, value: Value) -> None:
        found = scalars(value)
        if isinstance(value, MapValue):
            self.into.report(
                value.span, "warning", "value", "The type is no word.", "Write type: Person or a list."
            )
        for scalar in found:
            links = value_links(scalar.text)
            for link in links:
                entity = self.links.value(link, "type", v.RDF_TYPE, scalar.span)
                if entity is not None:
                    self.into.fact(node, v.RDF_TYPE, entity, scalar.span)
            if not links:
                term = self.into.type(scalar.text, scalar.span)
                if term is not None:
                    self.into.fact(node, v.RDF_TYPE, term, scalar.span)

    def _relationships(self, entry: Property) -> bool:
        """State `[{to, type}]` or `[{target, rel}]`; False if the value is something else."""
        items = entry.value.items if isinstance(entry.value, ListValue) else (entry.value,)
        maps = [item for item in items if isinstance(item, MapValue)]
        if len(maps) != len(items) or not any(_scalars_of(item, _TARGET_WORDS) for item in maps):
            return False
        for item in maps:
            targets = _scalars_of(item, _TARGET_WORDS)
            relations = _scalars_of(item, _RELATION_WORDS)
            if not targets or not relations:
                self.into.report(
                    item.span,
                    "warning",
                    "relationship",
                    f"An item of {entry.key!r} has no target or no relation.",
                    "Write {to: people/bob, type: knows}.",
                )
                continue
            for relation in relations:
                predicate = self.into.property(relation.text, relation.span)
                if predicate is not None:
                    for target in targets:
                        self._relationship(relation.text, predicate, target)
        return True

    def _relationship(self, relation: str, predicate: NamedNode, target: ScalarValue) -> None:
        text = target.text.strip()
        links = value_links(text)
        if not links and (iri := self.into.expand(text)) is not None:
            self.into.fact(self.entity, predicate, iri, target.span)
            return
        for link in links or (LinkText("wikilink", text.partition("#")[0], text.partition("#")[2], ""),):
            entity = self.links.value(link, relation, predicate, target.span)
            if entity is not None:
                self.into.fact(self.entity, predicate, entity, target.span)

    # --- ontology notes

    def _axiom(self, axiom: Axiom) -> None:
        predicate = _AXIOM_PROPERTIES.get(axiom.word)
        if predicate is None:
            for word in axiom.text.split(","):
                term = self.into.property(word, axiom.span) if word.strip() else None
                if term is not None:
                    self.into.fact(term, v.RDF_TYPE, _AXIOM_CLASSES[axiom.word], axiom.span)
            return
        sides = _ARROW.split(axiom.text.strip())
        if len(sides) != 2 or not all(sides):
            self.into.report(
                axiom.span,
                "warning",
                "axiom",
                f"{axiom.text[:60]!r} is not of the form a -> b.",
                f"Write {axiom.word}: a -> b.",
            )
            return
        term_of = self.into.type if predicate == v.RDFS_SUB_CLASS_OF else self.into.property
        lower, upper = (term_of(side, axiom.span) for side in sides)
        if lower is not None and upper is not None:
            self.into.fact(lower, predicate, upper, axiom.span)


def _pointer(key: str) -> str:
    """A key as a reference token of RFC 6901."""
    return key.replace("~", "~0").replace("/", "~1")


def _scalars_of(item: MapValue, names: tuple[str, ...]) -> tuple[ScalarValue, ...]:
    """The scalars under the first of the keys that the mapping has."""
    for name in names:
        for entry in item.entries:
            if fold_key(entry.key) == name:
                return scalars(entry.value)
    return ()

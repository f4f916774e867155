"""What links state: a mention, an embedding, a citation, or the relation that they name.

Whether `[[a:b]]` is a relation or a title (design/data-model.md section 4): a note of that name makes
it a plain link; `::` always splits; one `:` splits where the left is a word and the right begins
with neither a blank nor `//`; a known prefix belongs to the relation (`schema:knows:people/bob`).
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from pyoxigraph import NamedNode

from synapse.engine.notes.facts import Gathering, ResolvedLink
from synapse.engine.notes.links import Resolution, target_keys
from synapse.engine.notes.reading import Link, LinkKind
from synapse.engine.notes.source import Span
from synapse.engine.notes.syntax import (
    LinkText,
    destination,
    double_colon,
    has_scheme,
    is_web,
    single_colon,
    valid_iri,
)
from synapse.engine.terms import vocabulary as v

_CITED: Final = re.compile(r"(?:https?|ftp)://|urn:|doi:", re.I)
_NOT_IN_IRI: Final = re.compile(r"[\x00-\x20<>\"{}|\\^`\[\]\x7f-\x9f\ue000-\uf8ff]|%(?![0-9A-Fa-f]{2})")


class LinkStater:
    """States the links of one note into its `Gathering`."""

    def __init__(self, into: Gathering) -> None:
        self._into = into

    def link(self, link: Link) -> None:
        """State a link of the body."""
        if link.kind == "url" or (link.kind == "embed" and _is_address(link)):
            self._address(link)
            return
        into = self._into
        target, relation = link.target, link.relation
        if link.syntax == "wikilink" and ":" in target and relation is None and not self._exists(target):
            split = None if link.kind == "embed" else self._split(target)
            if split is not None:
                relation, target = split
            elif (iri := into.expand(target)) is not None:
                self._prefixed(link, iri)
                return
        resolution = into.resolve(target, link.syntax == "markdown", link.span)
        self._state(link, link.kind, target, relation, resolution)

    def value(self, link: LinkText, key: str, predicate: NamedNode, span: Span) -> NamedNode | None:
        """The node that a link in the value of a property means; None where it means none."""
        if has_scheme(link.target) and (link.syntax == "markdown" or is_web(link.target)):
            iri = _web_iri(link.target)
            stated = None if iri is None else predicate
            self._add("frontmatter", link.target, link.target, None, "", link.text, key, stated, span)
            return iri
        resolution = self._into.resolve(link.target, link.syntax == "markdown", span)
        return self._value(link.target, resolution, link.anchor, link.text, key, predicate, span)

    def path(self, text: str, key: str, predicate: NamedNode, span: Span) -> NamedNode | None:
        """The node of the file at a path from the root, or None if the text is no such path."""
        if "\n" in text or has_scheme(text):
            return None
        into = self._into
        into.lookups.update(target_keys(text))
        path = into.resolver.from_root(text)
        if path is None:
            return None
        return self._value(text, into.resolver.resolve("", path), "", "", key, predicate, span)

    def _exists(self, target: str) -> bool:
        """Whether the whole of a target with a colon names a file; its coming would change the answer."""
        self._into.lookups.update(target_keys(target))
        return self._into.resolver.resolve(target, self._into.note.path).path is not None

    def _split(self, target: str) -> tuple[str, str] | None:
        """Relation and target of a wikilink that names no existing note, or None for a title."""
        if (split := double_colon(target)) is not None:
            return split
        if (split := single_colon(target)) is None:
            return None
        relation, rest = split
        if relation in self._into.words.prefixes:
            name, colon, rest = rest.partition(":")
            if not colon or not rest.strip() or not name:
                return None
            relation = f"{relation}:{name}"
        return relation, rest.strip()

    def _predicate(self, link: Link, relation: str | None) -> NamedNode | None:
        if relation is not None:
            return self._into.property(relation, link.span)
        return v.EMBEDS if link.kind == "embed" else v.SCHEMA_MENTIONS

    def _state(
        self, link: Link, kind: LinkKind, target: str, relation: str | None, resolution: Resolution
    ) -> None:
        into = self._into
        predicate = self._predicate(link, relation)
        # `[[#heading]]` points inside the note; it says nothing about the entity.
        entity = into.entity_of(resolution, link.span) if target or relation else None
        if entity is None or predicate is None:
            predicate = None
        else:
            into.fact(into.entity, predicate, entity, link.span)
        self._add(
            kind,
            target,
            resolution.entity_id,
            resolution.path,
            link.anchor,
            link.text,
            relation,
            predicate,
            link.span,
        )

    def _address(self, link: Link) -> None:
        """A link or embedding with a scheme."""
        into = self._into
        if link.kind == "url" and not is_web(link.target):
            # Not a scheme that the web knows: a note with a colon in its name, or `schema:Person`.
            target, _ = destination(link.target)
            found = into.resolver.resolve(target, into.note.path, "markdown")
            into.lookups.update(target_keys(target))
            if found.path is not None:
                self._state(link, "markdown", target, link.relation, found)
                return
            if (iri := into.expand(link.target)) is not None:
                self._prefixed(link, iri)
                return
        predicate: NamedNode | None = None
        if link.relation is not None or link.kind == "embed":
            predicate = self._predicate(link, link.relation)
        elif _CITED.match(link.target):
            predicate = v.SCHEMA_CITATION
        web = _web_iri(link.target)
        if predicate is not None and web is not None:
            into.fact(into.entity, predicate, web, link.span)
        elif predicate is not None:
            predicate = None
            into.report(link.span, "info", "link-target", f"{link.target[:80]!r} is not a valid IRI.")
        self._add(
            link.kind,
            link.target,
            link.target,
            None,
            link.anchor,
            link.text,
            link.relation,
            predicate,
            link.span,
        )

    def _prefixed(self, link: Link, iri: NamedNode) -> None:
        """A link to `prefix:name`."""
        predicate = self._predicate(link, link.relation)
        if predicate is not None:
            self._into.fact(self._into.entity, predicate, iri, link.span)
        self._add(
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

    def _value(
        self,
        target: str,
        resolution: Resolution,
        anchor: str,
        text: str,
        key: str,
        predicate: NamedNode,
        span: Span,
    ) -> NamedNode | None:
        entity = self._into.entity_of(resolution, span)
        stated = None if entity is None else predicate
        self._add(
            "frontmatter", target, resolution.entity_id, resolution.path, anchor, text, key, stated, span
        )
        return entity

    def _add(
        self,
        kind: LinkKind,
        target: str,
        target_id: str,
        path: str | None,
        anchor: str,
        text: str,
        relation: str | None,
        predicate: NamedNode | None,
        span: Span,
    ) -> None:
        self._into.links.append(
            ResolvedLink(kind, target, target_id, path, anchor, text, relation, predicate, span)
        )


def _is_address(link: Link) -> bool:
    return is_web(link.target) if link.syntax == "wikilink" else has_scheme(link.target)


def _web_iri(target: str) -> NamedNode | None:
    """The IRI of an address, with what IRIs cannot hold percent-encoded; None if it is none even so."""
    encoded = _NOT_IN_IRI.sub(lambda found: quote(found[0], safe=""), target)
    before, _, fragment = encoded.partition("#")
    if fragment:
        encoded = f"{before}#{fragment.replace('#', '%23')}"
    return valid_iri(encoded)

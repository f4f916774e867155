"""What one note states, and where it is gathered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.notes.diagnostics import Diagnostic, Severity, add
from synapse.engine.notes.links import LinkResolver, Resolution, target_keys
from synapse.engine.notes.reading import LinkKind, Note, fold_key
from synapse.engine.notes.source import Span
from synapse.engine.notes.values import text_literal
from synapse.engine.terms import Identities, InvalidId, Words
from synapse.engine.terms import vocabulary as v

Term = NamedNode | Literal


class StatedFact(NamedTuple):
    """A fact and where the note states it; span is None for what the file's name says."""

    triple: Triple
    span: Span | None


class ResolvedLink(NamedTuple):
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


class Gathering:
    """The facts, links and diagnostics of a note while it is being stated, and the vault to ask."""

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
        own = resolver.resolve("", note.path)
        self.entity = NamedNode(note.uri) if note.uri else identities.entity(own.entity_id)
        self.facts: dict[Triple, Span | None] = {}
        self.links: list[ResolvedLink] = []
        self.lookups: set[str] = set()
        self.diagnostics = list(note.diagnostics)

    def fact(self, subject: NamedNode, predicate: NamedNode, object_: Term, span: Span | None) -> None:
        """State a triple; of the places that state it the first counts."""
        self.facts.setdefault(Triple(subject, predicate, object_), span)

    def report(self, span: Span, severity: Severity, code: str, message: str, hint: str = "") -> None:
        """Note a finding at a place of the file."""
        place = self.note.path, span.line, span.column
        add(self.diagnostics, Diagnostic(*place, severity, code, message, hint))

    # --- words

    def property(self, word: str, span: Span) -> NamedNode | None:
        """The property that a word names, or None with a diagnostic."""
        return self._word(word, span, v.PROP)

    def type(self, word: str, span: Span) -> NamedNode | None:
        """The class that a word names, or None with a diagnostic."""
        return self._word(word, span, v.TYPE)

    def _word(self, word: str, span: Span, namespace: str) -> NamedNode | None:
        word = word.strip()
        if not fold_key(word):
            self.report(span, "warning", "word", f"{word!r} names no property or class.", "Use letters.")
            return None
        try:
            term = self.words.property(word) if namespace == v.PROP else self.words.type(word)
        except ValueError:
            self.report(span, "warning", "word", f"{word[:60]!r} is no valid IRI.", "Write a word or an IRI.")
            return None
        # Where the word itself made the term, its first written form is the label.
        if term.value.startswith(namespace) and self.expand(word) is None:
            self.fact(term, v.RDFS_LABEL, text_literal(word), span)
        return term

    def expand(self, text: str) -> NamedNode | None:
        """An absolute IRI or `prefix:name` with a known prefix; None for anything else."""
        try:
            return self.words.expand(text)
        except ValueError:
            return None

    # --- links

    def resolve(self, target: str, markdown: bool, span: Span) -> Resolution:
        """What a target means; says so where it fits several files."""
        if target:
            self.lookups.update(target_keys(target))
        found = self.resolver.resolve(target, self.note.path, "markdown" if markdown else "wikilink")
        if found.ambiguous:
            self.report(
                span,
                "warning",
                "link-ambiguous",
                f"{target!r} also fits {', '.join(found.ambiguous[:3])}.",
                "Write more of the path.",
            )
        return found

    def entity_of(self, resolution: Resolution, span: Span) -> NamedNode | None:
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
            self.report(span, "warning", "link-target", error.message, error.hint)
            return None
        self.report(span, "warning", "link-target", "The link names nothing.", "Write a path or a name.")
        return None

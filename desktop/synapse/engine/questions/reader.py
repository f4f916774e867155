"""Terms of the graph as people meet them: labels, kinds, sources.

A reader lives for one question; what it looked up once it remembers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from urllib.parse import unquote

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.engine.errors import UnknownEntity
from synapse.engine.graph.store import GraphStore
from synapse.engine.questions.results import Entity, EntityKind, Fact, Source, Value
from synapse.engine.questions.unnamed import describe_unnamed
from synapse.engine.terms import Identities, Words, is_absolute_iri
from synapse.engine.terms import vocabulary as v

Term = NamedNode | BlankNode | Literal | Triple

_LIKE = 0.75
"""From which likeness on two names could be each other's misspelling; one letter of four may differ."""

_SPOKEN_NAMESPACES = (v.PROP, v.TYPE, v.TAG)
_BOOKKEEPING = (v.PROV, v.PROP)
"""Namespaces of predicates that meta uses: only their facts can be bookkeeping."""


@dataclass(frozen=True, slots=True)
class EntityIndex:
    """What the engine keeps in memory about entities that files make.

    paths: entity IRI -> path of the note. iris: entity id -> IRI, for notes with a `uri:`.
    ids: all note ids.
    """

    paths: Mapping[str, str]
    iris: Mapping[str, str]
    ids: Mapping[str, str]
    attachments: Collection[str] = ()

    def iri(self, entity_id: str, identities: Identities) -> NamedNode:
        """The IRI of what an id names: a note's `uri:` where it gives one, an attachment's own."""
        found = self.iris.get(entity_id)
        if found is not None:
            return NamedNode(found)
        if entity_id in self.attachments and entity_id not in self.ids:
            return identities.document(entity_id)
        return identities.entity(entity_id)


@dataclass(frozen=True, slots=True)
class Resolved:
    """An entity as it was asked for. note: says so when the id was not matched exactly."""

    iri: NamedNode
    note: str | None = None


class GraphReader:
    """Reads the graph for one question.

    sources: describes the named graphs that state a fact; the engine passes it in, because places
    in files and agents' reasons are not in the graph.
    """

    def __init__(
        self,
        store: GraphStore,
        index: EntityIndex,
        identities: Identities,
        words: Words,
        sources: Callable[[Triple, list[NamedNode]], tuple[Source, ...]],
        unwritten: Callable[[], Iterable[str]],
    ) -> None:
        self.store = store
        self.index = index
        self.identities = identities
        self.words = words
        self._sources = sources
        self._unwritten = unwritten
        self._entities: dict[str, Entity] = {}

    # -- terms ---------------------------------------------------------------------------------

    def describe(self, term: Term) -> Entity | Value:
        """Any term, with its label."""
        return self.entity(term) if isinstance(term, NamedNode) else describe_unnamed(term)

    def entity(self, node: NamedNode) -> Entity:
        """A node, with its label and what it is."""
        found = self._entities.get(node.value)
        if found is None:
            found = self._entities[node.value] = self._entity(node)
        return found

    def _entity(self, node: NamedNode) -> Entity:
        iri = node.value
        path = self.index.paths.get(iri)
        entity_id = self.identities.id_of(iri)
        kind: EntityKind
        if path is not None:
            kind = "note"
            entity_id = entity_id or path.removesuffix(".md")
        elif entity_id is not None:
            path = self.identities.path_of(iri)
            is_file = path is not None and path in self.identities.attachments
            kind, path = ("attachment", path) if is_file else ("unwritten", None)
        elif iri.startswith(v.TAG):
            kind = "tag"
        elif iri.startswith(v.MEMORY):
            kind = "memory"
        elif iri.startswith(v.GENID):
            kind = "value"
        else:
            kind = "other"
        return Entity(entity_id or iri, iri, self._label(node, path, entity_id), kind, path)

    def _label(self, node: NamedNode, path: str | None, entity_id: str | None) -> str:
        labels = [
            triple
            for triple in self.store.match(node, v.RDFS_LABEL, None, view="stated")
            if isinstance(triple.object, Literal) and triple.object.value.strip()
        ]
        if len(labels) > 1:
            labels.sort(key=lambda triple: self._label_rank(triple, path))
        if labels:
            literal = labels[0].object
            assert isinstance(literal, Literal)
            return literal.value
        return fallback_label(node.value, entity_id, self.words.prefixes)

    def _label_rank(self, triple: Triple, path: str | None) -> tuple[int, str, str]:
        """The note's own label first, then an ontology's, then English or plain, then by text."""
        literal = triple.object
        assert isinstance(literal, Literal)
        graphs = [graph.value for graph in self.store.sources(triple)]
        own = path is not None and self.identities.document(path).value in graphs
        ontology = any(graph.startswith(v.ONTOLOGY) for graph in graphs)
        rank = 0 if own else 1 if ontology else 2
        if literal.language not in (None, "en"):
            rank += 3
        return rank, literal.value.casefold(), literal.value

    # -- facts ---------------------------------------------------------------------------------

    def fact(self, triple: Triple, *, with_sources: bool = True) -> Fact:
        """A triple of the graph as a fact."""
        graphs = self.store.sources(triple)
        assert isinstance(triple.subject, NamedNode)
        return Fact(
            self.entity(triple.subject),
            self.entity(triple.predicate),
            self.describe(triple.object),
            inferred=not graphs,
            sources=self._sources(triple, graphs) if with_sources else (),
        )

    def about(self, node: NamedNode) -> list[Triple]:
        """Facts with the node as subject, stated and inferred, without bookkeeping."""
        return [triple for triple in self.store.match(node, None, None) if not self.is_bookkeeping(triple)]

    def naming(self, node: NamedNode) -> list[Triple]:
        """Facts with the node as object."""
        return [triple for triple in self.store.match(None, None, node) if not self.is_bookkeeping(triple)]

    def is_bookkeeping(self, triple: Triple) -> bool:
        """Whether only meta states it."""
        if not triple.predicate.value.startswith(_BOOKKEEPING) and triple.predicate != v.RDF_TYPE:
            return False
        return self.store.sources(triple) == [v.META]

    # -- what people ask for -------------------------------------------------------------------

    def resolve(self, asked: str) -> Resolved:
        """The entity that a person or an agent named by id or IRI (data-model.md section 2).

        Raises InvalidId, and UnknownEntity with the nearest ids.
        """
        text = asked.strip()
        written = text[1:-1] if text.startswith("<") and text.endswith(">") else text
        expanded = self.words.expand(written)
        if expanded is not None and not written.startswith(self.identities.base):
            if self._exists(expanded):
                return Resolved(expanded)
            raise UnknownEntity(f"Nothing is known about <{expanded.value}>.", "Search for it by its name.")
        if is_absolute_iri(written) and not written.startswith(self.identities.base) and "://" in written:
            raise UnknownEntity(f"Nothing is known about <{written}>.", "Search for it by its name.")
        entity_id = self.identities.parse_id(text)
        iri = self.index.iri(entity_id, self.identities)
        if entity_id in self.index.ids or self._exists(iri):
            return Resolved(iri)
        folded = entity_id.casefold()
        known = [*self.index.ids, *self._unwritten()]
        same = sorted({candidate for candidate in known if candidate.casefold() == folded})
        if len(same) == 1:
            return Resolved(self.index.iri(same[0], self.identities), f"Read {asked} as {same[0]}.")
        near = same or self._near(folded, known)
        hint = f"Did you mean {', '.join(near)}?" if near else "Search for it by its name."
        raise UnknownEntity(f"There is no {entity_id}.", hint, candidates=tuple(near))

    def _near(self, folded: str, known: Iterable[str]) -> list[str]:
        """At most five ids that a slip of the hand, or a missing folder, could have made this of."""
        folder, _, last = folded.rpartition("/")
        found: dict[str, tuple[float, str]] = {}
        for candidate in known:
            form = candidate.casefold()
            its_folder, _, its_last = form.rpartition("/")
            # Folders are compared apart: two people share `people/` and need not be alike.
            names, folders = _alike(last, its_last), _alike(folder, its_folder)
            if names == 1 or (names >= _LIKE and (not folder or folders >= _LIKE)):
                found[candidate] = (-names - folders, candidate)
        return sorted(found, key=found.__getitem__)[:5]

    def _exists(self, node: NamedNode) -> bool:
        return bool(self.store.match(node) or self.store.match(object=node))


def _alike(one: str, other: str) -> float:
    """From 0 to 1: how little must be typed differently; 1 for the same."""
    if one == other:
        return 1.0
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    return matcher.ratio() if matcher.quick_ratio() >= _LIKE else 0.0


def fallback_label(iri: str, entity_id: str | None, prefixes: Mapping[str, str]) -> str:
    """A label for a node that nobody labelled: the last segment of its id, the word, or `prefix:name`."""
    if entity_id is not None:
        return entity_id.rpartition("/")[2] or entity_id
    for namespace in _SPOKEN_NAMESPACES:
        if iri.startswith(namespace):
            word = unquote(iri[len(namespace) :])
            return word if namespace == v.TAG else word.replace("_", " ")
    if iri.startswith(v.GENID):
        return iri.rpartition("/")[2]
    for prefix, namespace in prefixes.items():
        if iri.startswith(namespace) and len(iri) > len(namespace):
            return f"{prefix}:{unquote(iri[len(namespace) :])}"
    return unquote(iri.removeprefix("https://").removeprefix("http://")) if "://" in iri else iri

"""Facts as agents write them and as the journal keeps them, and what they mean in the graph.

In the journal a fact is `{"subject": id, "predicate": word, "object": text, "object_kind":
"entity" | "literal", "datatype"?, "language"?}`: ids and words as given, so that a changed
`uri:`, base or context gives them their new meaning when they are projected again.

The data of an `assert` event: `{"facts": [...], "source"?: text, "supersedes"?: [assertion id],
"key"?: text}`, where `key` names the call, so that the same call sent again states nothing new.
Of a `retract` event: `{"withdraw": [{"assertion": id, "facts"?: [...]}]}`; without `facts` the
whole assertion goes. Of an `undo` event: `{"events": [id]}`, or `{"event": id}` for one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyoxigraph import Literal as RdfLiteral
from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import InvalidFact
from synapse.engine.record.events import ASSERT, RETRACT, UNDO
from synapse.engine.terms import Identities, Words, canonical, fold_word, is_absolute_iri, tag_iri
from synapse.engine.terms import vocabulary as v

ObjectKind = Literal["entity", "literal"]
EntityIri = Callable[[str], NamedNode]
"""The IRI of a vault id, with regard to the `uri:` of its note."""

_LANGUAGE = re.compile(r"[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*")
_FIELDS = frozenset({"subject", "predicate", "object", "object_kind", "datatype", "language"})
_CONTROL = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")

_TAGGED = frozenset({v.RDF + "langString", v.RDF + "dirLangString"})  # literals with a language have these

# The words that mean in an agent's fact what they mean as keys of a note (data-model, section 4).
_TYPE_WORDS = frozenset({"type", "a"})
_TAG_WORDS = frozenset({"tag", "tags"})
_NOTE_WORDS = {"title": v.RDFS_LABEL, "alias": v.SKOS_ALT_LABEL, "aliases": v.SKOS_ALT_LABEL}


@dataclass(frozen=True, slots=True)
class WrittenFact:
    """A fact as written. `object` is an id, IRI or word, or for a literal its text."""

    subject: str
    predicate: str
    object: str
    object_kind: ObjectKind = "entity"
    datatype: str | None = None
    language: str | None = None

    def as_json(self) -> dict[str, str]:
        """The fact as the journal keeps it."""
        found = {
            "subject": self.subject,
            "predicate": self.predicate,
            "object": self.object,
            "object_kind": self.object_kind,
        }
        if self.datatype is not None:
            found["datatype"] = self.datatype
        if self.language is not None:
            found["language"] = self.language
        return found


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """What a retraction takes back: these facts of an assertion, or with None all of it."""

    assertion: str
    facts: tuple[WrittenFact, ...] | None = None

    def as_json(self) -> dict[str, object]:
        """The withdrawal as the journal keeps it."""
        found: dict[str, object] = {"assertion": self.assertion}
        if self.facts is not None:
            found["facts"] = [fact.as_json() for fact in self.facts]
        return found


def parse_fact(value: object) -> WrittenFact:
    """A fact from JSON. Raises InvalidFact that names the field at fault."""
    if not isinstance(value, Mapping):
        raise InvalidFact("A fact must be an object with subject, predicate and object.")
    unknown = sorted(str(key) for key in value.keys() - _FIELDS)
    if unknown:
        raise InvalidFact(
            f"A fact has no field {unknown[0]!r}.", f"Its fields are {', '.join(sorted(_FIELDS))}."
        )
    subject, predicate = _name(value, "subject"), _name(value, "predicate")
    datatype, language = _optional(value, "datatype"), _optional(value, "language")
    # A datatype or a language is only ever a literal's, so it says which kind is meant.
    implied = "literal" if datatype is not None or language is not None else "entity"
    kind = value.get("object_kind", implied)
    if kind == "entity":
        if implied == "literal":
            raise InvalidFact("An entity has neither datatype nor language.", "Use object_kind literal.")
        return WrittenFact(subject, predicate, _name(value, "object"))
    if kind != "literal":
        raise InvalidFact("object_kind must be entity or literal.")
    text = value.get("object")
    if not isinstance(text, str):
        raise InvalidFact("The object must be text.", "Write numbers and dates as text with a datatype.")
    if _NO_TEXT.search(text):
        raise InvalidFact("The object holds a NUL or a lone surrogate, which no RDF literal can.")
    if datatype is not None and language is not None:
        raise InvalidFact("A literal has a datatype or a language, not both.")
    if language is not None and not _LANGUAGE.fullmatch(language):
        raise InvalidFact(f"{language!r} is no language tag.", "Write one such as en or pt-BR.")
    return WrittenFact(subject, predicate, text, "literal", datatype, language)


def _name(value: Mapping[Any, Any], key: str) -> str:
    found = value.get(key)
    if not isinstance(found, str) or not found.strip():
        raise InvalidFact(f"The {key} is missing or no text.", "A fact needs subject, predicate and object.")
    if _CONTROL.search(found):
        raise InvalidFact(f"The {key} holds a control character or a lone surrogate.")
    return found


def _optional(value: Mapping[Any, Any], key: str) -> str | None:
    if value.get(key) is None:
        return None
    return _name(value, key)


# --- data of events --------------------------------------------------------------------------------


def assertion_data(
    facts: Iterable[WrittenFact], source: str = "", supersedes: Sequence[str] = (), key: str | None = None
) -> dict[str, object]:
    """The data of an `assert` event. source: where the agent has it from, as text, id or IRI."""
    found: dict[str, object] = {"facts": [fact.as_json() for fact in facts]}
    if source:
        found["source"] = source
    if supersedes:
        found["supersedes"] = list(supersedes)
    if key is not None:
        found["key"] = key
    return found


def retraction_data(withdrawals: Iterable[Withdrawal]) -> dict[str, object]:
    """The data of a `retract` event."""
    return {"withdraw": [withdrawal.as_json() for withdrawal in withdrawals]}


def asserted_facts(data: Mapping[str, Any]) -> tuple[WrittenFact, ...]:
    """The facts of an `assert` event. Raises InvalidFact."""
    return tuple(parse_fact(fact) for fact in _list(data, "facts"))


def superseded(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The assertions that an `assert` event replaces. Raises InvalidFact."""
    ids = data.get("supersedes", [])
    if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
        raise InvalidFact("supersedes must be a list of assertion ids.")
    return tuple(ids)


def withdrawals(data: Mapping[str, Any]) -> tuple[Withdrawal, ...]:
    """What a `retract` event takes back. Raises InvalidFact."""
    found = []
    for value in _list(data, "withdraw"):
        if not isinstance(value, Mapping) or not isinstance(value.get("assertion"), str):
            raise InvalidFact("A withdrawal must name an assertion.")
        facts = value.get("facts")
        if facts is not None:
            facts = tuple(parse_fact(fact) for fact in _list(value, "facts"))
        found.append(Withdrawal(value["assertion"], facts))
    return tuple(found)


def undo_data(events: Iterable[str]) -> dict[str, object]:
    """The data of an `undo` event, which takes other events back."""
    return {"events": list(events)}


def undone(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The events that an `undo` event takes back. Raises InvalidFact."""
    found = [data["event"]] if "event" in data else data.get("events")
    if not isinstance(found, list) or not found or not all(isinstance(one, str) for one in found):
        raise InvalidFact("An undo must name an event.")
    return tuple(dict.fromkeys(found))


def key_of(data: Mapping[str, Any]) -> str | None:
    """What names the call of an `assert` event. Raises InvalidFact."""
    found = data.get("key")
    if found is not None and not isinstance(found, str):
        raise InvalidFact("The key must be text.")
    return found


def check_data(kind: str, data: Mapping[str, Any]) -> None:
    """Raises InvalidFact where the data of an event that is to be written is not of its kind's shape."""
    if kind == ASSERT:
        asserted_facts(data)
        superseded(data)
        key_of(data)
        if not isinstance(data.get("source", ""), str):
            raise InvalidFact("The source must be text.")
    elif kind == RETRACT:
        withdrawals(data)
    elif kind == UNDO:
        undone(data)


def _list(data: Mapping[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    if not isinstance(found, list) or not found:
        raise InvalidFact(f"{key} must be a list of at least one.")
    return found


# --- meaning ---------------------------------------------------------------------------------------


class Projector:
    """Turns written facts into triples.

    entity: the IRI of a vault id, which must not change in the projector's life. identities: reads
    ids as people and agents write them; give the vault's own where its base is not the default.
    """

    def __init__(self, entity: EntityIri, words: Words, identities: Identities | None = None) -> None:
        self._entity = entity
        self._words = words
        self._identities = identities or Identities()
        self._nodes: dict[str, NamedNode] = {}

    def triple(self, fact: WrittenFact) -> Triple:
        """The fact in the graph. Raises InvalidFact, or InvalidId for an id that cannot name an entity."""
        return Triple(self.node(fact.subject), self.predicate(fact.predicate), self._object(fact))

    def node(self, text: str) -> NamedNode:
        """An entity by its id, as the entity's IRI, any absolute IRI, or `prefix:name`."""
        found = self._nodes.get(text)
        if found is None:
            found = self._nodes[text] = self._node(text.strip())
        return found

    def _node(self, text: str) -> NamedNode:
        bracketed = text.startswith("<") and text.endswith(">")
        inner = text[1:-1] if bracketed else text
        if not inner.startswith(self._identities.base):
            if bracketed and is_absolute_iri(inner):
                return NamedNode(inner)
            if (known := self._words.expand(inner)) is not None:
                return known
        return self._entity(self._identities.parse_id(text))

    def predicate(self, word: str) -> NamedNode:
        """A property by word, IRI or `prefix:name`."""
        text = word.strip()
        if text.startswith("<") and text.endswith(">") and is_absolute_iri(text[1:-1]):
            return NamedNode(text[1:-1])
        folded = fold_word(text)
        if not folded:
            raise InvalidFact(f"{word!r} names no property.", "Write a word such as works_for.")
        if folded in _TYPE_WORDS:
            return v.RDF_TYPE
        if folded in _TAG_WORDS:
            return v.SCHEMA_KEYWORDS
        return _NOTE_WORDS.get(folded) or self._words.property(text)

    def _object(self, fact: WrittenFact) -> NamedNode | RdfLiteral:
        folded = fold_word(fact.predicate)
        if folded in _TYPE_WORDS or self.predicate(fact.predicate) == v.RDF_TYPE:
            return self._class(fact.object)
        if folded in _TAG_WORDS:
            tag = fact.object.strip().removeprefix("#")
            if not tag.strip("/ "):
                raise InvalidFact(f"{fact.object!r} is no tag.", "Write one such as area/work.")
            return tag_iri(tag)
        if fact.object_kind == "entity":
            return self.node(fact.object)
        if fact.language is not None:
            return canonical(RdfLiteral(fact.object, language=fact.language))
        if fact.datatype is None:
            return RdfLiteral(fact.object)
        datatype = self._words.expand(fact.datatype.strip().removeprefix("<").removesuffix(">"))
        if datatype is None or datatype.value in _TAGGED:
            raise InvalidFact(f"{fact.datatype!r} is no datatype.", "Write one such as xsd:integer.")
        try:
            return canonical(RdfLiteral(fact.object, datatype=datatype))
        except ValueError as error:
            raise InvalidFact(f"{fact.datatype!r} is not possible here: {error}.") from error

    def _class(self, text: str) -> NamedNode:
        text = text.strip()
        if text.startswith("<") and text.endswith(">") and is_absolute_iri(text[1:-1]):
            return NamedNode(text[1:-1])
        if text.startswith(self._identities.base) or ("/" in text and self._words.expand(text) is None):
            return self.node(text)
        if not fold_word(text):
            raise InvalidFact(f"{text!r} names no class.", "Write a word such as Person.")
        return self._words.type(text)


def is_schema_axiom(triple: Triple) -> bool:
    """Whether a fact says something about the vocabulary (design/agents.md, "Who may do what").

    From an agent such a fact drives no inference until a person promoted it: a predicate of
    RDFS or OWL except label, comment, seeAlso and isDefinedBy, or the type of something in RDF,
    RDFS or OWL. `owl:sameAs` is one.
    """
    if triple.predicate == v.RDF_TYPE:
        return isinstance(triple.object, NamedNode) and triple.object.value.startswith((v.RDF, v.RDFS, v.OWL))
    return triple.predicate.value.startswith((v.RDFS, v.OWL)) and triple.predicate not in _ANNOTATIONS


_ANNOTATIONS = frozenset({v.RDFS_LABEL, v.RDFS_COMMENT, v.RDFS_SEE_ALSO, v.RDFS_IS_DEFINED_BY})

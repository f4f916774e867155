"""Facts as small integers: the term table, and the set of facts with the indexes that joins need.

Numbers of terms: NamedNodes (and blank nodes) count up from 0, everything that cannot be a subject
(literals, triple terms) counts down from -1. So `subject < 0` is the whole test for a generalised
triple.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

if TYPE_CHECKING:
    from synapse.engine.reasoning.instances import Instance

Term = NamedNode | BlankNode | Literal | Triple
Fact = tuple[int, int, int]
Reason = tuple["Instance", tuple[Fact, ...]]
"""Why a fact was derived: the rule instance and its data premises, in the order of the rule."""

NOTHING: frozenset[Fact] = frozenset()


class TermTable:
    """Two-way map between terms and numbers. Numbers are never given back."""

    __slots__ = ("_nodes", "_numbers", "_values")

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}
        self._nodes: list[Term] = []
        self._values: list[Term] = []

    def number(self, term: Term) -> int:
        """The number of a term, a new one if need be."""
        found = self._numbers.get(term)
        if found is None:
            if isinstance(term, (NamedNode, BlankNode)):
                found = len(self._nodes)
                self._nodes.append(term)
            else:
                self._values.append(term)
                found = -len(self._values)
            self._numbers[term] = found
        return found

    def term(self, number: int) -> Term:
        return self._nodes[number] if number >= 0 else self._values[-1 - number]

    def is_iri(self, number: int) -> bool:
        return number >= 0 and isinstance(self._nodes[number], NamedNode)

    def fact(self, triple: Triple) -> Fact:
        return self.number(triple.subject), self.number(triple.predicate), self.number(triple.object)

    def facts(self, triples: Iterable[Triple]) -> list[Fact]:
        """The same for many; one lookup per term that is known already."""
        numbers, number = self._numbers, self.number
        found: list[Fact] = []
        for triple in triples:
            subject, predicate, value = triple.subject, triple.predicate, triple.object
            try:
                found.append((numbers[subject], numbers[predicate], numbers[value]))
            except KeyError:
                found.append((number(subject), number(predicate), number(value)))
        return found

    def find(self, triple: Triple) -> Fact | None:
        """The fact, or None if one of its terms was never seen."""
        numbers = self._numbers
        try:
            return numbers[triple.subject], numbers[triple.predicate], numbers[triple.object]
        except KeyError:
            return None

    def triple(self, fact: Fact) -> Triple:
        subject, predicate, value = map(self.term, fact)
        assert isinstance(subject, (NamedNode, BlankNode)) and isinstance(predicate, NamedNode)
        return Triple(subject, predicate, value)


class FactBase:
    """The facts that hold, stated or derived, and for each derived one its reason.

    Facts are kept in groups. A group's key is the predicate's number; for `rdf:type` with a class
    it is the class's number, inverted (`~class`). Indexes by subject and by object are made for a
    predicate when a join first asks for one, and kept in step from then on.
    """

    __slots__ = ("_by_object", "_by_subject", "groups", "rdf_type", "reasons")

    def __init__(self, rdf_type: int) -> None:
        self.rdf_type = rdf_type
        self.groups: dict[int, set[Fact]] = {}
        self.reasons: dict[Fact, Reason] = {}
        self._by_subject: dict[int, dict[int, set[Fact]]] = {}
        self._by_object: dict[int, dict[int, set[Fact]]] = {}

    def key(self, fact: Fact) -> int:
        """The key of the group that the fact belongs to."""
        return ~fact[2] if fact[1] == self.rdf_type and fact[2] >= 0 else fact[1]

    def __contains__(self, fact: Fact) -> bool:
        return fact in self.groups.get(self.key(fact), NOTHING)

    def __len__(self) -> int:
        return sum(map(len, self.groups.values()))

    def __iter__(self) -> Iterator[Fact]:
        return chain.from_iterable(self.groups.values())

    def is_stated(self, fact: Fact) -> bool:
        return fact in self and fact not in self.reasons

    def add(self, fact: Fact) -> bool:
        """Add a fact; False if it was there already."""
        group = self.groups.setdefault(self.key(fact), set())
        if fact in group:
            return False
        group.add(fact)
        self._index(fact)
        return True

    def load(self, facts: Iterable[Fact]) -> None:
        """Add many facts to an empty base, before any index exists."""
        groups, rdf_type = self.groups, self.rdf_type
        for fact in facts:
            key = fact[1]
            if key == rdf_type and fact[2] >= 0:
                key = ~fact[2]
            group = groups.get(key)
            if group is None:
                groups[key] = {fact}
            else:
                group.add(fact)

    def discard(self, fact: Fact) -> None:
        """Remove a fact and its reason, if it is there."""
        self.reasons.pop(fact, None)
        key = self.key(fact)
        group = self.groups.get(key, set())
        if fact not in group:
            return
        group.remove(fact)
        if not group:
            del self.groups[key]
        for indexes, position in ((self._by_subject, 0), (self._by_object, 2)):
            index = indexes.get(fact[1])
            if index is not None:
                bucket = index[fact[position]]
                bucket.remove(fact)
                if not bucket:
                    del index[fact[position]]

    def _index(self, fact: Fact) -> None:
        index = self._by_subject.get(fact[1])
        if index is not None:
            index.setdefault(fact[0], set()).add(fact)
        index = self._by_object.get(fact[1])
        if index is not None:
            index.setdefault(fact[2], set()).add(fact)

    def of_predicate(self, predicate: int) -> Collection[Fact]:
        """All facts with a predicate; a live view where they are one group."""
        if predicate != self.rdf_type:
            return self.groups.get(predicate, NOTHING)
        return [
            fact for key, group in self.groups.items() if key < 0 or key == predicate for fact in group
        ]

    def of_subject(self, predicate: int, subject: int) -> Collection[Fact]:
        """The facts `subject predicate ?`; a live view."""
        index = self._by_subject.get(predicate)
        if index is None:
            index = self._by_subject[predicate] = self._group_by(predicate, 0)
        return index.get(subject, NOTHING)

    def of_object(self, predicate: int, value: int) -> Collection[Fact]:
        """The facts `? predicate value`; a live view."""
        if predicate == self.rdf_type and value >= 0:
            return self.groups.get(~value, NOTHING)
        index = self._by_object.get(predicate)
        if index is None:
            index = self._by_object[predicate] = self._group_by(predicate, 2)
        return index.get(value, NOTHING)

    def _group_by(self, predicate: int, position: int) -> dict[int, set[Fact]]:
        index: dict[int, set[Fact]] = {}
        for fact in self.of_predicate(predicate):
            index.setdefault(fact[position], set()).add(fact)
        return index

"""What agents state, worked out from the journal: a pure function of the events and what ids mean.

The order in which events become known does not matter: a retraction that comes before its
assertion holds, and a lost or repeated line changes nothing else.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple

from synapse.engine.changes import NO_FACTS, Facts
from synapse.engine.errors import InvalidFact, SynapseError
from synapse.engine.record import provenance
from synapse.engine.record.events import ASSERT, RETRACT, UNDO, Event
from synapse.engine.record.facts import (
    EntityIri,
    Projector,
    Withdrawal,
    WrittenFact,
    asserted_facts,
    check_data,
    key_of,
    superseded,
    undone,
    withdrawals,
)
from synapse.engine.record.journal import in_order
from synapse.engine.terms import Identities, Words, assertion_graph
from synapse.engine.terms import vocabulary as v


@dataclass(frozen=True, slots=True)
class AssertedFact:
    """A fact of an assertion. withdrawn_by: ids of the events that took it back, in order."""

    written: WrittenFact
    triple: Triple
    withdrawn_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Assertion:
    """One call that stated facts, as it stands now.

    facts: all it stated. standing: the triples that still hold, the content of `graph`. meta: its
    provenance, that of its retractions included. problems: parts of it that mean nothing.
    """

    event: Event
    graph: NamedNode
    facts: tuple[AssertedFact, ...]
    standing: Facts
    meta: Facts
    problems: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return self.event.id

    @property
    def source(self) -> str:
        """Where the agent has it from, in its words."""
        found = self.event.data.get("source", "")
        return found if isinstance(found, str) else ""


class Projection:
    """All assertions of a vault's journals. Not safe for two threads that write.

    entity: the IRI of a vault id, with regard to its note's `uri:`; where that or the words change,
    a new projection is made. identities: the vault's own,
    where its base is not the default.
    """

    def __init__(self, entity: EntityIri, words: Words, identities: Identities | None = None) -> None:
        self._projector = Projector(entity, words, identities)
        self._events: dict[str, Event] = {}
        self._withdrawals: dict[str, dict[str, Withdrawal]] = defaultdict(dict)
        """Assertion id -> event id -> what that event takes back of it."""
        self._undos: dict[str, list[str]] | None = None
        """Event id -> the undo events that take it back; None while that is to be worked out."""
        self._keyed: dict[tuple[str, str], str] = {}
        """(Agent's name, key of its call) -> id of the event that the call made."""
        self._made: dict[str, Assertion] = {}
        self._lock = threading.RLock()  # an assertion made from events half taken in would stay

    # -- events ---------------------------------------------------------------------------------

    def add(self, events: Iterable[Event]) -> frozenset[str]:
        """Takes events in; returns the ids of the assertions that may be different now."""
        with self._lock:
            return self._add(events)

    def would_touch(self, event: Event) -> frozenset[str]:
        """The assertions that may be different once a new event is taken in."""
        with self._lock:
            touched = {withdrawal.assertion for withdrawal in _withdrawals(event)}
            followed: set[str] = set()
            for target in _undone(event):
                touched |= self._touched_by(target, followed)
            return frozenset(touched | {event.id} if event.kind == ASSERT else touched)

    def _add(self, events: Iterable[Event]) -> frozenset[str]:
        touched: set[str] = set()
        followed: set[str] = set()
        for event in events:
            known = self._events.get(event.id)
            if known is not None:
                (event,) = in_order([known, event])
                if event is known:
                    continue
                touched |= self._touched_by(known.id, followed)
                followed.discard(known.id)
                self._forget(known)
            self._events[event.id] = event
            self._link(event)
            touched |= self._touched_by(event.id, followed)
        for assertion_id in touched:
            self._made.pop(assertion_id, None)
        return frozenset(touched)

    def _link(self, event: Event) -> None:
        """Notes what an event takes back."""
        for withdrawal in _withdrawals(event):
            before = self._withdrawals[withdrawal.assertion].get(event.id)
            if before is not None:
                facts = None
                if before.facts is not None and withdrawal.facts is not None:
                    facts = before.facts + withdrawal.facts
                withdrawal = Withdrawal(withdrawal.assertion, facts)
            self._withdrawals[withdrawal.assertion][event.id] = withdrawal
        if _undone(event):
            self._undos = None
        if (key := _key(event)) is not None:
            known = self._events.get(self._keyed.get(key, ""))
            if known is None or event.order < known.order:
                self._keyed[key] = event.id

    def _forget(self, event: Event) -> None:
        for found in self._withdrawals.values():
            found.pop(event.id, None)
        self._undos = None
        if (key := _key(event)) is not None and self._keyed.get(key) == event.id:
            del self._keyed[key]

    def _touched_by(self, event_id: str, followed: set[str]) -> set[str]:
        """The assertions that depend on whether an event takes effect.

        followed: undo events whose targets are accounted for already; this adds to them.
        """
        touched: set[str] = set()
        waiting = [event_id]
        while waiting:
            event = self._events.get(waiting.pop())
            if event is None:
                continue
            if targets := _undone(event):
                if event.id not in followed:
                    followed.add(event.id)
                    waiting += targets
                continue
            touched |= {withdrawal.assertion for withdrawal in _withdrawals(event)}
            if event.kind == ASSERT:
                touched.add(event.id)
        return touched

    def _undone_by(self, event_id: str) -> list[str]:
        """The undo events that take an event back and are not taken back themselves, in their order.

        Undo events are weighed from the last to the first, so that each is taken back only by
        later ones and two which name each other have one outcome.
        """
        if self._undos is None:
            found: dict[str, list[str]] = defaultdict(list)
            undoing = [(event, targets) for event in self._events.values() if (targets := _undone(event))]
            for event, targets in sorted(undoing, key=lambda pair: pair[0].order, reverse=True):
                if event.id not in found:
                    for target in targets:
                        found[target].insert(0, event.id)
            self._undos = dict(found)
        return self._undos.get(event_id, [])

    # -- assertions -----------------------------------------------------------------------------

    def ids(self) -> list[str]:
        """The ids of all assertions, also of withdrawn ones, in the order of their events."""
        events = [event for event in self._events.values() if event.kind == ASSERT]
        return [event.id for event in sorted(events, key=lambda event: event.order)]

    def keyed(self, agent: str, key: str) -> Assertion | None:
        """What an agent stated in the call that it named so; None where it made none."""
        return self.assertion(self._keyed.get((agent, key), ""))

    def events(self, agent: str | None = None, since: str | None = None) -> list[Event]:
        """Events in their order. agent: only those of that name. since: UTC time, from then on."""
        found = [
            event
            for event in list(self._events.values())
            if (agent is None or event.who.name == agent) and (since is None or event.time >= since)
        ]
        return sorted(found, key=lambda event: event.order)

    def is_undone(self, event_id: str) -> bool:
        """Whether an event was taken back."""
        with self._lock:
            return bool(self._undone_by(event_id))

    def assertion(self, assertion_id: str) -> Assertion | None:
        """An assertion as it stands now; None where no event stated it."""
        with self._lock:
            found = self._made.get(assertion_id)
            if found is None:
                event = self._events.get(assertion_id)
                if event is None or event.kind != ASSERT:
                    return None
                found = self._made[assertion_id] = self._make(event)
            return found

    def assertions(self) -> list[Assertion]:
        """All assertions, in the order of their events."""
        return [one for one in map(self.assertion, self.ids()) if one is not None]

    def of_graph(self, graph: NamedNode) -> Assertion | None:
        """The assertion whose graph this is."""
        if not graph.value.startswith(v.ASSERTION):
            return None
        return self.assertion(graph.value.removeprefix(v.ASSERTION))

    @property
    def graphs(self) -> dict[NamedNode, Facts]:
        """Graph -> facts, of each assertion of which something still holds."""
        return {one.graph: one.standing for one in self.assertions() if one.standing}

    @property
    def meta(self) -> Facts:
        """The provenance of all assertions and retractions."""
        return NO_FACTS.union(*(one.meta for one in self.assertions()))

    @property
    def problems(self) -> list[tuple[str, str]]:
        """(event id, what is wrong) for events that mean nothing here, wholly or in part."""
        found = [(one.id, problem) for one in self.assertions() for problem in one.problems]
        for event in sorted(self._events.values(), key=lambda event: event.order):
            try:
                check_data(event.kind, event.data)
            except InvalidFact as error:
                if event.kind != ASSERT:
                    found.append((event.id, str(error)))
        return found

    def withdrawal(self, assertion_id: str, triples: Collection[Triple] | None = None) -> Withdrawal | None:
        """What a `retract` event must say to take these triples of an assertion back, or with None
        all of it; None where nothing of that still holds."""
        found = self.assertion(assertion_id)
        if found is None:
            return None
        standing = [fact for fact in found.facts if fact.triple in found.standing]
        if triples is None:
            return Withdrawal(assertion_id) if standing else None
        chosen = tuple(fact.written for fact in standing if fact.triple in triples)
        return Withdrawal(assertion_id, chosen) if chosen else None

    def _make(self, event: Event) -> Assertion:
        graph = assertion_graph(event.id)
        try:
            written = asserted_facts(event.data)
        except InvalidFact as error:
            return Assertion(event, graph, (), NO_FACTS, NO_FACTS, (str(error),))
        problems: list[str] = []
        triples: list[tuple[WrittenFact, Triple]] = []
        for fact in written:
            try:
                triples.append((fact, self._projector.triple(fact)))
            except SynapseError as error:
                problems.append(str(error))
        meta = provenance.assertion(event, self._source(event))
        by: dict[Triple, list[str]] = defaultdict(list)
        for event_id, gone in self._gone(event.id, triples):
            meta |= provenance.retraction(event.id, self._events[event_id], gone)
            for triple in gone:
                by[triple].append(event_id)
        facts = tuple(AssertedFact(fact, triple, tuple(by.get(triple, ()))) for fact, triple in triples)
        standing = frozenset(fact.triple for fact in facts if not fact.withdrawn_by)
        return Assertion(event, graph, facts, standing, meta, tuple(problems))

    def _gone(
        self, assertion_id: str, triples: list[tuple[WrittenFact, Triple]]
    ) -> Iterator[tuple[str, Facts]]:
        """(event id, triples) for each event that takes some back, in the order of the events."""
        withdrawing = self._withdrawals.get(assertion_id, {})
        found = {one: self._withdrawn(withdrawing[one], triples) for one in withdrawing}
        found = {one: gone for one, gone in found.items() if not self._undone_by(one)}
        everything = frozenset(triple for _, triple in triples)
        found.update(dict.fromkeys(self._undone_by(assertion_id), everything))
        for one in sorted(found, key=lambda one: self._events[one].order):
            if found[one]:
                yield one, found[one]

    def _withdrawn(self, withdrawal: Withdrawal, triples: list[tuple[WrittenFact, Triple]]) -> Facts:
        """The triples that a withdrawal names: by the facts as written, and by what they mean."""
        if withdrawal.facts is None:
            return frozenset(triple for _, triple in triples)
        named = set(withdrawal.facts)
        meant: set[Triple] = set()
        for fact in withdrawal.facts:
            try:
                meant.add(self._projector.triple(fact))
            except SynapseError:
                continue  # what means nothing here can still be the same text
        return frozenset(triple for fact, triple in triples if fact in named or triple in meant)

    def _source(self, event: Event) -> NamedNode | str | None:
        source = event.data.get("source")
        if not isinstance(source, str) or not source.strip():
            return None
        try:
            if not any(character.isspace() for character in source.strip()):
                return self._projector.node(source)
        except SynapseError:
            return source  # not an id: the agent's words
        return source


def _withdrawals(event: Event) -> tuple[Withdrawal, ...]:
    """What an event takes back; nothing where its data means nothing (`Projection.problems` names it)."""
    try:
        if event.kind == RETRACT:
            return withdrawals(event.data)
        if event.kind == ASSERT:
            return tuple(Withdrawal(one) for one in superseded(event.data) if one != event.id)
    except InvalidFact:
        return ()
    return ()


def _undone(event: Event) -> tuple[str, ...]:
    """The events that an undo takes back; nothing for other events."""
    try:
        return undone(event.data) if event.kind == UNDO else ()
    except InvalidFact:
        return ()


def _key(event: Event) -> tuple[str, str] | None:
    """What names the call that made an assertion."""
    try:
        key = key_of(event.data) if event.kind == ASSERT else None
    except InvalidFact:
        return None
    return None if key is None else (event.who.name, key)


def project(
    events: Iterable[Event], entity: EntityIri, words: Words, identities: Identities | None = None
) -> Projection:
    """What the events state: a Projection that has taken them all in."""
    found = Projection(entity, words, identities)
    found.add(events)
    return found

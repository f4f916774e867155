"""The closure of the stated facts under the rules, kept up to date fact by fact.

Adding is semi-naive: each new fact meets the rule instances that it can set off, once. Deleting
over-deletes along the recorded reasons, removes, asks of each removed fact whether it still follows
from what is left, puts it back if so, and goes on semi-naively (reasoning.md point 5; the method is
Gupta, Mumick and Subrahmanian's "delete and rederive", with one recorded reason a fact in place of
all). Reasons are acyclic by construction: every premise is in the base before its conclusion, and no
reason is ever replaced; a fact that stops being stated is removed first and then derived again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import NamedNode, Triple

from synapse.engine.changes import Delta
from synapse.engine.reasoning.facts import Fact, FactBase, Term, TermTable
from synapse.engine.reasoning.instances import Instance, Instances, Premises
from synapse.engine.reasoning.proofs import Derivation, Proof, build_proof
from synapse.engine.reasoning.rules import NODE_VALUED, REFLEXIVE, Rule, rules_of
from synapse.engine.terms import vocabulary as v


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be derived (reasoning.md point 8).

    At most `times_stated` * stated + `more` facts in all, and `pairs` facts of one property that
    an instance derives from pairs of that same property (transitive, symmetric).
    """

    times_stated: int = 2
    more: int = 1_000_000
    pairs: int = 1_000_000


class Incomplete(NamedTuple):
    """A rule that stopped at a budget: `property` may hold between more than the base says."""

    rule: Rule
    property: NamedNode

    def __str__(self) -> str:
        return f"incomplete: {self.rule.id} on {self.property.value}"


class Reasoner:
    """Derives what follows from the stated facts, with one reason for each derived fact.

    The inferred facts are those derived and not stated. Not thread-safe: it belongs to the
    engine's writer.
    """

    def __init__(
        self,
        profile: str = "rdfs-plus",
        domain_and_range: bool = True,
        budget: Budget | None = None,
        rules: Iterable[Rule] | None = None,
    ) -> None:
        """profile: "rdfs" or "rdfs-plus" (rules.py). rules: these, in place of the profile's.

        Raises SettingsInvalid for an unknown profile.
        """
        self.rules = rules_of(profile, domain_and_range) if rules is None else tuple(rules)
        self.budget = budget or Budget()
        self._start_over()

    def _start_over(self) -> None:
        self._terms = TermTable()
        self._rdf_type = self._terms.number(v.RDF_TYPE)
        self._reflexive = frozenset(map(self._terms.number, REFLEXIVE))
        self._node_valued = frozenset(map(self._terms.number, NODE_VALUED))
        self._was_inferred: dict[Fact, bool] = {}  # facts that an update touched, as they were before
        self._load(())

    # --- The face ---

    def rebuild(self, stated: Iterable[Triple]) -> set[Triple]:
        """Forget everything and reason over these facts. Returns what is inferred."""
        self._start_over()
        self._load(self._terms.facts(stated))
        return self.inferred()

    def update(self, added: Iterable[Triple], removed: Iterable[Triple]) -> Delta:
        """Facts begin and cease to be stated. Returns how the set of inferred facts changed.

        A fact in both counts as neither; stating what is stated and removing what is not are
        no changes.
        """
        new = dict.fromkeys(self._terms.facts(added))
        old = [fact for fact in map(self._terms.find, removed) if fact is not None]
        gone = [fact for fact in dict.fromkeys(old) if fact not in new and self._facts.is_stated(fact)]
        self._was_inferred = {}
        fell = self._over_delete(gone)
        self._state(fact for fact in new if not self._facts.is_stated(fact))
        self._put_back(fell)
        self._drain()
        if self._stopped and gone and self._has_room():
            return self._start_again()
        return self._change()

    def inferred(self) -> set[Triple]:
        """The facts that follow and are not stated."""
        return set(map(self._terms.triple, self._facts.reasons))

    def is_stated(self, triple: Triple) -> bool:
        fact = self._terms.find(triple)
        return fact is not None and self._facts.is_stated(fact)

    def derivation(self, triple: Triple) -> Derivation | None:
        """The step that gave an inferred fact; None for a stated or an unknown one."""
        fact = self._terms.find(triple)
        reason = None if fact is None else self._facts.reasons.get(fact)
        return None if fact is None or reason is None else self._explain(fact, *reason)

    def proof(self, triple: Triple, label: Callable[[Term], str]) -> Proof | None:
        """How a fact follows from stated ones; one step for a stated fact, None for an unknown one."""
        fact = self._terms.find(triple)
        if fact is None or fact not in self._facts:
            return None
        return build_proof(triple, self.derivation, self.is_stated, label)

    @property
    def incomplete(self) -> tuple[Incomplete, ...]:
        """Where a budget was hit; empty if everything that follows was derived."""
        return tuple(dict.fromkeys(self._finding(instance) for instance in self._stopped))

    def __len__(self) -> int:
        """The number of facts, stated and inferred."""
        return len(self._facts)

    # --- Building and adding ---

    def _load(self, facts: Iterable[Fact]) -> None:
        self._facts = FactBase(self._rdf_type)
        self._facts.load(facts)
        self._instances = Instances(self.rules, self._terms, self._rdf_type)
        self._axiom_keys = frozenset(self._instances.axiom_keys)
        self._stated = len(self._facts)
        self._stopped: dict[Instance, None] = {}
        self._axioms: deque[Fact] = deque()
        self._beginning: deque[Instance] = deque()
        self._fresh: deque[Fact] = deque()
        self._chained: deque[Fact] = deque()
        # An instance runs over all facts when it is made, so only the vocabulary sets anything off.
        for key in sorted(self._axiom_keys):
            self._axioms.extend(sorted(self._facts.groups.get(key, ())))
        self._enlist(self._instances.unconditional())
        self._drain()
        self._was_inferred = {}

    def _state(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self._stated += 1
            self._was_inferred.setdefault(fact, fact in self._facts.reasons)
            self._facts.reasons.pop(fact, None)
            self._facts.add(fact)
            # An inferred one too: it may have become a base pair (TransitiveStep).
            (self._axioms if self._facts.key(fact) in self._axiom_keys else self._fresh).append(fact)

    def _drain(self) -> None:
        """Derive until nothing is new.

        Axioms go first, so that the data meet the finished schema. Then transitive steps before
        all others: a symmetric property is turned round before it is closed, and the pairs of the
        closure turned round are all there already.
        """
        while True:
            if self._axioms:
                fact = self._axioms.popleft()
                self._enlist(self._instances.made_by(fact, self._facts))
                self._fresh.append(fact)
            elif self._beginning:
                self._begin()
            elif self._fresh:
                fact = self._fresh.popleft()
                self._fire(fact, self._instances.chaining(fact))
                self._chained.append(fact)
            elif self._chained:
                fact = self._chained.popleft()
                self._fire(fact, self._instances.stepping(fact))
            else:
                return

    def _enlist(self, instances: Iterable[Instance]) -> None:
        for instance in instances:
            if instance.recursive:
                self._beginning.append(instance)
            else:
                self._beginning.appendleft(instance)

    def _begin(self) -> None:
        """Run one new instance over all facts."""
        instance = self._beginning.popleft()
        for premises, head in instance.everything(self._facts):
            if instance.stopped:
                return
            self._conclude(instance, premises, head)

    def _fire(self, fact: Fact, instances: Iterable[Instance]) -> None:
        for instance in instances:
            if not instance.stopped:
                for premises, head in instance.forward(fact, self._facts):
                    self._conclude(instance, premises, head)

    def _conclude(self, instance: Instance, premises: Premises, head: Fact) -> None:
        facts = self._facts
        key = facts.key(head)
        if head in facts.groups.get(key, ()) or not self._may_conclude(head):
            return
        if instance.stopped or self._is_spent(instance):
            instance.stopped = True
            self._stopped[instance] = None
            return
        self._was_inferred.setdefault(head, False)
        facts.add(head)
        facts.reasons[head] = (instance, premises)
        (self._axioms if key in self._axiom_keys else self._fresh).append(head)

    def _may_conclude(self, head: Fact) -> bool:
        """No literal as subject or class, and nothing that every class or property is to itself."""
        subject, predicate, value = head
        if subject < 0:
            return False
        if predicate in self._node_valued:
            return value >= 0 and not (subject == value and predicate in self._reflexive)
        return True

    # --- Removing ---

    def _over_delete(self, gone: Iterable[Fact]) -> list[Fact]:
        """Remove facts with all whose recorded reason rests on them. Returns what was removed."""
        facts, reasons = self._facts, self._facts.reasons
        fell = dict.fromkeys(gone)
        self._stated -= len(fell)
        waiting = list(fell)
        lost: dict[Instance, None] = {}

        def take(instance: Instance, steps: Iterable[tuple[Premises, Fact]]) -> None:
            for premises, head in steps:
                reason = reasons.get(head)
                recorded = reason is not None and reason[0] is instance and reason[1] == premises
                if recorded and head not in fell:
                    fell[head] = None
                    waiting.append(head)

        while waiting:
            fact = waiting.pop()
            for instance in self._instances.triggered_by(fact):
                take(instance, instance.forward(fact, facts))
            for instance in self._instances.resting_on(fact):
                if instance not in lost:
                    lost[instance] = None
                    take(instance, instance.everything(facts))
        for fact in fell:
            self._was_inferred.setdefault(fact, fact in reasons)
        for fact in fell:
            facts.discard(fact)
            for instance in self._instances.triggered_by(fact):
                instance.forget(fact)
        for instance in lost:
            self._instances.remove(instance)
            self._stopped.pop(instance, None)
        return list(fell)

    def _put_back(self, fell: Iterable[Fact]) -> None:
        """Derive again, in one step from what is left, each removed fact that still follows."""
        for fact in fell:
            if fact in self._facts or not self._may_conclude(fact):
                continue
            for instance in self._instances.concluding(fact):
                if instance.stopped:
                    continue
                premises = next(instance.backward(fact, self._facts), None)
                if premises is not None:
                    self._conclude(instance, premises, fact)
                    break

    def _change(self) -> Delta:
        reasons = self._facts.reasons
        triple = self._terms.triple
        changes = self._was_inferred.items()
        self._was_inferred = {}
        return Delta(
            frozenset(triple(fact) for fact, was in changes if not was and fact in reasons),
            frozenset(triple(fact) for fact, was in changes if was and fact not in reasons),
        )

    # --- Budgets ---

    def _limit(self) -> int:
        return self.budget.times_stated * self._stated + self.budget.more

    def _pairs(self, instance: Instance) -> int:
        return len(self._facts.of_predicate(instance.predicate))

    def _is_spent(self, instance: Instance) -> bool:
        return len(self._facts.reasons) >= self._limit() or (
            instance.between and self._pairs(instance) >= self.budget.pairs
        )

    def _has_room(self) -> bool:
        """Whether so much was removed that what was left out may now fit."""
        return len(self._facts.reasons) <= self._limit() // 2 and any(
            not instance.between or self._pairs(instance) <= self.budget.pairs // 2
            for instance in self._stopped
        )

    def _start_again(self) -> Delta:
        """Reason from scratch over what is stated now; the change is counted from before."""
        before = {fact for fact in self._facts.reasons if self._was_inferred.get(fact, True)}
        before |= {fact for fact, was in self._was_inferred.items() if was}
        self._load([fact for fact in self._facts if fact not in self._facts.reasons])
        after = self._facts.reasons.keys()
        triple = self._terms.triple
        return Delta(frozenset(map(triple, after - before)), frozenset(map(triple, before - after)))

    def _finding(self, instance: Instance) -> Incomplete:
        found = self._terms.term(instance.predicate)
        assert isinstance(found, NamedNode)
        return Incomplete(instance.rule, found)

    def _explain(self, fact: Fact, instance: Instance, premises: Premises) -> Derivation:
        triple = self._terms.triple
        return Derivation(
            conclusion=triple(fact),
            rule=instance.rule,
            premises=tuple(map(triple, (*instance.schema_premises, *premises))),
            bindings={name: self._terms.term(n) for name, n in instance.variables(premises).items()},
        )

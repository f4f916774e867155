"""Rule instances: rules whose schema part has been matched, and the steps that they can take.

Three shapes cover the table. A *single* step has one data premise: copy a pair to another property,
swap it, type its subject or object. A *transitive* step chains a relation with itself. A *join* is
any other body. Each can run forward from a fact, over everything, and backward from a conclusion.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator

from pyoxigraph import Variable

from synapse.engine.reasoning.facts import Fact, FactBase, TermTable
from synapse.engine.reasoning.patterns import Bindings, Part, Pattern, bind, ground, projection, solve, unify
from synapse.engine.reasoning.rules import Atom, Rule

Premises = tuple[Fact, ...]
Step = tuple[Premises, Fact]
"""Data premises in the order of the rule, and the conclusion; not yet checked against anything."""


class CompiledRule:
    """A rule over numbered terms."""

    __slots__ = ("data", "head", "rule", "schema")

    def __init__(self, rule: Rule, terms: TermTable) -> None:
        def pattern(atom: Atom) -> Pattern:
            subject, predicate, value = (
                term.value if isinstance(term, Variable) else terms.number(term) for term in atom
            )
            return subject, predicate, value

        self.rule = rule
        self.schema = tuple(map(pattern, rule.schema))
        self.data = tuple(map(pattern, rule.data))
        self.head = pattern(rule.head)


class Instance(ABC):
    """A rule with its schema premises filled in.

    schema_premises: the facts of the vocabulary that the instance rests on.
    between: whether it derives pairs of one property from pairs of the same property, so that
        their number can grow with the square of the nodes (budgets count it apart).
    predicate: the property that it concludes.
    stopped: a budget was hit; nothing more is concluded by it.
    """

    __slots__ = ("between", "bindings", "data", "head", "predicate", "rule", "schema_premises", "stopped")
    recursive = False

    def __init__(self, compiled: CompiledRule, bindings: Bindings, rdf_type: int) -> None:
        self.rule = compiled.rule
        self.bindings = bindings
        self.schema_premises = tuple(ground(pattern, bindings) for pattern in compiled.schema)
        self.data = tuple(bind(pattern, bindings) for pattern in compiled.data)
        self.head = bind(compiled.head, bindings)
        predicate = self.head[1]
        assert isinstance(predicate, int)
        self.predicate = predicate
        self.between = predicate != rdf_type and all(pattern[1] == predicate for pattern in self.data)
        self.stopped = False

    @abstractmethod
    def forward(self, fact: Fact, facts: FactBase) -> list[Step]:
        """The steps that have `fact` among their premises (which must be in the base)."""

    @abstractmethod
    def everything(self, facts: FactBase) -> Iterator[Step]:
        """All steps over the base, which may grow meanwhile."""

    @abstractmethod
    def backward(self, fact: Fact, facts: FactBase) -> Iterator[Premises]:
        """The premises in the base from which `fact` follows in one step."""

    def forget(self, fact: Fact) -> None:  # noqa: B027  (most instances remember nothing)
        """The fact is removed from the base."""

    def variables(self, premises: Premises) -> Bindings:
        """What each variable of the rule stands for, given the data premises of one step."""
        bindings: Bindings | None = self.bindings
        for pattern, fact in zip(self.data, premises, strict=True):
            assert bindings is not None
            bindings = unify(pattern, fact, bindings)
        assert bindings is not None
        return bindings


class SingleStep(Instance):
    __slots__ = ("_conclude", "_premise")

    def __init__(self, compiled: CompiledRule, bindings: Bindings, rdf_type: int) -> None:
        super().__init__(compiled, bindings, rdf_type)
        conclude = projection(self.data[0], self.head, rdf_type)
        assert conclude is not None  # Rule checks that the body binds the head
        self._conclude = conclude
        self._premise = projection(self.head, self.data[0], rdf_type)

    def forward(self, fact: Fact, facts: FactBase) -> list[Step]:
        head = self._conclude(fact)
        return [] if head is None else [((fact,), head)]

    def everything(self, facts: FactBase) -> Iterator[Step]:
        conclude = self._conclude
        for fact in list(_group(self.data[0], facts)):
            head = conclude(fact)
            if head is not None:
                yield (fact,), head

    def backward(self, fact: Fact, facts: FactBase) -> Iterator[Premises]:
        if self._premise is not None:
            premise = self._premise(fact)
            if premise is not None and premise in facts:
                yield (premise,)
            return
        bindings = unify(self.head, fact, {})
        if bindings is not None:
            for found in solve(self.data, facts, bindings):
                yield (ground(self.data[0], found),)


class TransitiveStep(Instance):
    """x p y, y p z -> x p z, always extending to the right by a *base* pair.

    A base pair is one that this instance did not derive itself. Every pair that it did derive is
    a path of base pairs, so extending by base pairs alone reaches the whole closure, at the cost of
    pairs times out-degree instead of one step for each middle of each pair. A base pair stops
    being one only when it is removed, which takes down what was concluded from it.
    """

    __slots__ = ("_base_by_object", "_base_by_subject")
    recursive = True

    def __init__(self, compiled: CompiledRule, bindings: Bindings, rdf_type: int) -> None:
        super().__init__(compiled, bindings, rdf_type)
        self._base_by_subject: dict[int, set[Fact]] = {}
        self._base_by_object: dict[int, set[Fact]] = {}

    def _learn(self, fact: Fact, facts: FactBase) -> bool:
        """Whether the fact is a base pair; it is kept as one from now on."""
        reason = facts.reasons.get(fact)
        if reason is not None and reason[0] is self:
            return False
        self._base_by_subject.setdefault(fact[0], set()).add(fact)
        self._base_by_object.setdefault(fact[2], set()).add(fact)
        return True

    def forget(self, fact: Fact) -> None:
        for index, node in ((self._base_by_subject, fact[0]), (self._base_by_object, fact[2])):
            pairs = index.get(node, set())
            pairs.discard(fact)
            if not pairs:
                index.pop(node, None)

    def _extensions(self, fact: Fact) -> list[Step]:
        subject, predicate, middle = fact
        return [
            ((fact, pair), (subject, predicate, pair[2])) for pair in self._base_by_subject.get(middle, ())
        ]

    def forward(self, fact: Fact, facts: FactBase) -> list[Step]:
        is_base = self._learn(fact, facts)
        found = self._extensions(fact)
        if is_base:
            middle, predicate, value = fact
            found += [
                ((pair, fact), (pair[0], predicate, value)) for pair in facts.of_object(predicate, middle)
            ]
        return found

    def everything(self, facts: FactBase) -> Iterator[Step]:
        pairs = list(_group(self.head, facts))
        for pair in pairs:
            self._learn(pair, facts)
        for pair in pairs:
            yield from self._extensions(pair)

    def backward(self, fact: Fact, facts: FactBase) -> Iterator[Premises]:
        subject, predicate, value = fact
        for pair in self._base_by_object.get(value, ()):
            first = (subject, predicate, pair[0])
            if first in facts:
                yield first, pair


class JoinStep(Instance):
    __slots__ = ()

    def _step(self, bindings: Bindings) -> Step:
        return tuple(ground(pattern, bindings) for pattern in self.data), ground(self.head, bindings)

    def forward(self, fact: Fact, facts: FactBase) -> list[Step]:
        found: list[Step] = []
        for index, pattern in enumerate(self.data):
            bindings = unify(pattern, fact, {})
            if bindings is not None:
                rest = (*self.data[:index], *self.data[index + 1 :])
                found.extend(map(self._step, solve(rest, facts, bindings)))
        return found

    def everything(self, facts: FactBase) -> Iterator[Step]:
        for fact in list(_group(self.data[0], facts)):
            bindings = unify(self.data[0], fact, {})
            if bindings is not None:
                yield from list(map(self._step, solve(self.data[1:], facts, bindings)))

    def backward(self, fact: Fact, facts: FactBase) -> Iterator[Premises]:
        bindings = unify(self.head, fact, {})
        if bindings is not None:
            for found in solve(self.data, facts, bindings):
                yield self._step(found)[0]


def _group(pattern: Pattern, facts: FactBase) -> Iterable[Fact]:
    _, predicate, value = pattern
    assert isinstance(predicate, int)
    if predicate == facts.rdf_type and isinstance(value, int) and value >= 0:
        return facts.groups.get(~value, ())
    return facts.of_predicate(predicate)


def _key(pattern: Pattern, rdf_type: int) -> int:
    """The group on which a pattern with a fixed predicate draws (FactBase.key)."""
    _, predicate, value = pattern
    assert isinstance(predicate, int)
    return ~value if predicate == rdf_type and isinstance(value, int) and value >= 0 else predicate


class Instances:
    """The compiled schema: all rule instances that hold, by what sets them off and what they conclude.

    A fact whose predicate or class no axiom touches costs one look-up here and nothing more.
    """

    def __init__(self, rules: Iterable[Rule], terms: TermTable, rdf_type: int) -> None:
        self._rdf_type = rdf_type
        self._nodes = terms
        self._compiled = [CompiledRule(rule, terms) for rule in rules]
        self._instances: dict[tuple[str, tuple[Fact, ...]], Instance] = {}
        self._chaining: dict[int, dict[Instance, None]] = {}
        self._stepping: dict[int, dict[Instance, None]] = {}
        self._conclusions: dict[int, dict[Instance, None]] = {}
        self._resting: dict[Fact, dict[Instance, None]] = {}
        self._axioms: dict[int, list[tuple[CompiledRule, int]]] = {}
        for compiled in self._compiled:
            for index, pattern in enumerate(compiled.schema):
                self._axioms.setdefault(_key(pattern, rdf_type), []).append((compiled, index))

    def __len__(self) -> int:
        return len(self._instances)

    def __contains__(self, instance: Instance) -> bool:
        return self._instances.get((instance.rule.id, instance.schema_premises)) is instance

    @property
    def axiom_keys(self) -> Iterable[int]:
        """Keys of the groups whose facts make rule instances."""
        return self._axioms.keys()

    def unconditional(self) -> list[Instance]:
        """Register and return the instances of the rules that have no schema part."""
        return [
            made
            for compiled in self._compiled
            if not compiled.schema and (made := self._register(compiled, {})) is not None
        ]

    def made_by(self, fact: Fact, facts: FactBase) -> list[Instance]:
        """Register and return the new instances that a fact of the vocabulary gives rise to."""
        made: list[Instance] = []
        for key in self._keys(fact):
            for compiled, index in self._axioms.get(key, ()):
                bindings = unify(compiled.schema[index], fact, {})
                if bindings is None:
                    continue
                rest = (*compiled.schema[:index], *compiled.schema[index + 1 :])
                for found in solve(rest, facts, bindings):
                    instance = self._register(compiled, found)
                    if instance is not None:
                        made.append(instance)
        return made

    def _register(self, compiled: CompiledRule, bindings: Bindings) -> Instance | None:
        name = (compiled.rule.id, tuple(ground(pattern, bindings) for pattern in compiled.schema))
        if name in self._instances:
            return None
        data = [bind(pattern, bindings) for pattern in compiled.data]
        head = bind(compiled.head, bindings)
        if head in data or not all(map(self._is_predicate, [pattern[1] for pattern in (*data, head)])):
            return None  # it says nothing new, or speaks of a literal as if it were a property
        instance: Instance
        if len(data) == 1:
            instance = SingleStep(compiled, bindings, self._rdf_type)
        elif _is_transitive(data, head):
            instance = TransitiveStep(compiled, bindings, self._rdf_type)
        else:
            instance = JoinStep(compiled, bindings, self._rdf_type)
        self._instances[name] = instance
        triggers = self._chaining if instance.recursive else self._stepping
        for pattern in data:
            triggers.setdefault(_key(pattern, self._rdf_type), {})[instance] = None
        self._conclusions.setdefault(_key(head, self._rdf_type), {})[instance] = None
        for fact in instance.schema_premises:
            self._resting.setdefault(fact, {})[instance] = None
        return instance

    def remove(self, instance: Instance) -> None:
        """Forget an instance whose schema premises no longer all hold."""
        del self._instances[instance.rule.id, instance.schema_premises]
        triggers = self._chaining if instance.recursive else self._stepping
        for pattern in instance.data:
            self._drop(triggers, _key(pattern, self._rdf_type), instance)
        self._drop(self._conclusions, _key(instance.head, self._rdf_type), instance)
        for fact in set(instance.schema_premises):
            resting = self._resting[fact]
            resting.pop(instance)
            if not resting:
                del self._resting[fact]

    @staticmethod
    def _drop(table: dict[int, dict[Instance, None]], key: int, instance: Instance) -> None:
        row = table.get(key, {})
        row.pop(instance, None)
        if not row:
            table.pop(key, None)

    def chaining(self, fact: Fact) -> Iterable[Instance]:
        """The transitive steps with a data premise in the fact's group."""
        return self._row(self._chaining, fact)

    def stepping(self, fact: Fact) -> Iterable[Instance]:
        """The other instances with a data premise in the fact's group."""
        return self._row(self._stepping, fact)

    def triggered_by(self, fact: Fact) -> Iterable[Instance]:
        """All instances with a data premise in the fact's group."""
        return (*self.chaining(fact), *self.stepping(fact))

    def concluding(self, fact: Fact) -> Iterable[Instance]:
        """The instances whose conclusions belong to the fact's group."""
        return self._row(self._conclusions, fact)

    def _row(self, table: dict[int, dict[Instance, None]], fact: Fact) -> Iterable[Instance]:
        row: Iterable[Instance] = table.get(fact[1], ())
        if fact[1] != self._rdf_type or fact[2] < 0:
            return row
        of_class = table.get(~fact[2], ())
        return (*of_class, *row) if of_class and row else of_class or row

    def resting_on(self, fact: Fact) -> list[Instance]:
        """The instances that have the fact among their schema premises."""
        return list(self._resting.get(fact, ()))

    def _keys(self, fact: Fact) -> tuple[int, ...]:
        if fact[1] == self._rdf_type and fact[2] >= 0:
            return ~fact[2], fact[1]
        return (fact[1],)

    def _is_predicate(self, part: Part) -> bool:
        return isinstance(part, int) and self._nodes.is_iri(part)


def _is_transitive(data: list[Pattern], head: Pattern) -> bool:
    if len(data) != 2 or len({data[0][1], data[1][1], head[1]}) != 1:
        return False
    (first, _, middle), (again, _, last) = data[0], data[1]
    chain = (first, middle, last)
    return all(isinstance(part, str) for part in chain) and len(set(chain)) == 3 and (
        (middle, first, last) == (again, head[0], head[2])
    )

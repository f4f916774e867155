"""Derivations and proofs: why a fact follows, in steps that can be checked and read.

A proof is a list of steps in which every premise comes before what is concluded from it; the last
step is the fact that was asked about. Premises are given by their position, so a step that is used
twice is there once, and a chain of any length is only a longer list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from pyoxigraph import NamedNode, Triple, Variable

from synapse.engine.errors import ProofBroken
from synapse.engine.reasoning.facts import Term
from synapse.engine.reasoning.rules import Atom, Rule, fill
from synapse.engine.terms import vocabulary as v

T = TypeVar("T")
Label = Callable[[Term], str]


@dataclass(frozen=True, slots=True)
class Derivation:
    """One application of a rule.

    premises: in the order of `rule.body`, the schema's first.
    bindings: what each variable of the rule stands for.
    """

    conclusion: Triple
    rule: Rule
    premises: tuple[Triple, ...]
    bindings: Mapping[str, Term]


@dataclass(frozen=True, slots=True)
class Step:
    """A fact of a proof.

    sentence: the fact itself for a stated one, the reason for a derived one.
    rule: None for a stated fact.
    premises: positions in `Proof.steps`, each smaller than this step's own.
    """

    fact: Triple
    sentence: str
    rule: Rule | None = None
    premises: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a fact holds; `steps` end in it and begin with stated facts."""

    steps: tuple[Step, ...]

    @property
    def conclusion(self) -> Step:
        return self.steps[-1]

    def stated(self) -> tuple[Triple, ...]:
        """The stated facts that the proof rests on, each once."""
        return tuple(step.fact for step in self.steps if step.rule is None)

    def walk(self, depth: int | None = None) -> Iterator[tuple[int, Step]]:
        """The proof as a tree, from the conclusion down: (level from 0, step).

        A step that several others share comes at its first place with what is below it, and
        without that again. depth: how many levels below the conclusion to show.
        """
        opened: set[int] = set()
        waiting = [(0, len(self.steps) - 1)]
        while waiting:
            level, position = waiting.pop()
            step = self.steps[position]
            yield level, step
            if position not in opened and (depth is None or level < depth):
                opened.add(position)
                waiting += [(level + 1, premise) for premise in reversed(step.premises)]

    def fold(self, make: Callable[[Step, Sequence[T]], T]) -> T:
        """Build something else from the proof: `make` gets each step after its premises."""
        made: list[T] = []
        for step in self.steps:
            made.append(make(step, [made[premise] for premise in step.premises]))
        return made[-1]


def build_proof(
    fact: Triple,
    derivation: Callable[[Triple], Derivation | None],
    is_stated: Callable[[Triple], bool],
    label: Label,
) -> Proof:
    """The proof of a fact from the derivations of it and of its premises.

    label: what a person calls a term. Raises ProofBroken where a fact is neither stated nor
    derived, or where derivations go in a circle.
    """
    position: dict[Triple, int] = {}
    steps: list[Step] = []
    opened: dict[Triple, Derivation] = {}
    waiting = [fact]
    while waiting:
        current = waiting[-1]
        if current in position:
            waiting.pop()
            continue
        found = opened.get(current)
        if found is None:
            found = derivation(current)
            if found is None:
                if not is_stated(current):
                    raise ProofBroken(f"{current} is neither stated nor derived.")
                position[current] = len(steps)
                steps.append(Step(current, say(current, label)))
                continue
            opened[current] = found
            missing = [premise for premise in reversed(found.premises) if premise not in position]
            if any(premise in opened for premise in missing):
                raise ProofBroken(f"The derivation of {current} rests on itself.")
            waiting += missing
            continue
        premises = tuple(position[premise] for premise in found.premises)
        position[current] = len(steps)
        steps.append(Step(current, _because(found, label), found.rule, premises))
    return Proof(tuple(steps))


def recheck(derivation: Derivation) -> bool:
    """Whether the conclusion follows from the premises by the rule, checked from nothing else."""
    bindings: dict[str, Term] = {}
    body = derivation.rule.body
    if len(body) != len(derivation.premises):
        return False
    return all(map(_fits, body, derivation.premises, [bindings] * len(body))) and _fits(
        derivation.rule.head, derivation.conclusion, bindings
    )


def _fits(atom: Atom, triple: Triple, bindings: dict[str, Term]) -> bool:
    for part, term in zip(atom, (triple.subject, triple.predicate, triple.object), strict=True):
        wanted = bindings.setdefault(part.value, term) if isinstance(part, Variable) else part
        if wanted != term:
            return False
    return True


def _because(derivation: Derivation, label: Label) -> str:
    return fill(derivation.rule.sentence, {name: label(term) for name, term in derivation.bindings.items()})


_STATEMENTS: Final = {
    v.RDF_TYPE: "{s} is a {o}",
    v.RDFS_SUB_CLASS_OF: "every {s} is a {o}",
    v.RDFS_SUB_PROPERTY_OF: "“{s}” implies “{o}”",
    v.RDFS_DOMAIN: "whatever “{s}” is said of is a {o}",
    v.RDFS_RANGE: "whatever “{s}” leads to is a {o}",
    v.OWL_INVERSE_OF: "“{s}” is “{o}” the other way round",
    v.OWL_EQUIVALENT_CLASS: "{s} and {o} mean the same",
    v.OWL_EQUIVALENT_PROPERTY: "“{s}” and “{o}” mean the same",
}
_CHARACTERISTICS: Final = {
    v.OWL_SYMMETRIC_PROPERTY: "“{s}” holds both ways",
    v.OWL_TRANSITIVE_PROPERTY: "“{s}” carries on from one to the next",
}


def say(triple: Triple, label: Label) -> str:
    """A fact as a sentence: "Ada knows Bob", "every Engineer is a Person"."""
    template = _STATEMENTS.get(triple.predicate, "{s} {p} {o}")
    if triple.predicate == v.RDF_TYPE and isinstance(triple.object, NamedNode):
        template = _CHARACTERISTICS.get(triple.object, template)
    return fill(
        template, {"s": label(triple.subject), "p": label(triple.predicate), "o": label(triple.object)}
    )

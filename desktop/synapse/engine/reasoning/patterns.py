"""Triple patterns over numbered terms: an int is a term, a str is a variable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from synapse.engine.reasoning.facts import Fact, FactBase

Part = int | str
Pattern = tuple[Part, Part, Part]
Bindings = dict[str, int]


def bind(pattern: Pattern, bindings: Bindings) -> Pattern:
    """The pattern with the variables that are bound replaced."""
    subject, predicate, value = pattern
    return (
        bindings.get(subject, subject) if isinstance(subject, str) else subject,
        bindings.get(predicate, predicate) if isinstance(predicate, str) else predicate,
        bindings.get(value, value) if isinstance(value, str) else value,
    )


def ground(pattern: Pattern, bindings: Bindings) -> Fact:
    """The fact that a pattern becomes; every variable must be bound (KeyError)."""
    subject, predicate, value = pattern
    return (
        bindings[subject] if isinstance(subject, str) else subject,
        bindings[predicate] if isinstance(predicate, str) else predicate,
        bindings[value] if isinstance(value, str) else value,
    )


def unify(pattern: Pattern, fact: Fact, bindings: Bindings) -> Bindings | None:
    """The bindings extended so that the pattern becomes the fact, or None."""
    found = dict(bindings)
    for part, number in zip(pattern, fact, strict=True):
        if isinstance(part, str):
            if found.setdefault(part, number) != number:
                return None
        elif part != number:
            return None
    return found


def matches(pattern: Pattern, facts: FactBase) -> Iterator[Fact]:
    """The facts that fit a pattern with a fixed predicate (repeated variables are not compared)."""
    subject, predicate, value = pattern
    assert isinstance(predicate, int)
    if isinstance(subject, int) and isinstance(value, int):
        fact = (subject, predicate, value)
        return iter((fact,) if fact in facts else ())
    if isinstance(subject, int):
        return iter(facts.of_subject(predicate, subject))
    if isinstance(value, int):
        return iter(facts.of_object(predicate, value))
    return iter(facts.of_predicate(predicate))


def solve(patterns: Sequence[Pattern], facts: FactBase, bindings: Bindings) -> Iterator[Bindings]:
    """All bindings under which every pattern is a fact; the most bound pattern is matched first.

    The fact base must not change while this runs.
    """
    if not patterns:
        yield bindings
        return
    bound = [bind(pattern, bindings) for pattern in patterns]
    first = min(range(len(bound)), key=lambda index: sum(isinstance(part, str) for part in bound[index]))
    rest = [*bound[:first], *bound[first + 1 :]]
    for fact in matches(bound[first], facts):
        found = unify(bound[first], fact, bindings)
        if found is not None:
            yield from solve(rest, facts, found)


Projection = Callable[[Fact], Fact | None]


def projection(source: Pattern, target: Pattern, rdf_type: int) -> Projection | None:
    """A function from the facts of a group that `source` draws on to what `target` becomes.

    It answers None for a fact that `source` does not fit. There is no such function, and the
    result is None, where `target` has a variable that `source` does not bind. The four shapes of
    nearly every rule are written out: this is the innermost step of the evaluator.
    """
    if not {part for part in target if isinstance(part, str)} <= set(source):
        return None
    subject, predicate, value = source
    to_subject, to_predicate, to_value = target
    group_fits = isinstance(subject, str) and (
        (isinstance(value, str) and value != subject)
        or (isinstance(value, int) and value >= 0 and predicate == rdf_type)
    )
    if group_fits and isinstance(to_predicate, int):
        if (to_subject, to_value) == (subject, value) and isinstance(value, str):
            return lambda fact: (fact[0], to_predicate, fact[2])
        if (to_subject, to_value) == (value, subject):
            return lambda fact: (fact[2], to_predicate, fact[0])
        if to_subject == subject and isinstance(to_value, int):
            return lambda fact: (fact[0], to_predicate, to_value)
        if isinstance(to_subject, str) and to_subject == value and isinstance(to_value, int):
            return lambda fact: (fact[2], to_predicate, to_value)

    def general(fact: Fact) -> Fact | None:
        bindings = unify(source, fact, {})
        return None if bindings is None else ground(target, bindings)

    return general

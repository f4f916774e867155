"""After any script of edits, renames, deletions, statements and retractions the store is what it
would be from scratch."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from synapse.engine import Engine, WrittenFact
from synapse.engine.terms import vocabulary as v

NAMES = ["a", "b", "people/a", "people/b", "deep/er/a", "vocabulary", "pic.png"]
LINES = [
    "[[a]]",
    "[[people/b|B]] and ![[pic.png]]",
    "[text](b.md) [other](../a.md)",
    "knows:: [[b]]",
    "[[part_of:people/a]]",
    "- depends on [[a]]",
    "see:: people/a",
    "#area/work",
    "height:: 3",
]
FRONTMATTER = [
    "type: Person",
    "type: [Module, App]",
    "uri: urn:example:thing",
    "uri: urn:example:other",
    "knows: '[[people/a]]'",
    "part: {of: '[[b]]', since: 2020-01-01}",
    "aliases: [Anna]",
]
AXIOMS = [
    "- subclass_of: App -> Module",
    "- transitive: part of",
    "- inverse_of: knows -> known by",
    "- sub_property_of: part of -> depends on",
    "- symmetric: see",
]

notes = st.builds(
    lambda front, axioms, lines: (front, axioms, lines),
    st.lists(st.sampled_from(FRONTMATTER), max_size=3, unique_by=lambda line: line.split(":")[0]),
    st.lists(st.sampled_from(AXIOMS), max_size=3, unique=True),
    st.lists(st.sampled_from(LINES), max_size=4, unique=True),
)
names = st.sampled_from(NAMES)
steps = st.one_of(
    st.tuples(st.just("write"), names, notes),
    st.tuples(st.just("write"), names, notes),
    st.tuples(st.just("delete"), names),
    st.tuples(st.just("move"), names, names),
    st.tuples(st.just("assert"), names, st.sampled_from(["knows", "part of", "subclass_of"]), names),
    st.tuples(st.just("retract"), st.integers(0, 5)),
)


def render(name: str, note: Any) -> str:
    front, axioms, lines = note
    if name == "vocabulary":
        return "---\ntype: ontology\n---\n" + "\n".join(axioms) + "\n"
    head = "---\n" + "\n".join(front) + "\n---\n" if front else ""
    return head + "\n\n".join(lines) + "\n"


def carry_out(vault: Any, engine: Engine, step: Any) -> None:
    kind, *rest = step
    paths = [vault.folder / (name if "." in name else f"{name}.md") for name in rest if isinstance(name, str)]
    if kind == "write":
        name, note = rest
        vault.write(paths[0].relative_to(vault.folder).as_posix(), f"{render(name, note)}")
    elif kind == "delete":
        paths[0].unlink(missing_ok=True)
    elif kind == "move" and paths[0].exists() and not paths[1].exists():
        paths[1].parent.mkdir(parents=True, exist_ok=True)
        shutil.move(paths[0], paths[1])
    elif kind == "assert":
        subject, predicate, object_ = rest
        fact = WrittenFact(subject, predicate, object_)
        if predicate == "subclass_of":
            fact = WrittenFact("<urn:synapse:type:app>", "rdfs:subClassOf", "<urn:synapse:type:thing>")
        engine.assert_facts([fact], source="test", reason="test")
    elif kind == "retract":
        assertions = [one for one in engine._workspace.projection.assertions() if one.standing]
        if rest[0] < len(assertions):
            engine.retract_facts(assertion=assertions[rest[0]].id, reason="test")


def content(engine: Engine) -> Any:
    """All named graphs but the account of their making, and what is inferred."""
    store = engine._workspace.store
    return (
        {graph.value: frozenset(store.triples(graph)) for graph in store.graphs() if graph != v.META},
        frozenset(store.triples(v.INFERRED)),
    )


WITHOUT_SHRINKING = settings(
    max_examples=12,
    phases=[Phase.explicit, Phase.generate],  # a step costs too much to try hundreds of smaller scripts
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@WITHOUT_SHRINKING
@given(script=st.lists(steps, min_size=3, max_size=7))
def test_the_store_after_a_script_is_the_store_from_scratch(
    make_vault: Callable[[], Any], script: list[Any]
) -> None:
    compare(make_vault(), script)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(WITHOUT_SHRINKING, max_examples=400)
@given(script=st.lists(steps, min_size=3, max_size=12))
def test_many_scripts(make_vault: Callable[[], Any], script: list[Any]) -> None:
    compare(make_vault(), script)


def compare(vault: Any, script: list[Any]) -> None:
    """Carry a script out, checking after each step; then index the files and journal from scratch."""
    vault.write("keep.md", "stays\n")
    with vault.open() as engine:
        engine.index()
        for step in script:
            carry_out(vault, engine, step)
            engine.index(accept_deletions=True)
            report = engine.check()
            assert report.ok, (step, report.findings)
        after = content(engine)
    vault.data = vault.data.with_name("other")
    with vault.open() as engine:
        engine.index()
        assert content(engine) == after

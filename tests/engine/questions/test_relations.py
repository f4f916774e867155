"""Dossier, neighbourhood and impact: complete, in order, and nothing dropped without a word."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from synapse.engine import Engine
from synapse.engine.errors import UsageError
from synapse.engine.questions.paging import encode_cursor

PLAIN = '{"scenarios": []}'


@pytest.fixture
def vault(vault: Any) -> Any:
    """Without vocabularies: these tests bring their own."""
    vault.write(".synapse/settings.json", PLAIN)
    return vault


def dependencies(*pairs: str, more: str = "") -> str:
    """Turtle in which `a>b` says that a depends on b."""
    lines = ["@prefix p: <urn:synapse:prop:> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .",
             "@prefix owl: <http://www.w3.org/2002/07/owl#> ."]  # fmt: skip
    for one, other in (pair.split(">") for pair in pairs):
        lines.append(f"<vault:/{one}> p:depends_on <vault:/{other}> .")
    return "\n".join([*lines, more])


def reached(engine: Engine, entity: str, **options: Any) -> dict[str, int]:
    return {item.entity.id: item.depth for item in engine.impact(entity, **options).items}


# -- pages -----------------------------------------------------------------------------------------


def test_pages_of_700_reach_each_of_3000_relations_once(vault: Any) -> None:
    lines = [f"<vault:/n{n}> <urn:x:r> <vault:/hub> .\n" for n in range(1500)]
    lines += [f"<vault:/hub> <urn:x:r> <vault:/m{n}> .\n" for n in range(1500)]
    vault.write("facts.nt", "".join(lines))
    with vault.open() as engine:
        engine.index()
        seen: list[tuple[str, str]] = []
        sizes: list[int] = []
        cursor: str | None = None
        while True:
            page = engine.dossier("hub", limit=700, cursor=cursor)
            assert page.total == 3000 and not page.types and not page.attributes
            facts = [(f.subject.id, f.object.label) for f in (*page.outgoing, *page.incoming)]
            sizes.append(len(facts))
            seen += facts
            cursor = page.cursor
            if cursor is None:
                break
        assert sizes == [700, 700, 700, 700, 200]
        assert len(set(seen)) == len(seen) == 3000


@pytest.mark.parametrize(
    "cursor",
    ["", "?", "nonsense", "é", "e30", "bnVsbA", "W1tdXQ", "WzEuNV0", encode_cursor(("a", 1)), "W" * 9999],
)  # fmt: skip
def test_a_cursor_that_is_none_of_ours_is_refused(vault: Any, cursor: str) -> None:
    vault.write("a.md", "depends_on:: [[b]]\n")
    with vault.open() as engine:
        engine.index()
        for ask in (engine.dossier, engine.impact):
            with pytest.raises(UsageError, match="cursor"):
                ask("b", cursor=cursor)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(vault: Any, limit: int) -> None:
    vault.write("a.md", "[[b]]\n")
    with vault.open() as engine:
        engine.index()
        for ask in (engine.dossier, engine.impact, engine.neighbourhood, engine.search):
            with pytest.raises(UsageError):
                ask("a", limit=limit)


# -- neighbourhood ---------------------------------------------------------------------------------


@pytest.fixture
def walked(vault: Any) -> Any:
    """a -> b -> c -> d, e -> b, b -> b; c has many relations."""
    edges = ["a b", "b c", "c d", "e b", "b b", *(f"c x{n}" for n in range(5))]
    pairs = [edge.split() for edge in edges]
    vault.write("facts.nt", "".join(f"<vault:/{s}> <urn:x:r> <vault:/{o}> .\n" for s, o in pairs))
    with vault.open() as engine:
        engine.index()
        yield engine


def depths(engine: Engine, *args: Any, **options: Any) -> dict[str, int]:
    return {node.entity.id: node.depth for node in engine.neighbourhood(*args, **options).nodes}


def test_a_neighbourhood_grows_with_its_depth(walked: Engine) -> None:
    assert depths(walked, "a", depth=0) == {"a": 0}
    assert depths(walked, "a", depth=1) == {"a": 0, "b": 1}
    assert depths(walked, "a", depth=2) == {"a": 0, "b": 1, "c": 2, "e": 2}
    whole = depths(walked, "a", depth=99)
    assert whole == {"a": 0, "b": 1, "c": 2, "e": 2, "d": 3, **{f"x{n}": 3 for n in range(5)}}


def test_a_direction_is_followed_one_way_only(walked: Engine) -> None:
    assert depths(walked, "b", direction="out") == {"b": 0, "c": 1}
    assert depths(walked, "b", direction="in") == {"b": 0, "a": 1, "e": 1}
    assert depths(walked, "b", direction="both") == {"b": 0, "a": 1, "c": 1, "e": 1}


def test_a_relation_to_itself_is_one_edge(walked: Engine) -> None:
    found = walked.neighbourhood("b", depth=0)
    assert [(e.subject.id, e.object.label) for e in found.edges] == [("b", "b")]
    assert found.nodes[0].degree == 4
    loops = [f for f in walked.dossier("b").outgoing if f.object == f.subject]
    assert len(loops) == 1 and all(f.subject.id != "b" for f in walked.dossier("b").incoming)


def test_what_is_cut_is_counted_and_a_hub_is_cut_last(walked: Engine) -> None:
    found = walked.neighbourhood("b", limit=2)
    assert [node.entity.id for node in found.nodes] == ["b", "c"], "c is the best connected"
    assert (found.total, found.cut) == (4, 2)
    shown = {node.entity.iri for node in found.nodes}
    assert all({e.subject.iri, e.object.iri} <= shown for e in found.edges)  # type: ignore[union-attr]
    everything = walked.neighbourhood("b", limit=4)
    assert (everything.total, everything.cut) == (4, 0)


def test_only_asked_for_relations_and_types_are_followed(vault: Any) -> None:
    vault.write("a.md", "knows:: [[b]]\nsees:: [[c]]\n")
    vault.write("b.md", "---\ntype: Person\n---\n")
    vault.write("c.md", "---\ntype: Place\n---\n")
    with vault.open() as engine:
        engine.index()
        assert set(depths(engine, "a", predicates=["knows"])) == {"a", "b"}
        assert set(depths(engine, "a", types=["Place"])) == {"a", "c"}
        assert set(depths(engine, "a", predicates=["knows"], types=["Place"])) == {"a"}


@pytest.mark.parametrize("options", [{"depth": -1}, {"direction": "up"}])
def test_a_walk_out_of_range_is_refused(walked: Engine, options: Any) -> None:
    with pytest.raises(UsageError):
        walked.neighbourhood("b", **options)


# -- impact ----------------------------------------------------------------------------------------


def test_impact_of_a_chain_has_depths_and_a_limit_of_depth(vault: Any) -> None:
    vault.write("facts.ttl", dependencies("b>a", "c>b", "d>c", "a>z"))
    with vault.open() as engine:
        engine.index()
        assert reached(engine, "a") == {"b": 1, "c": 2, "d": 3}
        assert reached(engine, "a", depth=2) == {"b": 1, "c": 2}
        with pytest.raises(UsageError):
            engine.impact("a", depth=0)


def test_impact_of_a_cycle_ends_and_leaves_out_the_asked_for(vault: Any) -> None:
    vault.write("facts.ttl", dependencies("b>a", "c>b", "a>c", "a>a", "b>b"))
    with vault.open() as engine:
        engine.index()
        assert reached(engine, "a") == {"b": 1, "c": 2}


def test_impact_over_a_diamond_names_each_once_by_a_shortest_path(vault: Any) -> None:
    vault.write("facts.ttl", dependencies("b>a", "c>a", "d>b", "d>c", "e>d", "e>b"))
    with vault.open() as engine:
        engine.index()
        found = engine.impact("a")
        assert {item.entity.id: item.depth for item in found.items} == {"b": 1, "c": 1, "d": 2, "e": 2}
        assert found.total == 4
        for item in found.items:
            steps = [(fact.subject.id, fact.object.label) for fact in item.path]
            assert len(steps) == item.depth
            assert steps[0][0] == item.entity.id and steps[-1][1] == "a"
            assert all(one[1] == other[0] for one, other in pairwise(steps))
        pages, cursor = [], None
        while True:
            page = engine.impact("a", limit=3, cursor=cursor)
            pages += [item.entity.id for item in page.items]
            cursor = page.cursor
            if cursor is None:
                break
        assert pages == ["b", "c", "d", "e"]


def test_impact_goes_over_sub_properties_and_inverses(vault: Any) -> None:
    axioms = """
    p:needs rdfs:subPropertyOf p:depends_on . p:urgently_needs rdfs:subPropertyOf p:needs .
    p:is_needed_by owl:inverseOf p:needs .
    <vault:/b> p:needs <vault:/a> . <vault:/c> p:urgently_needs <vault:/b> .
    <vault:/c> p:is_needed_by <vault:/d> . <vault:/e> p:likes <vault:/a> .
    """
    vault.write("facts.ttl", dependencies(more=axioms))
    with vault.open() as engine:
        engine.index()
        found = engine.impact("a")
        assert {item.entity.id: item.depth for item in found.items} == {"b": 1, "c": 2, "d": 3}
        stated = [fact for item in found.items for fact in item.path]
        assert all(fact.sources for fact in stated), "a stated fact is preferred to what follows from it"


# -- the same in a second engine -------------------------------------------------------------------


def test_two_engines_over_one_vault_give_the_same_answers(vault: Any, tmp_path: Any) -> None:
    from synapse.engine import open_vault
    from synapse.engine.questions.results import as_json

    vault.write("facts.ttl", dependencies("b>a", "c>a", "d>b", "d>c"))
    vault.write("people/ada.md", "---\ntype: Person\ntags: [x, y]\n---\n# Ada\nknows:: [[bob]] [[d]]\n")
    vault.write("rules.md", "---\ntype: ontology\n---\ntransitive: depends_on\nsymmetric: knows\n")
    answers = []
    for number in range(2):
        with open_vault(vault.folder, tmp_path / f"data {number}") as engine:
            engine.index()
            asked = [engine.dossier(e) for e in ("a", "d", "people/ada")]
            asked += [engine.neighbourhood("d", depth=3), engine.impact("a"), engine.search("ada")]
            asked += [engine.explain("d", "depends_on", "a"), engine.diagnostics(), engine.scenarios()]
            asked.append(engine.query("SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o", "inferred").rows)  # type: ignore
            answers.append([without_times(as_json(answer)) for answer in asked] + [engine.digest()])
    assert answers[0] == answers[1]


def without_times(answer: Any) -> Any:
    """The answer but for what differs between two makings."""
    if isinstance(answer, dict):
        kept = {key: value for key, value in answer.items() if key not in ("since", "revision")}
        return {key: without_times(value) for key, value in kept.items()}
    return [without_times(item) for item in answer] if isinstance(answer, list) else answer

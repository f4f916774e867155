"""The store keeps named graphs, their union and its own revision, through restarts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.engine.changes import Delta, GraphChange, Revision
from synapse.engine.errors import InvalidFact, VaultLocked, VaultUnavailable
from synapse.engine.graph import GraphStore
from synapse.engine.terms import vocabulary as v


def node(name: str) -> NamedNode:
    return NamedNode("vault:/" + name)


def fact(subject: str, predicate: str, object: str) -> Triple:
    return Triple(node(subject), NamedNode(v.SCHEMA + predicate), node(object))


BOB, ALICE = node("people/bob.md"), node("people/alice.md")
KNOWS = fact("people/bob", "knows", "people/alice")
LIKES = fact("people/bob", "likes", "tea")
BACK = fact("people/alice", "knows", "people/bob")


def stating(graph: NamedNode, *facts: Triple) -> GraphChange:
    return GraphChange(graph, added=frozenset(facts))


def dropping(graph: NamedNode, *facts: Triple) -> GraphChange:
    return GraphChange(graph, removed=frozenset(facts))


def content(store: GraphStore) -> set[Triple]:
    """Stated facts but the store's own."""
    return {fact for fact in store.match(view="stated") if str(fact.subject).startswith("<vault:")}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path / "store")
    yield opened
    opened.close()


def test_a_new_store_is_empty_at_revision_zero(store: GraphStore) -> None:
    assert store.revision.number == 0
    assert not store.unfinished
    assert content(store) == set()
    assert store.graphs() == [v.META]
    assert store.audit() == []


def test_a_stated_fact_is_in_its_graph_and_in_the_union(store: GraphStore) -> None:
    before = store.revision
    after = store.apply([stating(BOB, KNOWS)])
    assert after == Revision(before.epoch, 1) == store.revision
    assert store.triples(BOB) == [KNOWS]
    assert content(store) == {KNOWS}
    assert store.sources(KNOWS) == [BOB]
    assert store.contains(KNOWS) and store.contains(KNOWS, "stated") and store.contains(KNOWS, BOB)
    assert not store.contains(KNOWS, "inferred") and not store.contains(KNOWS, ALICE)


def test_a_fact_leaves_the_union_with_its_last_source(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS), stating(ALICE, KNOWS)])
    assert store.sources(KNOWS) == [ALICE, BOB]
    store.apply([dropping(BOB, KNOWS)])
    assert content(store) == {KNOWS}
    store.apply([dropping(ALICE, KNOWS)])
    assert content(store) == set()
    assert store.audit() == []


def test_a_fact_that_moves_between_graphs_stays_in_the_union(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS)])
    store.apply([dropping(BOB, KNOWS), stating(ALICE, KNOWS)])
    assert content(store) == {KNOWS}
    store.apply([stating(BOB, KNOWS), dropping(ALICE, KNOWS)])
    assert content(store) == {KNOWS}
    assert store.sources(KNOWS) == [BOB]
    assert store.audit() == []


def test_both_sources_leaving_at_once_take_the_fact_along(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS), stating(ALICE, KNOWS)])
    store.apply([dropping(BOB, KNOWS), dropping(ALICE, KNOWS)])
    assert content(store) == set()
    assert store.graphs() == [v.META]


def test_removing_what_a_graph_does_not_state_takes_nothing_from_others(store: GraphStore) -> None:
    store.apply([stating(ALICE, KNOWS)])
    store.apply([dropping(BOB, KNOWS)])
    assert content(store) == {KNOWS}


def test_within_a_change_added_wins_and_later_changes_win(store: GraphStore) -> None:
    store.apply([GraphChange(BOB, removed=frozenset({KNOWS}), added=frozenset({KNOWS}))])
    assert store.triples(BOB) == [KNOWS]
    store.apply([stating(BOB, LIKES), dropping(BOB, LIKES)])
    assert store.triples(BOB) == [KNOWS]
    store.apply([dropping(BOB, KNOWS), stating(BOB, KNOWS)])
    assert store.triples(BOB) == [KNOWS]
    assert store.audit() == []


def test_a_graph_without_facts_is_no_longer_listed(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS, LIKES), stating(ALICE, BACK)])
    store.apply([dropping(BOB, KNOWS)])
    assert store.graphs() == [v.META, ALICE, BOB]
    store.apply([dropping(BOB, LIKES)])
    assert store.graphs() == [v.META, ALICE]
    assert store.query("SELECT DISTINCT ?g { GRAPH ?g {} FILTER(STRSTARTS(STR(?g), 'vault:')) }").rows == (
        (ALICE,),
    )


def test_inferred_facts_are_apart_from_stated_ones(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS)], Delta(added=frozenset({BACK})))
    assert store.match(subject=node("people/alice")) == [BACK]
    assert store.match(subject=node("people/alice"), view="stated") == []
    assert store.match(view="inferred") == [BACK]
    assert store.sources(BACK) == []
    assert v.INFERRED not in store.graphs()
    assert store.count("all") == store.count("stated") + 1
    assert store.count("inferred") == 1
    store.apply([stating(ALICE, BACK)], Delta(removed=frozenset({BACK})))
    assert store.match(view="inferred") == []
    assert store.match(subject=node("people/alice")) == [BACK]
    assert store.audit() == []


def test_the_inferred_graph_is_no_source(store: GraphStore) -> None:
    with pytest.raises(ValueError, match="inferred"):
        store.apply([stating(v.INFERRED, KNOWS)])


def test_patterns_select_by_each_place(store: GraphStore) -> None:
    name = Triple(node("people/bob"), v.RDFS_LABEL, Literal("Bob"))
    store.apply([stating(BOB, KNOWS, LIKES, name)])
    assert set(store.match(node("people/bob"))) == {KNOWS, LIKES, name}
    assert store.match(predicate=v.RDFS_LABEL) == [name]
    assert store.match(object=Literal("Bob")) == [name]
    assert store.match(node("people/bob"), KNOWS.predicate, node("people/alice"), BOB) == [KNOWS]
    assert store.match(node("people/bob"), view=ALICE) == []


def test_union_delta_counts_only_relevant_sources_and_writes_nothing(store: GraphStore) -> None:
    store.apply([stating(BOB, KNOWS), stating(v.META, LIKES)])
    before = store.revision

    def reasoned(graph: NamedNode, _: Triple) -> bool:
        return graph != v.META

    def delta(*changes: GraphChange) -> Delta:
        return store.union_delta(changes, reasoned)

    assert delta(stating(ALICE, KNOWS, BACK)) == Delta(added=frozenset({BACK}))
    assert delta(dropping(BOB, KNOWS)) == Delta(removed=frozenset({KNOWS}))
    assert delta(dropping(BOB, KNOWS), stating(ALICE, KNOWS)) == Delta()
    assert delta(stating(BOB, LIKES)) == Delta(added=frozenset({LIKES}))
    assert delta(dropping(v.META, LIKES), stating(v.META, BACK)) == Delta()
    assert delta(dropping(ALICE, KNOWS)) == Delta()
    assert store.revision == before


def test_journal_positions_are_stored_with_the_change(tmp_path: Path) -> None:
    name = "laptop (Bob's) ü%.jsonl"
    store = GraphStore.open(tmp_path)
    store.apply([stating(BOB, KNOWS)], journal={name: 10, "other.jsonl": 3})
    store.apply([], journal={name: 25})
    store.close()
    again = GraphStore.open(tmp_path)
    assert again.journal_positions() == {name: 25, "other.jsonl": 3}
    assert again.audit() == []
    again.close()


def test_facts_and_revision_survive_reopening(tmp_path: Path) -> None:
    store = GraphStore.open(tmp_path)
    revision = store.apply([stating(BOB, KNOWS)])
    store.close()
    again = GraphStore.open(tmp_path)
    assert again.revision == revision
    assert content(again) == {KNOWS}
    again.close()


def test_literals_are_compared_in_the_stores_form(store: GraphStore) -> None:
    written = Triple(node("a"), v.RDFS_LABEL, Literal("01", datatype=v.XSD_INTEGER))
    kept = Triple(node("a"), v.RDFS_LABEL, Literal("1", datatype=v.XSD_INTEGER))
    store.apply([stating(BOB, written)])
    assert store.triples(BOB) == [kept]
    assert store.union_delta([stating(ALICE, written)], lambda *_: True) == Delta()
    store.apply([GraphChange(BOB, removed=frozenset({written}), added=frozenset({kept}))])
    assert store.triples(BOB) == [kept]
    store.apply([dropping(BOB, written)])
    assert content(store) == set()


def test_a_triple_term_is_stored_and_withdrawn(store: GraphStore) -> None:
    inner = Triple(node("a"), v.RDFS_LABEL, Literal('he said "no" }'))
    withdrawn = Triple(node("activity"), NamedNode(v.PROP + "withdrew"), inner)
    store.apply([stating(v.META, withdrawn)])
    assert store.match(object=inner) == [withdrawn]
    assert store.sources(withdrawn) == [v.META]
    store.apply([dropping(v.META, withdrawn)])
    assert store.match(object=inner) == []


@pytest.mark.parametrize(
    "triple",
    [
        Triple(BlankNode("x"), v.RDFS_LABEL, Literal("a")),
        Triple(node("a"), v.RDFS_LABEL, BlankNode("x")),
        Triple(node("a"), v.RDFS_LABEL, Triple(node("a"), v.RDFS_LABEL, BlankNode("x"))),
    ],
)
def test_blank_nodes_are_refused_before_anything_is_written(store: GraphStore, triple: Triple) -> None:
    before = store.revision
    with pytest.raises(InvalidFact):
        store.apply([stating(BOB, KNOWS, triple)])
    assert store.revision == before
    assert content(store) == set()


def test_a_bulk_load_replaces_everything_and_keeps_the_union(tmp_path: Path) -> None:
    store = GraphStore.open(tmp_path)
    first = store.load({BOB: [KNOWS, LIKES], ALICE: [KNOWS]}, [BACK], journal={"d.jsonl": 7})
    assert first.number == 1
    assert not store.unfinished
    assert content(store) == {KNOWS, LIKES}
    assert store.sources(KNOWS) == [ALICE, BOB]
    assert store.match(view="inferred") == [BACK]
    assert store.journal_positions() == {"d.jsonl": 7}
    assert store.count("stated") == len(store.match(view="stated"))
    assert store.audit() == []
    second = store.load({ALICE: [BACK]})
    assert second.epoch != first.epoch and second.number == 1
    assert content(store) == {BACK}
    assert store.match(view="inferred") == []
    assert store.graphs() == [v.META, ALICE]
    assert store.audit() == []
    store.close()


def test_a_second_holder_is_refused_and_a_closed_store_answers_nothing(tmp_path: Path) -> None:
    store = GraphStore.open(tmp_path)
    with pytest.raises(VaultLocked):
        GraphStore.open(tmp_path)
    store.close()
    store.close()
    with pytest.raises(VaultUnavailable):
        store.match()
    with pytest.raises(VaultUnavailable):
        store.apply([stating(BOB, KNOWS)])
    GraphStore.open(tmp_path).close()

"""Neighbourhoods as arrays."""

import numpy as np

from synapse.engine.layout import AGENT, INFERRED, STATED, lay_out_subgraph, overlaps, subgraph
from synapse.engine.questions.results import Entity, Fact, GraphNode, Neighbourhood, Source, Value


def entity(name):
    return Entity(name, f"vault:/{name}", name.title(), "note", f"{name}.md")


def fact(subject, relation, target, *, inferred=False, kind="note"):
    sources = () if inferred else (Source(kind, "vault:/x.md", "x.md"),)
    return Fact(entity(subject), entity(relation), entity(target), inferred, sources)


def neighbourhood(names, edges):
    nodes = tuple(GraphNode(entity(name), 0, 0) for name in names)
    return Neighbourhood(entity(names[0]), nodes, tuple(edges), len(names))


def test_facts_of_one_kind_between_two_nodes_share_an_edge_and_its_words():
    graph = subgraph(neighbourhood("ab", [fact("a", "knows", "b"), fact("a", "likes", "b")]))
    assert graph.ends.tolist() == [[0, 1]]
    assert graph.relation(0) == "Knows, Likes"


def test_stated_inferred_and_agent_edges_are_told_apart_and_stand_beside_each_other():
    edges = [
        fact("a", "knows", "b"),
        fact("b", "known_by", "a", inferred=True),
        fact("a", "likes", "b", kind="agent"),
    ]
    graph = subgraph(neighbourhood("ab", edges))
    assert graph.kind.tolist() == [STATED, INFERRED, AGENT]
    assert sorted(graph.lane.tolist()) == [-1.0, 0.0, 1.0]


def test_a_fact_that_a_note_and_an_agent_state_is_a_notes_fact():
    both = Fact(
        entity("a"),
        entity("knows"),
        entity("b"),
        sources=(Source("agent", "urn:x", "x"), Source("note", "vault:/x.md", "x.md")),
    )
    assert subgraph(neighbourhood("ab", [both])).kind.tolist() == [STATED]


def test_a_self_loop_is_an_edge_and_each_further_one_has_its_own_lane():
    graph = subgraph(neighbourhood("a", [fact("a", "knows", "a"), fact("a", "knows", "a", inferred=True)]))
    assert graph.ends.tolist() == [[0, 0], [0, 0]]
    assert graph.lane.tolist() == [0.0, 1.0]


def test_literals_and_nodes_that_were_cut_off_draw_no_edge():
    age = Fact(entity("a"), entity("age"), Value("3", "xsd:integer"))
    assert len(subgraph(neighbourhood("ab", [age, fact("a", "knows", "z")])).ends) == 0


def test_neighbours_and_facts_of_a_node():
    graph = subgraph(neighbourhood("abc", [fact("a", "knows", "b"), fact("c", "likes", "a")]))
    assert graph.neighbours(1).tolist() == [True, True, False]
    assert [found.sentence for found in graph.facts_of(0)] == ["A Knows B", "C Likes A"]


def test_pinned_nodes_keep_their_place_from_an_earlier_picture():
    graph = subgraph(neighbourhood("abcd", [fact("a", "knows", name) for name in "bcd"]))
    sizes = np.full((4, 2), 10.0)
    known = {"vault:/b": (300.0, 10.0), "vault:/gone": (0.0, 0.0)}
    place = lay_out_subgraph(graph, sizes, known=known, pinned=frozenset({"vault:/b"}))
    assert place[1].tolist() == [300.0, 10.0]
    assert len(overlaps(place, sizes)) == 0

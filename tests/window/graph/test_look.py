"""What nodes look like, and which labels are shown."""

from __future__ import annotations

import numpy as np

from synapse.engine.layout import subgraph
from synapse.engine.questions.results import Entity, GraphNode, Neighbourhood
from synapse.window.graph.labels import ALL_UP_TO, Room, fading, in_order
from synapse.window.graph.look import (
    COLOURS,
    LABELLED,
    SHAPES,
    UNTYPED,
    boxes,
    look_of,
    look_of_type,
    one_line,
)


def node(name, *, kind="note", types=(), degree=0):
    return GraphNode(Entity(name, f"vault:/{name}", name, kind), 0, degree, types)


def look(*nodes):
    return look_of(subgraph(Neighbourhood(nodes[0].entity, nodes, (), len(nodes))))


def test_a_type_looks_the_same_everywhere_and_types_that_share_a_colour_differ_in_shape():
    names = [f"Type {number}" for number in range(200)]
    assert [look_of_type(name) for name in names] == [look_of_type(name.upper()) for name in names]
    found = {look_of_type(name) for name in names}
    assert found == {(colour, shape) for colour in range(COLOURS) for shape in range(len(SHAPES))}


def test_nodes_without_a_type_have_a_look_of_their_own_and_unwritten_ones_are_hollow():
    found = look(node("a"), node("b", kind="unwritten"), node("c", types=("Person", "Thing")))
    assert found.colour[0] == UNTYPED
    assert found.hollow.tolist() == [False, True, False]
    assert found.type_label[2] == "Person"


def test_size_grows_with_degree_up_to_a_bound():
    radius = look(node("a"), node("b", degree=9), node("c", degree=10_000), node("d", degree=90_000)).radius
    assert radius[0] < radius[1] < radius[2]
    assert radius[2] == radius[3]


def test_labels_are_one_line_and_tags_have_their_sign():
    found = look(node("two\nlines\t and more"), node("urgent", kind="tag"))
    assert found.label == ("two lines and more", "#urgent")
    assert one_line("x" * 500).endswith("…")
    assert len(one_line("x" * 500)) == 120
    assert one_line("\U0001f600 שלום") == "\U0001f600 שלום"


def test_few_nodes_keep_room_for_their_labels_and_many_only_for_their_discs():
    few = boxes(np.full(3, 6.0), np.full(3, 100.0), 15.0)
    many = boxes(np.full(LABELLED + 1, 6.0), np.full(LABELLED + 1, 100.0), 15.0)
    assert (few[:, 0] > 50).all()
    assert (many[:, 0] < 20).all()


def test_a_few_labels_never_fade_and_in_a_crowd_the_large_ones_stay_longest():
    assert (fading(0.1, np.full(ALL_UP_TO, 5.0)) == 1).all()
    radius = np.concatenate([np.full(ALL_UP_TO, 5.0), [15.0]])
    for scale in np.linspace(0.1, 2, 20):
        shown = fading(scale, radius)
        assert shown[-1] >= shown[0]
        assert ((shown >= 0) & (shown <= 1)).all()


def test_no_rectangle_is_given_twice():
    room = Room(1)
    assert room.take_if_free(0, 0, 10, 10)
    assert not room.take_if_free(9, 9, 20, 20)
    assert room.take_if_free(10, 0, 20, 10)


def test_the_most_important_come_first_and_ties_by_index():
    order = in_order(np.array([1.0, 5.0, 5.0, 9.0]), np.array([True, True, True, False]))
    assert order.tolist() == [1, 2, 0]

"""The layout of a neighbourhood: nothing covered, nothing random, no shape refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.layout import breadth_first, lay_out, overlaps, radial_start, separate


def ends(*pairs):
    return np.array(pairs, dtype=np.int32).reshape(-1, 2)


def discs(n, radius=9.0):
    return np.full((n, 2), radius)


SHAPES = {
    "single": (1, ends()),
    "single with a self loop": (1, ends((0, 0))),
    "orphans": (12, ends()),
    "two components": (9, ends((0, 1), (1, 2), (3, 4), (4, 5))),
    "parallel and opposite": (3, ends((0, 1), (0, 1), (1, 0), (1, 2))),
    "hub": (200, ends(*[(0, leaf) for leaf in range(1, 200)])),
    "chain": (30, ends(*[(node, node + 1) for node in range(29)])),
    "complete": (12, ends(*[(a, b) for a in range(12) for b in range(12) if a < b])),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_no_two_discs_overlap_and_every_position_is_finite(shape):
    n, edges = SHAPES[shape]
    place = lay_out(n, edges, discs(n))
    assert place.shape == (n, 2)
    assert np.isfinite(place).all()
    assert len(overlaps(place, discs(n))) == 0


@pytest.mark.parametrize("shape", SHAPES)
def test_the_same_seed_gives_the_same_picture(shape):
    n, edges = SHAPES[shape]
    assert np.array_equal(lay_out(n, edges, discs(n), seed=4), lay_out(n, edges, discs(n), seed=4))


def test_another_seed_gives_another_picture():
    n, edges = SHAPES["hub"]
    assert not np.array_equal(lay_out(n, edges, discs(n), seed=1), lay_out(n, edges, discs(n), seed=2))


def test_no_nodes_are_no_positions():
    assert lay_out(0, ends(), discs(0)).shape == (0, 2)


@given(
    st.integers(1, 25).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40),
            st.lists(st.floats(2, 80), min_size=n, max_size=n),
        )
    )
)
def test_no_two_boxes_overlap_in_any_graph(graph):
    n, edges, widths = graph
    sizes = np.array([[width, 12.0] for width in widths])
    assert len(overlaps(lay_out(n, ends(*edges), sizes), sizes)) == 0


def test_linked_nodes_stand_nearer_than_unlinked_ones():
    # Two cliques joined by one edge: each node's nearest neighbours are its own clique.
    cliques = [(a + base, b + base) for base in (0, 6) for a in range(6) for b in range(a)]
    place = lay_out(12, ends(*cliques, (0, 6)), discs(12))
    distance = np.linalg.norm(place[:, None] - place[None], axis=2)
    inside = np.mean([distance[a, b] for a, b in cliques])
    across = distance[:6, 6:].mean()
    assert across > 1.5 * inside


def test_components_do_not_lie_over_each_other():
    edges = ends(*[(0, leaf) for leaf in range(1, 20)], *[(20, leaf) for leaf in range(21, 40)])
    place = lay_out(40, edges, discs(40))
    first, second = place[:20], place[20:]
    apart = (first.min(0) > second.max(0)) | (second.min(0) > first.max(0))
    assert apart.any()


def test_a_pinned_node_stays_and_the_others_keep_off_it():
    n, edges = SHAPES["chain"]
    start = np.full((n, 2), np.nan)
    start[5] = (123.0, -45.0)
    fixed = np.zeros(n, dtype=bool)
    fixed[5] = True
    place = lay_out(n, edges, discs(n), start=start, fixed=fixed)
    assert place[5].tolist() == [123.0, -45.0]
    assert len(overlaps(place, discs(n))) == 0


def test_a_picture_that_grows_keeps_its_shape():
    before = lay_out(8, ends(*[(0, leaf) for leaf in range(1, 8)]), discs(8))
    start = np.vstack([before, np.full((2, 2), np.nan)])
    after = lay_out(10, ends(*[(0, leaf) for leaf in range(1, 8)], (3, 8), (3, 9)), discs(10), start=start)
    order = lambda place: np.argsort(np.arctan2(*(place[1:8] - place[0]).T))  # noqa: E731
    turn = np.flatnonzero(order(after) == order(before)[0])[0]
    assert np.array_equal(np.roll(order(after), -turn), order(before))


def test_separation_moves_nothing_that_is_free_already():
    place = np.array([[0.0, 0.0], [100.0, 0.0], [0.0, 100.0]])
    assert np.allclose(separate(place, discs(3)), place, atol=0.01)


def test_nodes_at_one_point_are_taken_apart():
    assert len(overlaps(separate(np.zeros((40, 2)), discs(40)), discs(40))) == 0


def test_a_node_caught_between_fixed_ones_gets_out():
    place = np.array([[0.0, 0.0], [-10.0, 0.0], [10.0, 0.0], [0.0, 10.0], [0.0, -10.0]])
    fixed = np.array([False, True, True, True, True])
    freed = separate(place, discs(5), fixed)
    assert np.array_equal(freed[1:], place[1:])
    assert 0 not in overlaps(freed, discs(5))


def test_breadth_first_orders_by_depth_and_reaches_every_component():
    order, parent, depth = breadth_first(6, ends((0, 1), (1, 2), (4, 5)), 0)
    assert order == [0, 1, 2, 4, 5, 3]
    assert [parent[node] for node in (0, 1, 2, 3)] == [-1, 0, 1, -1]
    assert depth[:3] == [0, 1, 2]


def test_the_radial_start_puts_each_depth_on_its_ring():
    place = radial_start(7, ends((0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)), 0, 100.0)
    assert np.allclose(np.linalg.norm(place, axis=1), [0, 100, 100, 200, 200, 200, 200], atol=3)

"""Edges as segments: they begin and end at the discs, stand beside each other, and are dashed evenly."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synapse.window.graph.curves import ARROW, DASH, LANE, arrow_heads, broken, curves, solid

RADIUS = np.array([10.0, 6.0, 8.0])
SCREEN = np.array([[0.0, 0.0], [200.0, 0.0], [0.0, 150.0]])


def shape(*pairs: tuple[int, int], lanes: list[float] | None = None):
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    return curves(SCREEN, RADIUS, ends, np.array(lanes or [0.0] * len(pairs)))


def test_a_straight_edge_is_one_segment_between_the_two_discs():
    ((x0, y0, x1, y1),) = solid(shape((0, 1)), np.array([0]))
    assert (y0, y1) == (0, 0)
    assert 10 <= x0 <= 12
    assert 191 <= x1 <= 194


def test_opposite_edges_bend_to_opposite_sides_of_the_line():
    pair = shape((0, 1), (1, 0), lanes=[-0.5, 0.5])
    middles = pair.middles()
    assert np.isclose(abs(middles[0, 1] - middles[1, 1]), LANE, atol=1.5)
    assert middles[0, 1] * middles[1, 1] < 0


def test_a_self_loop_is_a_closed_curve_above_its_node():
    loop = shape((2, 2))
    segments = solid(loop, np.array([0]))
    assert len(segments) > 8
    assert (segments[:, [1, 3]] < SCREEN[2, 1]).all()
    second = shape((2, 2), lanes=[1.0])
    assert second.length[0] > loop.length[0]


def test_dashes_cover_their_share_of_the_edge_and_do_not_touch():
    edge = shape((0, 1))
    dashes = broken(edge, np.array([0]), DASH)
    drawn = np.hypot(dashes[:, 2] - dashes[:, 0], dashes[:, 3] - dashes[:, 1])
    assert np.allclose(drawn, drawn[0])
    assert (dashes[1:, 0] > dashes[:-1, 2]).all()
    share = drawn.sum() / (dashes[-1, 2] - dashes[0, 0])
    assert np.isclose(share, DASH[0] / sum(DASH), atol=0.05)


def test_an_arrow_points_at_the_target_and_ends_at_its_disc():
    ((tip, left, right),) = arrow_heads(shape((0, 2)), np.array([0]))
    assert np.isclose(np.hypot(*(tip - SCREEN[2])), RADIUS[2] + 2, atol=0.5)
    assert np.isclose(((left + right) / 2 - tip)[1], -ARROW)


def test_distance_is_measured_to_the_drawn_line():
    both = shape((0, 1), (0, 2))
    assert np.allclose(both.distances(np.array([100.0, 4.0])), [4.0, 100.0], atol=0.1)


def test_no_edges_are_no_segments():
    nothing = shape()
    none = np.array([], dtype=np.intp)
    assert solid(nothing, none).shape == (0, 4)
    assert broken(nothing, none, DASH).shape == (0, 4)
    assert nothing.distances(np.zeros(2)).shape == (0,)


@given(
    st.lists(
        st.tuples(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4)), min_size=3, max_size=3
    ),
    st.floats(-3, 3),
)
def test_any_positions_even_the_same_give_finite_segments(places, lane):
    ends = np.array([[0, 1], [1, 2], [2, 2]], dtype=np.int32)
    any_shape = curves(np.array(places), RADIUS, ends, np.array([lane, -lane, abs(lane)]))
    every = np.arange(3)
    for segments in (solid(any_shape, every), broken(any_shape, every, DASH), arrow_heads(any_shape, every)):
        assert np.isfinite(segments).all()

"""Where the canvas looks."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from synapse.window.graph.camera import FIT_MOST, LEAST, MOST, Camera

coordinate = st.floats(-5_000, 5_000)


@given(st.floats(0.1, 10), coordinate, coordinate)
def test_what_is_under_the_pointer_stays_there_while_zooming(factor, x, y):
    camera = Camera()
    camera.pan(np.array([13.0, -7.0]))
    at = np.array([x, y])
    under = camera.to_scene(at)
    camera.zoom(factor, at)
    assert np.allclose(camera.to_scene(at), under, atol=1e-6 * (1 + np.abs(under)))
    assert LEAST <= camera.scale <= MOST


@given(st.lists(st.tuples(coordinate, coordinate), min_size=1, max_size=30))
def test_everything_fits_with_what_stands_around_it(places):
    camera = Camera()
    place, sizes = np.array(places), np.full((len(places), 2), [40.0, 15.0])
    camera.fit(place, sizes, 400, 300)
    screen = camera.to_screen(place)
    if camera.scale > LEAST * 1.01:
        assert (screen - sizes >= -0.5).all()
        assert (screen + sizes <= np.array([400.5, 300.5])).all()
    assert camera.scale <= FIT_MOST


def test_a_single_node_stands_in_the_middle():
    camera = Camera()
    camera.fit(np.array([[700.0, -80.0]]), np.array([[30.0, 20.0]]), 400, 300)
    assert np.allclose(camera.to_screen(np.array([700.0, -80.0])), [200, 150])

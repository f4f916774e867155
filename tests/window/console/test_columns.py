"""How wide the columns of an answer begin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synapse.window.console.result_view import SQUEEZED, shared_out


def test_columns_that_fit_keep_their_width_and_else_the_widest_give_first():
    assert shared_out([100, 200], 400) == [100, 200]
    small, wide = shared_out([100, 300], 300)
    assert small == 100
    assert SQUEEZED <= wide <= 200


@given(st.lists(st.integers(64, 360), max_size=12), st.integers(0, 2_000))
def test_no_column_grows_or_is_squeezed_further_than_the_bound(wanted, room):
    given_widths = shared_out(wanted, room)
    pairs = zip(wanted, given_widths, strict=True)
    assert all(min(want, SQUEEZED - 4) <= width <= want for want, width in pairs)

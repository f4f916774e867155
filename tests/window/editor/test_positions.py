"""Places in texts with characters beyond the basic plane."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QTextCursor, QTextDocument

from synapse.window.editor.positions import from_qt, to_bytes, to_qt


@given(st.text(max_size=20), st.integers(0, 20))
def test_positions_go_to_qt_and_back(text: str, index: int) -> None:
    index = min(index, len(text))
    assert from_qt(text, to_qt(text, index)) == index


def test_positions_agree_with_a_document_of_qt() -> None:
    text = "\U0001f600 **bold** [[Link]]"
    document = QTextDocument()
    document.setPlainText(text)
    cursor = QTextCursor(document)
    start = text.index("[[")
    cursor.setPosition(to_qt(text, start))
    cursor.setPosition(to_qt(text, len(text)), QTextCursor.MoveMode.KeepAnchor)
    assert cursor.selectedText() == "[[Link]]"
    assert to_bytes(text, start) == len(text[:start].encode())


def test_a_place_inside_a_pair_counts_as_its_start() -> None:
    assert from_qt("\U0001f600x", 1) == 0

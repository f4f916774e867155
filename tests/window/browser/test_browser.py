"""The vault browser: tree, filter, sort, new notes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from synapse.engine.catalogue import FileRecord
from synapse.window.browser import BrowserPanel
from synapse.window.browser.model import PATH_ROLE, VaultModel
from synapse.window.note_list import NoteList
from synapse.window.session import Session
from synapse.window.theme import Theme


def record(path: str, mtime: int = 0, title: str = "", aliases: tuple[str, ...] = ()) -> FileRecord:
    entity = path.removesuffix(".md")
    return FileRecord(path, "note", 1, mtime, "h", entity, None, title or entity, aliases, ())


RECORDS = [
    record("b.md", 5),
    record("A.md", 1, title="Alpha", aliases=("first",)),
    record("x/two.md", 9),
    record("x/y/three.md", 2),
    record("x.md", 3),
]


def shown(model: VaultModel, parent: QModelIndex | None = None) -> list[object]:
    parent = parent or QModelIndex()
    rows: list[object] = []
    for row in range(model.rowCount(parent)):
        index = model.index(row, 0, parent)
        name = model.data(index)
        node = model.node_at(index)
        rows.append((name, shown(model, index)) if node is not None and node.is_folder else name)
    return rows


@pytest.fixture
def model(theme: Theme) -> VaultModel:
    model = VaultModel(theme)
    model.set_notes(RECORDS)
    return model


def test_folders_come_first_then_notes_by_name(model: VaultModel) -> None:
    assert shown(model) == [("x", [("y", ["three"]), "two"]), "A", "b", "x"]


def test_newest_first_moves_folders_with_their_newest_note(model: VaultModel) -> None:
    model.sort_by_time(True)
    assert shown(model) == [("x", ["two", ("y", ["three"])]), "b", "x", "A"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("THREE", [("x", [("y", ["three"])])]),
        ("first", ["A"]),
        ("alp", ["A"]),
        ("x/ two", [("x", ["two"])]),
        ("nothing", []),
        ("  ", None),
    ],
)
def test_a_filter_looks_at_path_title_and_aliases(
    model: VaultModel, text: str, expected: list[object] | None
) -> None:
    everything = shown(model)
    model.set_filter(text)
    assert shown(model) == (everything if expected is None else expected)


def test_the_model_keeps_qts_rules(model: VaultModel) -> None:
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_filter("t")
    model.sort_by_time(True)
    model.set_notes(RECORDS[:2])
    model.set_current("A.md")
    model.set_filter("")


def test_each_note_is_found_again(model: VaultModel) -> None:
    for path in ("x/y/three.md", "x.md", "x", "b.md"):
        assert model.data(model.index_of(path), PATH_ROLE) == path
    model.set_filter("alpha")
    assert not model.index_of("b.md").isValid()
    assert not model.index_of("gone.md").isValid()


def test_an_index_that_outlived_a_reset_reaches_no_freed_node(model: VaultModel) -> None:
    index = model.index_of("x/y/three.md")
    model.set_notes([])
    assert model.node_at(index) is not None  # the root; not a crash


@pytest.fixture
def panel(session: Session, theme: Theme, qtbot: QtBot, settled: Callable[[], None]) -> BrowserPanel:
    notes = NoteList(session, session)
    panel = BrowserPanel(session, notes, theme)
    qtbot.addWidget(panel)
    notes.refresh()
    settled()
    panel.show()
    return panel


def test_the_panel_counts_filters_and_says_when_nothing_fits(panel: BrowserPanel, qtbot: QtBot) -> None:
    assert panel.title_row.count.text() == "5"
    qtbot.keyClicks(panel.filter, "people")
    qtbot.waitUntil(lambda: panel.title_row.count.text() == "2 of 5")
    panel.filter.setText("qqq")
    qtbot.waitUntil(lambda: panel.nothing.isVisible())
    assert "qqq" in panel.nothing.text()
    qtbot.keyClick(panel.filter, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not panel.nothing.isVisible())


def test_enter_in_the_filter_opens_the_first_match(panel: BrowserPanel, qtbot: QtBot) -> None:
    qtbot.keyClicks(panel.filter, "ledger")
    with qtbot.waitSignal(panel.noteRequested) as asked:
        qtbot.keyClick(panel.filter, Qt.Key.Key_Return)
    assert asked.args == ["modules/ledger.md"]


def test_a_click_opens_a_note_and_unfolds_a_folder(panel: BrowserPanel, qtbot: QtBot) -> None:
    folder = panel.model.index_of("people")
    panel._clicked(folder)
    assert panel.tree.isExpanded(folder)
    with qtbot.waitSignal(panel.noteRequested) as asked:
        panel._clicked(panel.model.index_of("people/ada.md"))
    assert asked.args == ["people/ada.md"]


def test_folders_stay_unfolded_when_notes_come_and_go(
    panel: BrowserPanel, session: Session, qtbot: QtBot, settled: Callable[[], None]
) -> None:
    panel.tree.setExpanded(panel.model.index_of("people"), True)
    session.run(session.engine.write_note, "people/new.md", b"# New\n", None)
    qtbot.waitUntil(lambda: panel.title_row.count.text() == "6", timeout=5000)
    settled()
    assert panel.tree.isExpanded(panel.model.index_of("people"))
    assert not panel.tree.isExpanded(panel.model.index_of("modules"))


def test_the_open_note_is_marked_and_revealed(panel: BrowserPanel, session: Session) -> None:
    session.set_current("people/bob.md")
    panel.filter.setText("ledger")
    panel.reveal_current()
    assert panel.model.data(panel.tree.currentIndex(), PATH_ROLE) == "people/bob.md"
    assert panel.tree.isExpanded(panel.model.index_of("people"))


def test_a_new_note_is_named_beside_the_open_one(panel: BrowserPanel, session: Session, qtbot: QtBot) -> None:
    session.set_current("people/bob.md")
    panel.ask_name()
    assert panel.name.text() == "people/"
    qtbot.keyClicks(panel.name, "ada")
    assert "already" in panel.name_hint.text()
    qtbot.keyClick(panel.name, Qt.Key.Key_Return)
    assert panel.name.isVisible()
    qtbot.keyClicks(panel.name, " two")
    with qtbot.waitSignal(panel.noteNamed) as named:
        qtbot.keyClick(panel.name, Qt.Key.Key_Return)
    assert named.args == ["people/ada two.md"]
    assert not panel.name.isVisible()


def test_a_large_vault_is_filtered_and_sorted(theme: Theme) -> None:
    model = VaultModel(theme)
    model.set_notes([record(f"folder {n % 50}/note {n}.md", n) for n in range(20_000)])
    model.set_filter("note 199")
    found = [n for n in range(20_000) if "199" in str(n)]
    assert model.matches == len(found)
    model.sort_by_time(True)
    assert model.data(model.index(0, 0, model.index(0, 0))) == f"note {found[-1]}"

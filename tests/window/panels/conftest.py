"""Panels over the real engine on a small vault."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from synapse.engine import Engine, open_vault
from synapse.window.session import Session
from synapse.window.theme import Theme

NOTES = {
    "modules/payments.md": "---\ntype: Module\ndepends_on: modules/ledger\n---\n# Payments\n\nMoney in.\n",
    "modules/checkout.md": "---\ntype: Module\n---\n# Checkout\n\nWith [[depends_on::modules/payments]].\n",
    "modules/storefront.md": "# Storefront\n\n- depends_on:: [[modules/checkout]]\n- owner:: [[people/no]]\n",
    "modules/ledger.md": "---\ntype: Module\n---\n# Ledger\n",
    "people/ada.md": "---\ntype: Person\nmaintains: modules/payments\n---\n# Ada Lovelace\n",
    "vocabulary.md": "---\ntype: ontology\n---\n# Vocabulary\n\n- inverse_of: used by -> depends_on\n",
    "alone.md": "# Alone\n",
}


READERS = 4


def write(vault: Path, notes: dict[str, str]) -> None:
    for path, text in notes.items():
        file = vault / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


@pytest.fixture
def make_engine(tmp_path: Path) -> Iterator[Callable[[dict[str, str]], Engine]]:
    opened: list[Engine] = []

    def make(notes: dict[str, str]) -> Engine:
        vault = tmp_path / "vault"
        vault.mkdir()
        write(vault, notes)
        engine = open_vault(vault, tmp_path / "data")
        opened.append(engine)
        engine.index()
        return engine

    yield make
    for engine in opened:
        engine.close()


@pytest.fixture(scope="session", autouse=True)
def shared_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    folder = tmp_path_factory.mktemp("panels")
    (folder / "vault").mkdir()
    write(folder / "vault", NOTES)
    with open_vault(folder / "vault", folder / "data") as engine:
        engine.index()
        # All threads of its read pool begin now, not in a test that looks for threads left behind.
        together = threading.Barrier(READERS)
        for started in [engine.submit(together.wait, 30) for _ in range(READERS)]:
            started.result()
        yield engine


@pytest.fixture
def own_vault() -> None:
    """Asked for by tests that write: their engine is theirs alone."""


@pytest.fixture
def engine(request: pytest.FixtureRequest, make_engine: Callable[[dict[str, str]], Engine]) -> Engine:
    if "own_vault" in request.fixturenames:
        return make_engine(NOTES)
    shared = request.getfixturevalue("shared_engine")
    assert isinstance(shared, Engine)
    return shared


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    sheet, palette, font = qapp.styleSheet(), qapp.palette(), qapp.font()
    theme = Theme("light")
    theme.apply(qapp)
    yield theme
    qapp.setStyleSheet(sheet)
    qapp.setPalette(palette)
    qapp.setFont(font)


@pytest.fixture
def make_session(qtbot: QtBot, theme: Theme) -> Iterator[Callable[[Engine], Session]]:
    made: list[Session] = []

    def make(engine: Engine) -> Session:
        made.append(Session(engine))
        return made[-1]

    yield make
    for session in made:
        session.close()


@pytest.fixture
def session(engine: Engine, make_session: Callable[[Engine], Session]) -> Session:
    return make_session(engine)


@pytest.fixture
def shown(qtbot: QtBot) -> Iterator[Callable[[QWidget, int, int], QWidget]]:
    """Shows a panel; afterwards nothing of it may be left."""
    panels: list[QWidget] = []

    def show(panel: QWidget, width: int = 360, height: int = 640) -> QWidget:
        panels.append(panel)
        panel.resize(width, height)
        panel.show()
        qtbot.waitExposed(panel)
        return panel

    yield show
    for panel in panels:
        panel.close()
        panel.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    left = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert not left, f"still shown: {left}"

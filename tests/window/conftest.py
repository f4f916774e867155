"""A real engine on a small vault, and a window that leaves nothing behind."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.engine import Engine, open_vault
from synapse.window.session import Session
from synapse.window.theme import Theme

NOTES = {
    "people/ada.md": """\
---
type: Person
knows: "[[people/bob]]"
---
# Ada

Works on [[modules/pay|payments]].
""",
    "people/bob.md": "# Bob\n\nKnows [[people/ada]] and [[people/zoe]].\n",
    "modules/pay.md": """\
# Payments

## Promises

depends_on:: [[modules/ledger]]

See https://example.org and [up](../people/bob.md).
""",
    "modules/ledger.md": "# Ledger\n",
    "welcome.md": "# Welcome\n\nStart at [[ada]].\n",
    # No vocabulary is needed here, and loading one takes most of a second.
    ".synapse/settings.json": '{"scenarios": []}\n',
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A folder with a few notes that link to each other."""
    folder = tmp_path / "vault"
    for path, text in NOTES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.fixture
def engine(vault: Path, tmp_path: Path) -> Iterator[Engine]:
    """The vault, opened and indexed."""
    with open_vault(vault, tmp_path / "data") as engine:
        engine.index()
        yield engine


@pytest.fixture
def session(engine: Engine, qapp: QApplication) -> Iterator[Session]:
    session = Session(engine)
    yield session
    session.close()


@pytest.fixture
def theme(qapp: QApplication) -> Theme:
    theme = Theme("light")
    theme.apply(qapp)
    return theme


@pytest.fixture
def settled(session: Session, qtbot: QtBot) -> Callable[[], None]:
    """Wait until no call is on its way any more."""

    def wait() -> None:
        qtbot.waitUntil(lambda: session.busy == 0, timeout=10_000)

    return wait


@pytest.fixture(autouse=True)
def _nothing_left(qapp: QApplication, request: pytest.FixtureRequest) -> Iterator[None]:
    """After each test no window is shown and no thread runs that was not there before."""
    if "shared_engine" in request.fixturenames:
        yield  # its threads come and go with the session; those tests look for leftovers themselves
        return
    before = len(threads())
    widgets = set(map(id, qapp.topLevelWidgets()))
    yield
    qapp.sendPostedEvents(None, 0)
    for _ in range(20):
        qapp.processEvents()
        left = [w for w in qapp.topLevelWidgets() if id(w) not in widgets and w.parent() is None]
        if not left and len(threads()) <= before:
            break
    shown = [widget for widget in left if widget.isVisible()]
    assert not shown, f"left visible: {shown}"
    assert len(threads()) <= before, threads()


def threads() -> list[str]:
    """The threads that run. Those that listen to query workers belong to the process, not to a window."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name != "synapse-query-listener"]

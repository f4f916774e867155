"""The application: one process, one window, one vault at a time."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtWidgets import QApplication

from synapse.window.main_window import MainWindow
from synapse.window.opening import VaultHost
from synapse.window.settings import WindowSettings
from synapse.window.theme import Theme


def run(vault: str | os.PathLike[str]) -> int:
    """Show the window on a vault; returns the exit status when it is closed."""
    QCoreApplication.setApplicationName("Synapse")
    QCoreApplication.setOrganizationName("Synapse")
    app = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(app, QApplication)
    app.setDesktopFileName("synapse")
    settings = WindowSettings()
    theme = Theme(settings.theme)
    theme.apply(app)
    app.setWindowIcon(theme.application_icon())
    host = VaultHost()
    window = MainWindow(settings, theme, host)
    window.show()
    window.open_vault(Path(vault).expanduser().resolve())
    _end_on_signals(app, window)
    status = app.exec()
    settings.sync()
    if not host.shut_down():
        # What did not end holds the vault; the process's end gives it up, and the next start makes it good.
        os._exit(status)
    return status


def _end_on_signals(app: QApplication, window: MainWindow) -> None:
    """Ctrl+C and a polite kill save and close; Python looks at signals only when it runs."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: QTimer.singleShot(0, window.close_unasked))
    awake = QTimer(app)
    awake.start(250)
    awake.timeout.connect(lambda: None)

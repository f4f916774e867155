"""The system libraries suffice for a real window, and it can be typed into."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

TITLE = "synapse test of typing"
WINDOW = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLineEdit

application = QApplication(sys.argv)
line = QLineEdit()
line.setWindowTitle(sys.argv[1])
line.returnPressed.connect(application.quit)
QTimer.singleShot(20000, lambda: application.exit(1))
line.show()
line.activateWindow()
QTimer.singleShot(0, lambda: print("shown", flush=True))
status = application.exec()
print(application.platformName(), line.text())
sys.exit(status)
"""


def test_a_real_window_opens_and_takes_typed_keys(display_environment: dict[str, str]) -> None:
    for tool in ("xdotool", "openbox"):
        if shutil.which(tool) is None:
            pytest.skip(f"needs {tool}")
    with subprocess.Popen(
        [sys.executable, "-c", WINDOW, TITLE], env=display_environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as window:  # fmt: skip
        try:
            assert window.stdout
            assert window.stdout.readline() == "shown\n"
            for action in (
                ["search", "--sync", "--onlyvisible", "--name", TITLE, "windowfocus", "--sync"],
                ["type", "payments"],
                ["key", "Return"],
            ):
                subprocess.run(
                    ["xdotool", *action], env=display_environment, check=True, timeout=30, capture_output=True
                )
            out, err = window.communicate(timeout=30)
        finally:
            window.kill()
    assert (out, err, window.returncode) == ("xcb payments\n", "", 0)

"""The about box."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QMessageBox, QWidget

from synapse.window.theme import Theme


def show_about(theme: Theme, parent: QWidget) -> None:
    """Name, version, licence; closes without a trace."""
    try:
        number = version("synapse-desktop")
    except PackageNotFoundError:
        number = "?"
    box = QMessageBox(parent)
    box.setWindowTitle(box.tr("About Synapse"))
    box.setIconPixmap(theme.application_icon().pixmap(QSize(64, 64)))
    box.setText(box.tr("Synapse {version}").format(version=number))
    box.setInformativeText(
        box.tr(
            "Memory you can prove: notes become facts, facts are reasoned over, "
            "and every fact has a source.\n\nMIT licence. Nothing leaves this machine."
        )
    )
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.open()

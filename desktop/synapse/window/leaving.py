"""Leaving a vault: ask about agents, hang up on them, save the editors, and only then go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QCheckBox, QMessageBox, QWidget

from synapse.window.desk import Desk
from synapse.window.opening import After, VaultHost
from synapse.window.panel import counted
from synapse.window.settings import WindowSettings


class Leaving(QObject):
    """One leave at a time. A person may stay instead, when asked about agents or unsaved notes."""

    stayed = Signal()

    def __init__(self, window: QWidget, settings: WindowSettings, host: VaultHost) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._host = host
        self._desk: Desk | None = None
        self._act: Callable[[], None] | None = None
        host.quiet.connect(self._save)

    def start(self, desk: Desk, act: Callable[[], None], *, unasked: bool = False) -> None:
        """Prepare to leave a vault, then call `act`. unasked: nobody is there to answer."""
        if self._act is not None:
            self._act = act  # asked again while on the way: the last word counts
            return
        self._desk, self._act = desk, act
        attached = desk.agents.state.connections
        choice = self._settings.when_closing
        if not attached or ((unasked or _is_logging_out()) and choice == "ask"):
            self._host.stop_serving()
        elif choice in ("keep", "stop"):
            self._host.stop_serving("keep" if choice == "keep" else "stop")
        else:
            self._ask(attached)

    def _ask(self, attached: int) -> None:
        box = ClosingQuestion(attached, self._window)

        def decided() -> None:
            choice = box.choice
            if not choice:
                self._stay()
                return
            if box.not_again.isChecked():
                self._settings.when_closing = choice
                self._settings.sync()
            self._host.stop_serving(choice)

        box.finished.connect(decided)
        box.open()

    @Slot()
    def _save(self) -> None:
        if self._desk is not None and self._act is not None:
            self._desk.tabs.save_all()

    @Slot()
    def all_saved(self) -> None:
        """Nothing is left unsaved."""
        act, self._act, self._desk = self._act, None, None
        if act is not None:
            act()

    @Slot(str)
    def save_failed(self, path: str) -> None:
        """Something cannot be saved: a person decides, nothing is thrown away unasked."""
        act, desk = self._act, self._desk
        if act is None or desk is None:
            return
        desk.tabs.open(path)
        box = QMessageBox(self._window)
        box.setWindowTitle(self.tr("Not saved"))
        box.setText(self.tr("{path} is not saved.").format(path=path))
        box.setInformativeText(self.tr("Its tab says why. Closing now loses what you wrote there since."))
        stay = box.addButton(self.tr("Stay"), QMessageBox.ButtonRole.RejectRole)
        lose = box.addButton(self.tr("Close without saving"), QMessageBox.ButtonRole.DestructiveRole)
        box.setDefaultButton(stay)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

        def decided() -> None:
            if box.clickedButton() is lose:
                self.all_saved()
            else:
                self._stay()
                self._host.serve_again()

        box.finished.connect(decided)
        box.open()

    def _stay(self) -> None:
        self._act = self._desk = None
        self.stayed.emit()


class ClosingQuestion(QMessageBox):
    """Agents are attached: keep serving them or not. `choice` is "" for neither, which is to stay."""

    def __init__(self, attached: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.choice: After = ""
        self.setWindowTitle(self.tr("Agents are attached"))
        one, many = self.tr("agent is attached"), self.tr("agents are attached")
        self.setText(self.tr("{agents} to this vault.").format(agents=counted(attached, one, many)))
        self.setInformativeText(
            self.tr(
                "Synapse can keep serving them in the background, until 10 minutes have passed without "
                "an agent. If you stop, they cannot reach the vault until you open it again."
            )
        )
        self.keep = self.addButton(self.tr("Keep serving"), QMessageBox.ButtonRole.AcceptRole)
        self.stop = self.addButton(self.tr("Stop serving"), QMessageBox.ButtonRole.DestructiveRole)
        self.stay = self.addButton(self.tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
        self.setDefaultButton(self.keep)
        self.setEscapeButton(self.stay)
        self.not_again = QCheckBox(self.tr("Do not ask again"), self)
        self.not_again.setToolTip(self.tr("The menu of the Agents panel changes it"))
        self.setCheckBox(self.not_again)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.buttonClicked.connect(self._clicked)

    @Slot(object)
    def _clicked(self, button: object) -> None:
        self.choice = "keep" if button is self.keep else "stop" if button is self.stop else ""


def _is_logging_out() -> bool:
    app = QApplication.instance()
    return isinstance(app, QApplication) and app.isSavingSession()

"""The notes of the open vault, as browser, quick open and completion need them."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from synapse.engine.catalogue import FileRecord
from synapse.window.session import Session

SETTLE_MS = 120


class NoteList(QObject):
    """Kept in step with the engine; `changed` only when names, titles or times did."""

    changed = Signal()

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self.records: tuple[FileRecord, ...] = ()
        self.is_known = False
        self._settle = QTimer(self)
        self._settle.setSingleShot(True)
        self._settle.setInterval(SETTLE_MS)
        self._settle.timeout.connect(self.refresh)
        session.changed.connect(self._on_change)

    @Slot(object)
    def _on_change(self, _change: object) -> None:
        if not self._settle.isActive():
            self._settle.start()

    @Slot()
    def refresh(self) -> None:
        self._session.run(self._session.engine.notes, done=self._arrived)

    @Slot(object)
    def _arrived(self, records: tuple[FileRecord, ...]) -> None:
        if not self.is_known or records != self.records:
            self.is_known = True
            self.records = records
            self.changed.emit()

    def by_path(self, path: str) -> FileRecord | None:
        return next((record for record in self.records if record.path == path), None)

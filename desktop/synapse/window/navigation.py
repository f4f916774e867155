"""From "show me this" to a tab: ids, paths and IRIs, unwritten notes, back and forward."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices

from synapse.engine.errors import InvalidId, UnknownEntity
from synapse.window.bar import Bars
from synapse.window.naming import note_name
from synapse.window.session import Session, in_words
from synapse.window.tabs import NoteTabs

if TYPE_CHECKING:
    from synapse.engine import Engine

MOST_REMEMBERED = 100


@dataclass(frozen=True, slots=True)
class Place:
    """What was asked for. path: its file, "" if it has none. label: its name for people."""

    asked: str
    line: int
    kind: str
    path: str = ""
    id: str = ""
    label: str = ""


def find_place(engine: Engine, asked: str, line: int) -> Place:
    """What an id, a path or an IRI means; runs off the interface thread."""
    if asked.lower().endswith(".md") and (engine.vault / asked).is_file():
        return Place(asked, line, "note", asked, asked[:-3])
    try:
        entity = engine.entity(asked)
    except UnknownEntity:
        return Place(asked, line, "unwritten", id=asked.removesuffix(".md"), label=asked)
    except InvalidId:
        return Place(asked, line, "none", label=asked)
    return Place(asked, line, entity.kind, entity.path or "", entity.id, entity.label)


class Navigator(QObject):
    """Shows what the session is asked for, and remembers where a person was."""

    writeRequested = Signal(str)
    """The path of a note to write; it does not exist yet."""
    trailChanged = Signal(bool, bool)
    """Whether one can go back and forward."""

    def __init__(self, session: Session, tabs: NoteTabs, bars: Bars, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._tabs = tabs
        self._bars = bars
        self._trail: list[str] = []
        self._at = -1
        self._moving = False
        self.recent: list[str] = []
        """Paths, the last one first."""
        session.noteRequested.connect(self.request)
        tabs.activated.connect(self._activated)

    @Slot(str, int)
    def request(self, asked: str, line: int = 0) -> None:
        """Show an entity, or offer to write it."""
        self._session.run(find_place, self._session.engine, asked, line, done=self._found)

    @Slot(object)
    def _found(self, place: Place) -> None:
        if place.path.lower().endswith(".md"):
            self._bars.withdraw("place")
            self._tabs.open(place.path, place.line)
        elif place.path:
            self._offer_file(place)
        elif place.kind == "unwritten":
            self._offer_note(place)
        else:
            self._session.entitySelected.emit(place.id)
            self._bars.bar("place").say(
                self.tr("“{name}” is not a note, so there is nothing to open.").format(
                    name=place.label or place.asked
                ),
                passing=True,
            )

    def _offer_file(self, place: Place) -> None:
        file = QUrl.fromLocalFile(str(self._session.engine.vault / place.path))
        self._bars.bar("place").say(
            self.tr("{name} is not a note.").format(name=PurePosixPath(place.path).name),
            [(self.tr("Open it in its application"), lambda: QDesktopServices.openUrl(file))],
            passing=True,
        )

    def _offer_note(self, place: Place) -> None:
        name = note_name(place.id)
        if name.problem:
            self._bars.bar("place").say(
                self.tr("“{name}” cannot be the name of a note. {problem}").format(
                    name=place.id, problem=name.problem
                ),
                icon="warning",
                color="warning",
            )
            return
        self._bars.bar("place").say(
            self.tr("“{name}” is not written yet.").format(name=place.id),
            [(self.tr("Write it"), lambda: self.write(name.path))],
            icon="note-new",
        )

    def write(self, path: str) -> None:
        """Make an empty note and open it."""
        self._bars.withdraw("place")
        self._pending = path
        self._session.run(
            self._session.engine.write_note, path, b"", None, done=self._made, failed=self._not_made
        )

    @Slot(object)
    def _made(self, _report: object) -> None:
        self._tabs.open(self._pending)

    @Slot(object)
    def _not_made(self, error: BaseException) -> None:
        self._bars.bar("place").say_error(*in_words(error))

    # -- back and forward ----------------------------------------------------------------------

    @Slot(str)
    def _activated(self, path: str) -> None:
        self._session.set_current(path or None)
        if not path:
            return
        self.recent = [path, *(other for other in self.recent if other != path)][:MOST_REMEMBERED]
        if not self._moving and (self._at < 0 or self._trail[self._at] != path):
            self._trail = [*self._trail[: self._at + 1], path][-MOST_REMEMBERED:]
            self._at = len(self._trail) - 1
        self._tell()

    def _tell(self) -> None:
        self.trailChanged.emit(self._at > 0, self._at < len(self._trail) - 1)

    def back(self) -> None:
        self._step(-1)

    def forward(self) -> None:
        self._step(1)

    def _step(self, step: int) -> None:
        if 0 <= self._at + step < len(self._trail):
            self._at += step
            self._moving = True
            self._tabs.open(self._trail[self._at])
            self._moving = False
            self._tell()

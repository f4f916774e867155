"""Saving an answer to a file, in the formats of its kind; always of the query that ran."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFileDialog, QMenu, QToolButton

from synapse.engine.errors import WriteFailed
from synapse.engine.graph.formats import serialize_graph, serialize_results
from synapse.engine.graph.results import GraphResult
from synapse.window.console.running import Answer
from synapse.window.panel import Panel, tool_button
from synapse.window.session import Session, in_words
from synapse.window.theme import Theme


@dataclass(frozen=True, slots=True)
class Format:
    """key: as the engine names it."""

    key: str
    ending: str
    name: str


TABLE_FORMATS = (
    Format("csv", "csv", "CSV"),
    Format("tsv", "tsv", "TSV"),
    Format("json", "json", "SPARQL JSON"),
    Format("xml", "xml", "SPARQL XML"),
)
GRAPH_FORMATS = (
    Format("turtle", "ttl", "Turtle"),
    Format("ntriples", "nt", "N-Triples"),
    Format("jsonld", "jsonld", "JSON-LD"),
    Format("rdfxml", "rdf", "RDF/XML"),
)


def save_answer(answer: Answer, format: Format, path: str) -> str:
    """Writes a file and gives its path back. Raises WriteFailed. Runs in the read pool."""
    if isinstance(answer.result, GraphResult):
        content = serialize_graph(answer.result, format.key)
    else:
        content = serialize_results(answer.result, format.key)
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise WriteFailed(
            f"{path} could not be written: {error.strerror or error}.", "Choose another place."
        ) from error
    return path


class ExportMenu(QObject):
    """The export button of a console: a menu of the formats that fit the answer."""

    def __init__(self, panel: Panel, session: Session, theme: Theme) -> None:
        super().__init__(panel)
        self._panel = panel
        self._session = session
        self._answer: Answer | None = None
        self.button = tool_button(theme, "export", self.tr("Save the answer to a file"), panel)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.menu = QMenu(self.button)
        self.button.setMenu(self.menu)
        self.button.setEnabled(False)

    def set_answer(self, answer: Answer) -> None:
        self._answer = answer
        self.menu.clear()
        for format in self.formats():
            action = QAction(f"{format.name} (.{format.ending})", self.menu)
            action.triggered.connect(lambda _checked=False, format=format: self._choose(format))
            self.menu.addAction(action)
        self.button.setEnabled(True)

    def formats(self) -> tuple[Format, ...]:
        """Those that fit the answer."""
        return GRAPH_FORMATS if self._answer is not None and self._answer.kind == "graph" else TABLE_FORMATS

    def _choose(self, format: Format) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self._panel, self.tr("Save the answer"), f"answer.{format.ending}", f"*.{format.ending}"
        )
        if path:
            self.save(format, path)

    def save(self, format: Format, path: str) -> None:
        """Saves the answer that is shown, off the interface thread."""
        if self._answer is not None:
            self._session.run(
                save_answer, self._answer, format, path, done=self._saved, failed=self._failed
            )

    @Slot(object)
    def _saved(self, path: str) -> None:
        self.button.setToolTip(self.tr("Saved as {path}").format(path=path))

    @Slot(object)
    def _failed(self, error: BaseException) -> None:
        self._session.problem.emit(*in_words(error))

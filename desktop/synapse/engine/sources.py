"""What states a fact, down to the line: described from files and journal when it is asked for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from pyoxigraph import NamedNode, Triple

from synapse.engine.errors import FileUnreadable
from synapse.engine.file_index import FileIndex
from synapse.engine.notes import LinkResolver, Span, read_bytes
from synapse.engine.questions.results import Source, SourceKind
from synapse.engine.statements import state_file
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace

_REMEMBERED = 64
"""Files whose facts' places are kept, the last used."""

_SNIPPET = 160
"""Characters of a snippet."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The places of a file's facts, and what its links were resolved with."""

    resolver: LinkResolver
    places: Mapping[Triple, tuple[Span, str]]


class Places:
    """Where in its file each fact stands; read from the file when first asked for."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._lock = Lock()
        self._read: OrderedDict[tuple[str, str], _Read] = OrderedDict()

    def find(self, path: str, triple: Triple) -> tuple[Span, str] | None:
        """The span and the line's text, or None where the file does not say it (any more)."""
        index = self._workspace.published
        record = index.files.get(path)
        if record is None or record.kind != "note":
            return None
        key = (path, record.hash)
        with self._lock:
            read = self._read.get(key)
            if read is not None:
                self._read.move_to_end(key)
        if read is None or (triple not in read.places and read.resolver is not index.resolver):
            # Files that came or went, or words with another meaning, make other facts of the same text.
            read = _Read(index.resolver, self._places(index, path))
            with self._lock:
                self._read[key] = read
                while len(self._read) > _REMEMBERED:
                    self._read.popitem(last=False)
        return read.places.get(triple)

    def _places(self, index: FileIndex, path: str) -> dict[Triple, tuple[Span, str]]:
        try:
            content = read_bytes(self._workspace.vault / path)
        except FileUnreadable:
            return {}
        found: dict[Triple, tuple[Span, str]] = {}
        for triple, span in state_file(index, path, content).places:
            if triple not in found and span is not None:
                start = content.rfind(b"\n", 0, span.start) + 1
                stop = content.find(b"\n", span.start)
                line = content[start : len(content) if stop < 0 else stop]
                text = line.decode("utf-8", "replace").strip()
                found[triple] = (span, text if len(text) <= _SNIPPET else text[:_SNIPPET] + "…")
        return found

    def sources(self, triple: Triple, graphs: list[NamedNode]) -> tuple[Source, ...]:
        """Each of the named graphs that state a fact, described; meta is no source."""
        return tuple(self._source(triple, graph) for graph in graphs if graph != v.META)

    def _source(self, triple: Triple, graph: NamedNode) -> Source:
        workspace, iri = self._workspace, graph.value
        since = workspace.history.first_known(triple, graph)
        index = workspace.published
        path = index.graph_paths.get(iri)
        if path is not None:
            record = index.files.get(path)
            kind: SourceKind = "note" if record is not None and record.kind == "note" else "file"
            place = self.find(path, triple)
            if place is None:
                return Source(kind, iri, path, path=path, since=since)
            span, text = place
            return Source(kind, iri, path, path, span.line, span.column, text, since)
        if iri.startswith(v.ASSERTION):
            assertion = workspace.projection.of_graph(graph)
            if assertion is not None:
                event = assertion.event
                return Source(
                    "agent", iri, event.who.name, since=since, agent=event.who.name, reason=event.why,
                    stated_source=assertion.source, assertion=assertion.id,
                )  # fmt: skip
            return Source("agent", iri, "an agent", since=since)
        if iri.startswith(v.ONTOLOGY):
            return Source("ontology", iri, iri[len(v.ONTOLOGY) :], since=since)
        return Source("memory" if iri.startswith(v.MEMORY) else "file", iri, iri, since=since)

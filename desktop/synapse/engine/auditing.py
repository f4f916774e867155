"""Proof that graph, catalogue, journal and files agree, and mending where they do not.

What should be is worked out from the truth alone and compared with what is there (data-model.md
section 3, the invariants). The truth is never changed.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.catalogue import FileRecord
from synapse.engine.changes import ChangeSet, Delta, GraphChange
from synapse.engine.errors import FileUnreadable
from synapse.engine.expected import FileProvenance, described, journal_changes, ontology_changes
from synapse.engine.notes import READER_VERSION, content_hash, read_bytes
from synapse.engine.questions.results import CheckReport, Finding
from synapse.engine.record import project, provenance, utc_now
from synapse.engine.statements import state_file
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace

_PROVENANCE = (v.RDF_TYPE, v.PROV_WAS_DERIVED_FROM, v.PROV_WAS_GENERATED_BY)


class Audit:
    """One check of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings: list[Finding] = []
        self._changes: list[GraphChange] = []
        self._reread: list[str] = []
        """Files that must be read again whatever the catalogue says of them."""
        self._made = FileProvenance(workspace, utc_now())

    def run(self, *, repair: bool) -> tuple[CheckReport, ChangeSet | None]:
        """Compare everything; with `repair` mend it and compare again.

        `ok` says whether nothing is amiss now. A file that was edited since it was last indexed is
        a finding too, because the graph does not say what the file says.
        """
        self._check()
        found = tuple(self._findings)
        if not found or not repair:
            return CheckReport(not found, found), None
        changeset = self._mend()
        again = Audit(self._workspace)
        again._check()
        left = tuple(again._findings)
        return CheckReport(not left, left or found, repaired=not left), changeset

    def _find(self, kind: str, where: str, what: str) -> None:
        self._findings.append(Finding(kind, where, what))

    def _check(self) -> None:
        self._store_itself()
        self._files()
        self._sources_outside()
        self._inferences()

    # -- one invariant each --------------------------------------------------------------------

    def _store_itself(self) -> None:
        """The default graph is the union of the named ones, the inferred graph apart from it."""
        for fault in self._workspace.store.audit():
            self._find(fault.kind, str(fault.triple), f"It is {fault}.".partition(":")[0] + ".")

    def _files(self) -> None:
        """Each file's graph and catalogue row say what the file says."""
        workspace = self._workspace
        graphs: set[str] = set()
        for path, record in sorted(workspace.files.items()):
            if record.kind == "attachment":
                continue
            graph = workspace.identities.document(path)
            graphs.add(graph.value)
            try:
                status = (workspace.vault / path).stat()
                content = read_bytes(workspace.vault / path)
            except (OSError, FileUnreadable):
                if (workspace.vault / path).exists():
                    continue  # it may not be read: what is known of it stands
                self._find("file-gone", path, "The file is gone and its facts are still known.")
                self._reread.append(path)
                continue
            if content_hash(content, str(READER_VERSION)) != record.hash:
                self._reread.append(path)
                if (status.st_size, status.st_mtime_ns) == (record.size, record.mtime_ns):
                    self._find("catalogue-hash", path, "The catalogue's hash is not that of the file.")
                else:
                    self._find("not-indexed", path, "The file changed since it was indexed.")
                continue
            self._file(path, record, content, graph)
        for graph in workspace.store.graphs():
            is_file = workspace.identities.path_of(graph.value) is not None
            if is_file and graph.value not in graphs:
                self._orphan(graph, "No file of the vault states it.")

    def _file(self, path: str, record: FileRecord, content: bytes, graph: NamedNode) -> None:
        workspace = self._workspace
        statement = state_file(workspace, path, content)
        change = statement.change(workspace.store.triples(graph))
        if change:
            missing, stray = len(change.added), len(change.removed)
            self._find("graph-differs", path, f"{missing} facts of the file are missing, {stray} are stray.")
            self._changes.append(change)
        wanted = statement.entry(record)
        links = workspace.catalogue.links(source=path)
        if list(wanted.links) != links or wanted.record != record or workspace.catalogue.file(path) != record:
            self._find("catalogue-differs", path, "The catalogue does not say what the file says.")
            self._reread.append(path)
        self._provenance(graph, record.hash, path)

    def _provenance(self, graph: NamedNode, digest: str, where: str) -> None:
        """One entity, derived from something, made by one activity that has times and an agent."""
        said = described(self._workspace, [graph])
        predicates = {triple.predicate for triple in said}
        hashes = {
            triple.object.value
            for triple in said
            if triple.predicate == provenance.CONTENT_HASH and isinstance(triple.object, Literal)
        }
        activities = [
            triple.object
            for triple in said
            if triple.predicate == v.PROV_WAS_GENERATED_BY and isinstance(triple.object, NamedNode)
        ]
        complete = len(activities) == 1
        if complete:
            of_activity = {t.predicate for t in described(self._workspace, activities)}
            complete = {
                v.PROV_STARTED_AT_TIME,
                v.PROV_ENDED_AT_TIME,
                v.PROV_WAS_ASSOCIATED_WITH,
            } <= of_activity
        if not complete or not predicates.issuperset(_PROVENANCE) or hashes != {digest}:
            self._find("provenance", where, "Its provenance is incomplete or does not fit.")
            if where in self._workspace.files:
                self._made.read(where, digest, known=True)

    def _orphan(self, graph: NamedNode, why: str) -> None:
        triples = frozenset(self._workspace.store.triples(graph))
        self._find("orphan-graph", graph.value, f"{why} It holds {len(triples)} facts.")
        self._changes.append(GraphChange(graph, removed=triples))
        said = frozenset(described(self._workspace, [graph]))
        self._changes.append(GraphChange(v.META, removed=said))

    def _sources_outside(self) -> None:
        """Agents' graphs say what the journal says, ontologies what the scenarios say."""
        workspace = self._workspace
        reading = workspace.journal.read()
        for warning in reading.warnings:
            if "half-written" not in warning.message:
                self._find("journal-line", f"{warning.file}:{warning.line}", warning.message)
        if dict(reading.positions) != workspace.store.journal_positions():
            self._find("journal-not-applied", ".synapse/journal", "The graph has not taken in all of it.")
        events = project(reading.events, workspace.iri_of_id, workspace.words, workspace.identities)
        self._compare("journal", journal_changes(workspace, events), set(events.graphs))
        ontologies, self._rows = ontology_changes(workspace, self._made.activity, everything=True)
        if self._rows != workspace.catalogue.ontologies():
            self._find("catalogue-differs", "scenarios", "The catalogue does not know the loaded files.")
        self._compare("scenarios", ontologies, {NamedNode(graph) for graph in self._rows})

    def _compare(self, what: str, changes: Iterable[GraphChange], wanted: set[NamedNode]) -> None:
        for change in changes:
            if not change:
                continue
            self._changes.append(change)
            if change.graph not in wanted and change.graph != v.META:
                text = f"Nothing of the {what} states it. It holds {len(change.removed)} facts."
                self._find("orphan-graph", change.graph.value, text)
            else:
                text = f"{len(change.added)} facts are missing, {len(change.removed)} are stray."
                self._find("graph-differs", f"{what}: {change.graph.value}", text)

    def _inferences(self) -> None:
        """The inferred graph is what follows from scratch, and nothing that is stated."""
        wanted, present = self._from_scratch()
        for triple in sorted(present - wanted, key=str)[:20]:
            self._find("inferred-stray", str(triple), "It is inferred and does not follow.")
        for triple in sorted(wanted - present, key=str)[:20]:
            self._find("inferred-missing", str(triple), "It follows and is not inferred.")

    def _from_scratch(self) -> tuple[set[Triple], set[Triple]]:
        workspace = self._workspace
        derived = workspace.new_reasoner().rebuild(workspace.premises())
        wanted = {triple for triple in derived if not workspace.store.contains(triple, "stated")}
        return wanted, set(workspace.store.triples(v.INFERRED))

    # -- mending -------------------------------------------------------------------------------

    def _mend(self) -> ChangeSet:
        from synapse.engine.indexing import Indexer  # the indexer checks nothing

        workspace = self._workspace
        workspace.store.repair()
        workspace.forget(self._reread)
        workspace.read_journal()
        workspace.commit([*self._changes, self._made.change(used=True)], journal=workspace.journal_positions)
        workspace.catalogue.set_ontologies(self._rows)
        Indexer(workspace).run(accept_deletions=True)
        wanted, present = self._from_scratch()
        return workspace.set_inferred(Delta(frozenset(wanted - present), frozenset(present - wanted)))

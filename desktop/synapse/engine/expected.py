"""What the graph must hold according to the truth alone: files, journal, scenarios.

Each function answers for one kind of source with the changes that bring the store in line; no change
means that it is in line.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import NamedNode, Triple

from synapse.engine.changes import GraphChange
from synapse.engine.errors import SynapseError
from synapse.engine.record import Projection, provenance, utc_now
from synapse.engine.scenarios import own_terms
from synapse.engine.scenarios.packages import OntologyFile
from synapse.engine.terms import vocabulary as v
from synapse.engine.workspace import Workspace

OntologyRows = dict[str, tuple[str, int]]
"""Graph IRI -> hash of its file, number of triples."""


def described(workspace: Workspace, nodes: Iterable[NamedNode]) -> set[Triple]:
    """What meta says of some graphs or activities."""
    return {triple for node in nodes for triple in workspace.store.match(node, view=v.META)}


def abandoned(workspace: Workspace, removed: set[Triple], added: set[Triple]) -> set[Triple]:
    """What meta says of activities that made nothing any more, once these statements changed."""
    found: set[Triple] = set()
    for triple in removed:
        activity = triple.object
        if triple.predicate != v.PROV_WAS_GENERATED_BY or not isinstance(activity, NamedNode):
            continue
        made = set(workspace.store.match(None, v.PROV_WAS_GENERATED_BY, activity, view=v.META))
        if not (made - removed) and not any(other.object == activity for other in added):
            found |= described(workspace, [activity])
    return found


# -- scenarios -----------------------------------------------------------------------------------


def ontology_files(workspace: Workspace) -> list[OntologyFile]:
    """The files of all installed scenarios, our own terms first."""
    return own_terms() + [file for scenario in workspace.scenarios for file in scenario.files]


def ontology_changes(
    workspace: Workspace, activity: NamedNode, *, everything: bool = False
) -> tuple[list[GraphChange], OntologyRows]:
    """Changes that bring the scenarios' graphs in line; a file is read only where its hash moved.

    everything: read all, whatever the catalogue says. A file that cannot be read is left as it was.
    """
    known = workspace.catalogue.ontologies()
    changes: list[GraphChange] = []
    rows: OntologyRows = {}
    meta_added: set[Triple] = set()
    meta_removed: set[Triple] = set()
    for file in ontology_files(workspace):
        graph = file.graph.value
        before = known.get(graph)
        if before is not None and before[0] == file.hash and not everything:
            rows[graph] = before
            continue
        try:
            triples = file.triples()
        except SynapseError as error:
            workspace.problems.append(error)
            continue
        rows[graph] = (file.hash, len(triples))
        old = frozenset(workspace.store.triples(file.graph))
        changes.append(GraphChange(file.graph, old - triples, triples - old))
        if before is None or before[0] != file.hash or old != triples:
            meta_removed |= described(workspace, [file.graph])
            meta_added |= provenance.ontology(file.graph, file.path.name, file.hash, activity)
    for held in workspace.store.graphs():
        if held.value.startswith(v.ONTOLOGY) and held.value not in rows:
            changes.append(GraphChange(held, removed=frozenset(workspace.store.triples(held))))
            meta_removed |= described(workspace, [held])
    if meta_added or meta_removed:
        meta_removed |= abandoned(workspace, meta_removed, meta_added)
        changes.append(GraphChange(v.META, frozenset(meta_removed - meta_added), frozenset(meta_added)))
    return changes, rows


# -- journal -------------------------------------------------------------------------------------


def journal_changes(workspace: Workspace, projection: Projection) -> list[GraphChange]:
    """Changes that bring the agents' graphs and their provenance in line with the journal."""
    wanted = projection.graphs
    changes = []
    present = {graph for graph in workspace.store.graphs() if graph.value.startswith(v.ASSERTION)}
    for graph in sorted(present | set(wanted), key=lambda graph: graph.value):
        old = frozenset(workspace.store.triples(graph))
        new = wanted.get(graph, frozenset())
        changes.append(GraphChange(graph, old - new, new - old))
    meta = projection.meta
    held = _journal_meta(workspace)
    # An agent is described alike by everything it did: what is gone here may stand for the rest.
    gone = {triple for triple in held - meta if not str(triple.subject).startswith(f"<{v.AGENT}")}
    changes.append(GraphChange(v.META, frozenset(gone), frozenset(meta - held)))
    return [change for change in changes if change]


def _journal_meta(workspace: Workspace) -> set[Triple]:
    """What meta says of assertions, of the activities that made and withdrew them, and of agents."""
    found: set[Triple] = set()
    for link in (v.PROV_WAS_GENERATED_BY, v.PROV_WAS_INVALIDATED_BY):
        for triple in workspace.store.match(None, link, view=v.META):
            node, activity = triple.subject, triple.object
            if isinstance(node, NamedNode) and node.value.startswith(v.ASSERTION):
                assert isinstance(activity, NamedNode)
                found |= described(workspace, [node, activity])
    for kind in (v.PROV_PERSON, v.PROV_SOFTWARE_AGENT):
        for triple in workspace.store.match(None, v.RDF_TYPE, kind, view=v.META):
            assert isinstance(triple.subject, NamedNode)
            found |= described(workspace, [triple.subject])
    return found


# -- files ---------------------------------------------------------------------------------------


class FileProvenance:
    """What meta gains and loses for the files of one index run."""

    def __init__(self, workspace: Workspace, started: str) -> None:
        self._workspace = workspace
        self._started = started
        self.activity = provenance.new_activity(started)
        self._added: set[Triple] = set()
        self._removed: set[Triple] = set()

    def read(self, path: str, content_hash: str, *, known: bool) -> None:
        """The file was read: its graph was made anew. known: meta describes it already."""
        graph = self._workspace.identities.document(path)
        if known:
            self._removed |= described(self._workspace, [graph])
        self._added |= provenance.document(graph, path, content_hash, self.activity)

    def gone(self, path: str) -> None:
        """The file is deleted."""
        self._removed |= described(self._workspace, [self._workspace.identities.document(path)])

    def change(self, *, used: bool = False) -> GraphChange:
        """used: something else of this run names the activity."""
        added = set(self._added)
        if added or used:
            added |= provenance.activity(self.activity, self._started, utc_now(), provenance.INDEXER)
        removed = self._removed | abandoned(self._workspace, self._removed, added)
        return GraphChange(v.META, frozenset(removed - added), frozenset(added))

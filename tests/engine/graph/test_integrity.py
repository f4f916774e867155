"""A store that breaks its invariants says so, fact by fact, and is mended from its named graphs."""

from __future__ import annotations

from pathlib import Path

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Store, Triple

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.graph import Fault, GraphStore
from synapse.engine.terms import vocabulary as v

GRAPH = NamedNode("vault:/a.md")
STATED = Triple(GRAPH, v.RDFS_LABEL, Literal("stated"))
STRAY = Triple(GRAPH, v.RDFS_LABEL, Literal("stray"))
DERIVED = Triple(GRAPH, v.RDFS_LABEL, Literal("derived"))


def damaged(folder: Path) -> GraphStore:
    store = GraphStore.open(folder)
    store.apply([GraphChange(GRAPH, added=frozenset({STATED}))], Delta(added=frozenset({DERIVED})))
    store.close()
    raw = Store(folder)
    raw.remove(Quad(STATED.subject, STATED.predicate, STATED.object, DefaultGraph()))
    raw.add(Quad(STRAY.subject, STRAY.predicate, STRAY.object, DefaultGraph()))
    raw.add(Quad(STATED.subject, STATED.predicate, STATED.object, v.INFERRED))
    del raw
    return GraphStore.open(folder)


def test_every_fault_is_named(tmp_path: Path) -> None:
    store = damaged(tmp_path)
    assert store.audit() == [
        Fault("inferred-but-stated", STATED),
        Fault("missing-from-union", STATED),
        Fault("stray-in-union", STRAY),
    ]
    assert "no named graph states it" in str(store.audit()[2])
    store.close()


def test_repair_mends_exactly_the_faults(tmp_path: Path) -> None:
    store = damaged(tmp_path)
    before = store.revision
    assert len(store.repair()) == 3
    assert store.audit() == []
    assert store.revision.number == before.number + 1
    assert store.match(view=GRAPH) == [STATED]
    assert store.match(view="inferred") == [DERIVED]
    assert store.repair() == []
    assert store.revision.number == before.number + 1
    store.close()

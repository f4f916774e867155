"""Whatever terms a change holds, exactly they are stored and nothing else happens."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, Literal, NamedNode, Triple

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.graph import GraphStore
from synapse.engine.terms import canonical
from synapse.engine.terms import vocabulary as v

GRAPH, OTHER = NamedNode("vault:/a.md"), NamedNode("vault:/b.md")
WITNESS = Triple(NamedNode("vault:/witness"), v.RDFS_LABEL, Literal("untouched"))

HOSTILE = st.sampled_from(
    [
        '" . } ; DROP ALL ; #',
        "'''\"\"\"",
        "\\",
        '\\"',
        "\\u0022 . <a:a> <a:b> <a:c> }",
        "}};CLEAR ALL;INSERT DATA{GRAPH<a:g>{",
        "\n# \r\n",
        "\x00\x01\x1f\x7f\x85\u2028\ufeff",
        "a\\",
        ">",
        "<a:b>",
        "_:b",
        "?x $y",
        "@en",
        '"^^<a:b>',
    ]
)
TEXT = st.one_of(st.text(), st.lists(HOSTILE | st.text(max_size=3), max_size=4).map("".join))


def iri(text: str) -> NamedNode | None:
    try:
        return NamedNode("vault:/" + text)
    except ValueError:
        return None


IRIS = st.one_of(st.sampled_from(["a", "b", "%20", "a(b)", "it's", "ü", "a,b;c", "*!$&"]), TEXT).map(iri)
NODES = IRIS.filter(lambda node: node is not None)
TYPED = st.builds(
    lambda text, kind: Literal(text, datatype=NamedNode(v.XSD + kind)),
    st.sampled_from(["01", "1.50", "1", "true", "2020-01-01", "-0", "1e3", "P1D", "INF"]) | TEXT,
    st.sampled_from(["integer", "decimal", "double", "boolean", "date", "dateTime", "duration", "x"]),
)
TAGGED = st.builds(lambda text, tag: Literal(text, language=tag), TEXT, st.sampled_from(["en", "EN-us"]))
DIRECTED = TEXT.map(lambda text: Literal(text, language="ar", direction=BaseDirection.RTL))
LITERALS = st.one_of(TEXT.map(Literal), TYPED, TAGGED, DIRECTED)
FACTS = st.builds(Triple, NODES, NODES, NODES | LITERALS)
STATEMENTS = st.builds(Triple, NODES, NODES, NODES | LITERALS | FACTS)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path_factory.mktemp("updates") / "store")
    opened.apply([GraphChange(OTHER, added=frozenset({WITNESS}))])
    yield opened
    opened.close()


def kept(triple: Triple) -> Triple:
    value = triple.object
    if isinstance(value, Literal):
        value = canonical(value)
    elif isinstance(value, Triple):
        value = kept(value)
    return Triple(triple.subject, triple.predicate, value)


@settings(max_examples=250)
@given(st.lists(STATEMENTS, max_size=5))
def test_any_facts_go_in_and_out_again(store: GraphStore, facts: list[Triple]) -> None:
    before = store.revision
    store.apply([GraphChange(GRAPH, added=frozenset(facts))])
    assert set(store.triples(GRAPH)) == {kept(fact) for fact in facts}
    for fact in facts:
        assert store.sources(kept(fact)) == [GRAPH]
    store.apply([GraphChange(GRAPH, removed=frozenset(facts))])
    assert store.triples(GRAPH) == []
    assert store.triples(OTHER) == [WITNESS]
    assert store.graphs() == [v.META, OTHER]
    assert store.revision.number == before.number + 2
    assert {fact for fact in store.match(view="stated") if fact.subject != v.STORE} == {WITNESS}


@settings(max_examples=60)
@given(NODES, st.text(min_size=1, max_size=20))
def test_any_graph_name_and_journal_name(store: GraphStore, graph: NamedNode, name: str) -> None:
    fact = Triple(graph, graph, graph)
    store.apply([GraphChange(graph, added=frozenset({fact}))], journal={name: 7})
    assert store.triples(graph) == [fact]
    assert store.journal_positions()[name] == 7
    store.apply([GraphChange(graph, removed=frozenset({fact}))], journal={name: 8})
    assert store.journal_positions()[name] == 8
    assert store.triples(graph) == []


@settings(max_examples=150)
@given(LITERALS)
def test_the_canonical_form_is_what_the_store_gives_back(store: GraphStore, literal: Literal) -> None:
    fact = Triple(NamedNode("vault:/x"), v.RDFS_LABEL, literal)
    store.apply([GraphChange(GRAPH, added=frozenset({fact}))])
    (stored,) = store.triples(GRAPH)
    assert stored.object == canonical(literal) == canonical(canonical(literal))
    store.apply([GraphChange(GRAPH, removed=frozenset({stored}))])


# -- the union, whatever changes -------------------------------------------------------------

SMALL_FACTS = [Triple(NamedNode(f"vault:/{s}"), v.RDFS_LABEL, Literal(o)) for s in "ab" for o in (1, 2, "x")]
SMALL_GRAPHS = [NamedNode(f"vault:/{name}.md") for name in "pqr"]
SETS = st.frozensets(st.sampled_from(SMALL_FACTS), max_size=4)
CHANGES = st.builds(GraphChange, st.sampled_from(SMALL_GRAPHS), SETS, SETS)


@settings(max_examples=60)
@given(st.lists(st.lists(CHANGES, max_size=4), max_size=5))
def test_after_any_changes_the_union_holds_and_the_delta_was_foretold(
    store: GraphStore, writes: list[list[GraphChange]]
) -> None:
    store.load({OTHER: [WITNESS]})
    model: dict[NamedNode, set[Triple]] = {graph: set() for graph in SMALL_GRAPHS}

    def union() -> set[Triple]:
        return set().union(*model.values())

    for changes in writes:
        before = union()
        foretold = store.union_delta(changes, lambda *_: True)
        for change in changes:
            model[change.graph] = (model[change.graph] - change.removed) | change.added
        assert foretold == Delta(frozenset(union() - before), frozenset(before - union()))
        store.apply(changes)
        for graph in SMALL_GRAPHS:
            assert set(store.triples(graph)) == model[graph]
        assert set(store.graphs()) == {v.META, OTHER, *(graph for graph in model if model[graph])}
        assert store.audit() == []
    stated = {fact for fact in store.match(view="stated") if fact.subject != v.STORE}
    assert stated == union() | {WITNESS}

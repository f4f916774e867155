"""What a query sees, how its answer is bounded, and what its errors say."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.errors import InvalidQuery, QueryStopped, RefusedQuery
from synapse.engine.graph import AskResult, GraphResult, GraphStore, SelectResult
from synapse.engine.terms import vocabulary as v


def node(name: str) -> NamedNode:
    return NamedNode("vault:/" + name)


KNOWS = NamedNode(v.SCHEMA + "knows")
BOB, ALICE, EVE = node("people/bob"), node("people/alice"), node("people/eve")
NOTE_A, NOTE_B = node("people/alice.md"), node("people/bob.md")
A_B, B_A, A_E = Triple(ALICE, KNOWS, BOB), Triple(BOB, KNOWS, ALICE), Triple(ALICE, KNOWS, EVE)
LABEL = Triple(BOB, v.RDFS_LABEL, Literal("Bob"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path_factory.mktemp("queries") / "store")
    opened.apply(
        [
            GraphChange(NOTE_A, added=frozenset({A_B, A_E})),
            GraphChange(NOTE_B, added=frozenset({A_B, LABEL})),
        ],
        Delta(added=frozenset({B_A})),
    )
    yield opened
    opened.close()


def rows(store: GraphStore, text: str, **options: object) -> list[tuple[object, ...]]:
    result = store.query(text, **options)  # type: ignore[arg-type]
    assert isinstance(result, SelectResult)
    return sorted(result.rows, key=str)


def number(store: GraphStore, text: str, **options: object) -> int:
    ((found,),) = rows(store, text, **options)
    assert isinstance(found, Literal)
    return int(found.value)


def test_the_three_views_and_a_single_graph(store: GraphStore) -> None:
    text = "SELECT ?s ?o { ?s schema:knows ?o }"
    assert rows(store, text) == [(ALICE, BOB), (ALICE, EVE), (BOB, ALICE)]
    assert rows(store, text, view="stated") == [(ALICE, BOB), (ALICE, EVE)]
    assert rows(store, text, view="inferred") == [(BOB, ALICE)]
    assert rows(store, text, view=NOTE_B) == [(ALICE, BOB)]


def test_paths_cross_stated_and_inferred_facts_and_count_each_once(store: GraphStore) -> None:
    assert rows(store, "SELECT ?o { <people/bob> schema:knows+ ?o }") == [(ALICE,), (BOB,), (EVE,)]
    assert number(store, "SELECT (COUNT(*) AS ?n) { ?s schema:knows ?o }") == 3


def test_named_graphs_are_there_whatever_the_view(store: GraphStore) -> None:
    text = "SELECT ?g { GRAPH ?g { <people/alice> schema:knows <people/bob> } }"
    assert rows(store, text) == rows(store, text, view="inferred") == [(NOTE_A,), (NOTE_B,)]


def test_relative_iris_and_known_prefixes_need_no_declaration(store: GraphStore) -> None:
    assert rows(store, "SELECT ?l { <people/bob> rdfs:label ?l }") == [(Literal("Bob"),)]


def test_a_querys_own_prefixes_and_base_win(store: GraphStore) -> None:
    assert rows(store, "PREFIX schema: <urn:other:> SELECT ?s { ?s schema:knows ?o }") == []
    assert rows(store, "BASE <vault:/people/> SELECT ?o { <bob> rdfs:label ?o }") == [(Literal("Bob"),)]


def test_from_with_several_graphs_is_their_distinct_union(store: GraphStore) -> None:
    source = "FROM <people/alice.md> FROM <people/bob.md>"
    assert number(store, f"SELECT (COUNT(*) AS ?n) {source} {{ ?s schema:knows ?o }}") == 2
    assert rows(store, f"SELECT ?s ?o {source} {{ ?s schema:knows ?o }}") == [(ALICE, BOB), (ALICE, EVE)]
    pattern = "{ ?s schema:knows ?o GRAPH ?g { ?s ?p ?o } }"
    with_graph = f"SELECT ?o ?g {source} FROM NAMED <people/bob.md> {pattern}"
    assert rows(store, with_graph) == [(BOB, NOTE_B)]
    assert number(store, f"SELECT (COUNT(*) AS ?n) {source} {{ GRAPH ?g {{ ?s ?p ?o }} }}") == 0


def test_from_works_with_prefixes_base_comments_and_every_form(store: GraphStore) -> None:
    prologue = "# FROM <urn:none>\nPREFIX people: <vault:/people/> BASE <vault:/people/>"
    source = "FROM people:alice.md # one\n FROM <bob.md> FROM people:bob.md"
    assert number(store, f"{prologue} SELECT (COUNT(*) AS ?n) {source} {{ ?s ?p ?o }}") == 3
    constructed = store.query(f"{prologue} CONSTRUCT {{ ?s ?p ?o }} {source} WHERE {{ ?s ?p ?o }}")
    assert isinstance(constructed, GraphResult)
    assert set(constructed.triples) == {A_B, A_E, LABEL}
    assert store.query(f"{prologue} ASK {source} {{ <alice> schema:knows <eve> }}") == AskResult(True)
    described = store.query(f"{prologue} DESCRIBE <bob> {source}")
    assert isinstance(described, GraphResult)
    assert set(described.triples) == {LABEL}


def test_one_from_and_from_of_disjoint_graphs(store: GraphStore) -> None:
    assert rows(store, "SELECT ?o FROM <people/bob.md> { <people/alice> schema:knows ?o }") == [(BOB,)]
    text = f"SELECT ?s FROM <people/bob.md> FROM {v.INFERRED} {{ ?s schema:knows ?o }}"
    assert rows(store, text) == [(ALICE,), (BOB,)]
    assert rows(store, "SELECT ?s FROM <nowhere> FROM <nowhere/else> { ?s ?p ?o }") == []


def test_from_in_names_strings_and_comments_changes_nothing(store: GraphStore) -> None:
    text = "SELECT ?from { ?from schema:knows ?o FILTER('FROM <x>' != ?o) } # FROM <people/bob.md>"
    assert rows(store, text) == [(ALICE,), (ALICE,), (BOB,)]


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_a_limit_says_whether_there_is_more(store: GraphStore, limit: int) -> None:
    selected = store.query("SELECT * { ?s schema:knows ?o }", limit=limit)
    assert isinstance(selected, SelectResult)
    assert (len(selected.rows), selected.truncated) == (limit, limit < 3)
    built = store.query("CONSTRUCT WHERE { ?s schema:knows ?o }", limit=limit)
    assert isinstance(built, GraphResult)
    assert (len(built.triples), built.truncated) == (limit, limit < 3)


def test_a_constructed_graph_has_each_triple_once(store: GraphStore) -> None:
    built = store.query("CONSTRUCT { <x> a <Y> } { ?s ?p ?o }")
    assert isinstance(built, GraphResult)
    assert built.triples == (Triple(node("x"), v.RDF_TYPE, node("Y")),)


def test_variables_come_in_the_order_asked_for_and_unbound_is_none(store: GraphStore) -> None:
    result = store.query("SELECT ?o ?none ?s { ?s rdfs:label ?o }")
    assert result == SelectResult(("o", "none", "s"), ((Literal("Bob"), None, BOB),))
    assert store.query("SELECT * {}") == SelectResult((), ((),))


ENDLESS = "SELECT * { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . ?m ?n ?o }"


def test_a_query_ends_at_its_time_limit(store: GraphStore) -> None:
    with pytest.raises(QueryStopped, match="0\\.1 s"):
        store.query(ENDLESS, timeout=0.1)


def test_a_query_ends_when_it_is_cancelled(store: GraphStore) -> None:
    cancel = threading.Event()
    timer = threading.Timer(0.1, cancel.set)
    timer.start()
    with pytest.raises(QueryStopped, match="stopped"):
        store.query(ENDLESS, cancel=cancel)
    timer.join()


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("SELECT * {", 1, 11, "ends too early"),
        ("SELECT", 1, 7, "ends too early"),
        ("SELECT * {\n ?s ?p ?o\n FILTER(?o >)\n}", 3, 13, "`)` cannot stand here"),
        ("# note\n\nSELECT * WHERE ?s ?p ?o", 3, 16, "`?s` cannot stand here"),
        ("SELECT * {\r\n\r\n ?s ?p @ }", 3, 8, "`@` cannot stand here"),
        ('SELECT * {\n\té ?s ?p "😀" ?o }', 2, 2, "`é` cannot stand here"),
        ('SELECT * { ?s ?p "😀" ) ', 1, 22, "`)` cannot stand here"),
        ("SELEC * {}", 1, 1, "`SELEC` cannot stand here"),
        ("SELECT * {?s ?p ?o} }", 1, 21, "`}` cannot stand here"),
        ("SELECT * {?s ?p ?o} LIMIT x", 1, 27, "`x` cannot stand here"),
        ("SELECT * { ?s ex:p ?o }", 1, 15, "prefix `ex:` is not declared"),
        ("SELECT * { ?s ?p <http://bad iri> }", 1, 18, "`<http://bad iri>` is no valid IRI"),
        ("SELECT * { ?s ?p 'abc }", 1, 18, "no closing quote"),
        ("SELECT * {?s ?p ?o . BIND(1 AS ?s)}", 1, 35, "overriding an existing variable"),
        ("SELECT ?x {?s ?p ?o} GROUP BY ?s", 1, 31, "variable that is unbound"),
        ("SELECT * { BIND(<urn:f>(1) AS ?x) }", 1, 17, "There is no function <urn:f>"),
        ("SELECT * { VALUES (?x ?y) { (1) } }", 1, 33, "same number of values"),
        ("SELECT * { ?s ?p '\ud800' }", 1, 19, "half of a pair"),
    ],
)
def test_an_invalid_query_is_explained_at_its_place(
    store: GraphStore, text: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(InvalidQuery) as invalid:
        store.query(text)
    assert (invalid.value.line, invalid.value.column) == (line, column)
    assert message in invalid.value.message


@pytest.mark.parametrize("text", ["", "  \n", "# only a comment"])
def test_an_empty_query_is_said_to_be_empty(store: GraphStore, text: str) -> None:
    with pytest.raises(InvalidQuery, match="empty"):
        store.query(text)


def test_what_could_stand_there_is_said(store: GraphStore) -> None:
    with pytest.raises(InvalidQuery) as invalid:
        store.query("SELECT * { GRAPH { } }")
    assert invalid.value.hint == "Expected a variable, an IRI, a prefixed name."


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * " + "{" * 20000 + "}" * 20000,
        "SELECT * { FILTER(" + "(" * 20000 + "1" + ")" * 20000 + ") }",
        "SELECT * { FILTER(" + "!" * 20000 + "true) }",
        "SELECT * { ?s ?p " + "[?p " * 20000 + "1" + "]" * 20000 + " }",
        "SELECT * { ?s ?p " + "<<( <a> <b> " * 20000 + "1" + " )>>" * 20000 + " }",
        "SELECT * { FILTER(?x IN (" + "1+" * 20000 + "1)) }",
        "SELECT * { {}" + " UNION {}" * 20000 + " }",
        "SELECT * { ?s ?p 1" + ",1" * 20000 + " }",
        'SELECT * { ?s ?p """a" ' + "(" * 20000 + ")" * 20000 + ' "\\uD800""" }',
        "SELECT * { FILTER(1<2)" + "(" * 20000 + "#>\n" + ")" * 20000 + " }",
    ],
)
def test_a_query_that_would_overflow_the_stack_is_refused(store: GraphStore, text: str) -> None:
    with pytest.raises(RefusedQuery) as refused:
        store.query(text)
    assert refused.value.line is not None


def test_ten_thousand_values_and_long_lists_are_answered(store: GraphStore) -> None:
    values = " ".join(f"({n} -{n})" for n in range(10_000))
    assert number(store, f"SELECT (COUNT(*) AS ?n) {{ VALUES (?x ?y) {{ {values} }} }}") == 10_000
    members = ", ".join(f"<people/p{n}>" for n in range(5000))
    text = f"SELECT ?s {{ ?s schema:knows ?o FILTER(?o IN ({members}, <people/eve>)) }}"
    assert rows(store, text) == [(ALICE,)]
    assert len(rows(store, "SELECT ?s { ?s rdfs:label ?l } #" + "x" * 100_000)) == 1

"""No query opens a connection, whatever its text; the word SERVICE alone does no harm."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QueryBoolean, Store, Triple

from synapse.engine.changes import GraphChange
from synapse.engine.errors import InvalidQuery, RefusedQuery
from synapse.engine.graph import GraphStore
from synapse.engine.graph.guard import check

PORTED = "http://h:80"
"""An IRI that no letter can be appended to."""


class Listener:
    """A real server that counts who knocks."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/"
        self.connections = 0
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection:
                if connection.recv(4) == b"stop":
                    return
                self.connections += 1

    def stop(self) -> None:
        with socket.create_connection(self._socket.getsockname()) as last:
            last.sendall(b"stop")
        self._thread.join()
        self._socket.close()


def facts() -> frozenset[Triple]:
    nodes = [NamedNode("vault:/a"), NamedNode(PORTED), NamedNode("http://schema.org/a.b")]
    values = [Literal(1), Literal(True), Literal("a"), *nodes]
    return frozenset(Triple(s, p, o) for s in nodes for p in nodes for o in values)


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path_factory.mktemp("guarded") / "store")
    opened.apply([GraphChange(NamedNode("vault:/a.md"), added=facts())])
    yield opened
    opened.close()


def run_unguarded(text: str) -> None:
    """What pyoxigraph does with the text when nothing stands in between."""
    store = Store()
    store.extend(Quad(*fact) for fact in facts())
    answer = store.query(text, base_iri="vault:/", prefixes={"schema": "http://schema.org/"})
    if not isinstance(answer, QueryBoolean):
        with contextlib.suppress(OSError):  # the listener hangs up: that it was called is what counts
            list(answer)


CALLS = [
    "SELECT * { SERVICE <URL> { ?s ?p ?o } }",
    "SELECT * { service\n# a comment\n<URL>{} }",
    "SELECT * { SERVICE SILENT <URL> { ?s ?p ?o } }",
    "SELECT * { SERVICESILENT<URL>{} }",
    "ASK { ?s ?p ?o FILTER EXISTS { SERVICE <URL> {} } }",
    "SELECT * { { SELECT * { SERVICE <URL> {} } } }",
    "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o . SeRvIcE <URL> {} }",
    "PREFIX e: <URL> SELECT * { SERVICE e: {} }",
    "PREFIX e: <URL> SELECT * { SERVICEe:x {} }",
    "PREFIX : <URL> SELECT * { SERVICE:x {} }",
    "PREFIX : <URL> SELECT * { SERVICE:{} }",
    "BASE <URL> SELECT * { SERVICE <x> {} }",
    "SELECT * { ?s ?p trueSERVICE<URL>{} }",
    "SELECT * { ?s ?p 1.SERVICE<URL>{} }",
    'SELECT * { ?s ?p "a"SERVICE<URL>{} }',
    "SELECT * { ?s ?p schema:a.b.SERVICE<URL>{} }",
    "PREFIX : <URL> SELECT * { FILTER(1<2)SERVICE:x#>\n{} }",
    'PREFIX : <URL> SELECT * { FILTER(1<2)SERVICE:x#"\n{} }',
    f"PREFIX h: <{PORTED}> SELECT * {{ ?s ?p h:SERVICE<URL>{{}} }}",
    f"PREFIX h: <{PORTED}> SELECT * {{ ?s h:trueSERVICE<URL>{{}} }}",
    'SELECT * { VALUES ?x { """a" } SERVICE<URL>{} BIND("" AS ?y) }',
    "SELECT * { VALUES ?x { '''a' } SERVICE<URL>{} BIND('' AS ?y) }",
]


@pytest.mark.parametrize("text", CALLS)
def test_a_text_that_calls_a_service_is_refused(text: str, store: GraphStore, listener: Listener) -> None:
    text = text.replace("URL", listener.url)
    before = listener.connections
    run_unguarded(text)
    assert listener.connections > before, "this text proves nothing: it does not call"
    before = listener.connections
    with pytest.raises(RefusedQuery) as refused:
        store.query(text)
    assert listener.connections == before
    assert refused.value.line is not None and refused.value.column is not None
    line = text.split("\n")[refused.value.line - 1]
    assert line[refused.value.column - 1 :].lower().startswith("service")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o } # SERVICE <URL> {}",
        "# SERVICE <URL> { ?s ?p ?o }\nSELECT * { ?s ?p ?o }",
        "SELECT * { ?s ?p 'SERVICE <URL> {}' }",
        'SELECT * { ?s ?p "LOAD <URL>; SERVICE <URL> {}" }',
        'SELECT * { ?s ?p """a "quoted"\nSERVICE <URL> {}\n""" }',
        "SELECT * { ?s ?p '''it's\nSERVICE <URL> {}\n''' }",
        'SELECT * { ?s ?p "C:\\\\users\\\\SERVICE <URL> {}" }',
        "SELECT * { ?s <URLSERVICE> ?o { ?o ?q ?r } }",
        "SELECT * { <service> ?service ?SERVICE { ?service ?q ?r } }",
        "PREFIX ex: <URL> SELECT * { ?s ex:service ?x { ?x ?y ?z } }",
        "PREFIX service: <URL> SELECT * { GRAPH service:g { ?s service:service ?o } }",
        "SELECT * { ?s ?p _:service . _:service ?q <a> { ?s ?p ?o } }",
        'SELECT * { ?s ?p "a"@service }',
        "SELECT (COUNT(*) AS ?services) { ?s ?p ?o FILTER(?o < 3) }",
        "SELECT * { ?load ?insert ?drop . ?load schema:service.hours ?o }",
        "SELECT * { ?s ?p \"\\u0053ERVICE\" }",
    ],
)
def test_the_word_is_harmless_where_it_is_no_keyword(
    text: str, store: GraphStore, listener: Listener
) -> None:
    before = listener.connections
    store.query(text.replace("URL", listener.url))
    assert listener.connections == before


def test_a_keyword_written_with_codepoint_escapes_is_refused() -> None:
    with pytest.raises(RefusedQuery):
        check("SELECT * { \\u0053ERVICE <http://127.0.0.1/> {} }")


FRAGMENTS = st.sampled_from(
    [
        *("SERVICE", "SERVICE<URL>{}", "SERVICE e:{}", "SERVICE:x{}", "SERVICE:x#>\n{}", "SERVICE e:#\"\n{}"),
        *("service SILENT<URL>{?s ?p ?o}", "SERVICESILENT e:x {}", "?s ?p ?o", "?s ?p ", "?s ", "h:", "h:1"),
        *("true", "a ", "1", "1.", ".", " ", "\n", ";", ",", "<a>", "<a#b>", "<it's>", "<", ">", "#", "\\"),
        *('"', "'", '"""', "'''", '""', '"a"', "'b'", '"\\""', '"""a"b"""', '"""\\uD800"', "@en", "^^"),
        *("schema:a.b", "schema:a.b.", "FILTER(1<2)", "FILTER", "(1<2)", "(", ")", "{", "}", "{}", "e:x"),
        *("OPTIONAL", "UNION", "MINUS", "EXISTS", "GRAPH ?g", "BIND(1 AS ?x)", "VALUES ?x {1}"),
        *("<<( ", " )>>", "_:b."),
    ]
)


@settings(max_examples=800)
@given(st.lists(FRAGMENTS, min_size=1, max_size=8))
def test_no_text_that_is_let_through_opens_a_connection(
    store: GraphStore, listener: Listener, fragments: list[str]
) -> None:
    declared = f"PREFIX e:<URL> PREFIX :<URL> PREFIX h:<{PORTED}> "
    text = (declared + "SELECT*{" + "".join(fragments) + "}").replace("URL", listener.url)
    before = listener.connections
    with contextlib.suppress(InvalidQuery, RefusedQuery):  # most are nonsense; only a connection is wrong
        store.query(text, limit=5)
    assert listener.connections == before


@pytest.mark.parametrize(
    "word", ["INSERT DATA", "DELETE WHERE", "CLEAR", "DROP", "CREATE", "COPY", "WITH", "LOAD"]
)
def test_updates_are_refused_by_name(word: str, store: GraphStore, listener: Listener) -> None:
    text = f"# a comment\nPREFIX insert: <{listener.url}>\n  {word.lower()} <{listener.url}>"
    before, connections = store.revision, listener.connections
    with pytest.raises(RefusedQuery, match=word.split()[0]) as refused:
        store.query(text)
    assert (refused.value.line, refused.value.column) == (3, 3)
    assert store.revision == before
    assert listener.connections == connections


def test_a_text_made_to_be_read_in_very_many_ways_is_refused_in_bounded_time() -> None:
    many = "(<a(>" * 3000
    with pytest.raises(RefusedQuery):
        check(f"SELECT * {{ {many} SERVICE ?x {{}} }}")

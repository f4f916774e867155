"""Answers and facts survive the formats, and what a format cannot hold is said."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import (
    BaseDirection,
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolutions,
    RdfFormat,
    Triple,
    parse,
    parse_query_results,
)

from synapse.engine.changes import Delta, GraphChange
from synapse.engine.errors import UsageError
from synapse.engine.graph import AskResult, GraphResult, GraphStore, SelectResult
from synapse.engine.graph.formats import (
    DATASET_FORMATS,
    RESULT_FORMATS,
    export_dataset,
    parse_rdf,
    serialize_graph,
    serialize_results,
)
from synapse.engine.terms import skolem
from synapse.engine.terms import vocabulary as v

S, P = NamedNode("vault:/a"), NamedNode("urn:p")
VALUES = [
    Literal('a,b"c'),
    Literal("line\r\nline\rline\n"),
    Literal("tab\t"),
    Literal(" spaces "),
    Literal(""),
    Literal("مرحبا", language="ar", direction=BaseDirection.RTL),
    Literal("Hallo", language="de"),
    Literal(5),
    Literal("2020-01-01", datatype=v.XSD_DATE),
    Literal("]]><&'\""),
    NamedNode("vault:/a%20b."),
    Triple(S, P, Literal("x")),
    BlankNode("b0"),
    None,
]
RESULT = SelectResult(("value", "second"), tuple((value, S) for value in VALUES))


# -- rows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["json", "xml", "tsv"])
def test_rows_come_back_as_they_were(format: str) -> None:
    found = parse_query_results(serialize_results(RESULT, format), RESULT_FORMATS[format])
    assert isinstance(found, QuerySolutions)
    assert [name.value for name in found.variables] == ["value", "second"]
    read = [tuple(row) for row in found]
    if format == "tsv":
        named = [BlankNode("b0") if isinstance(row[0], BlankNode) else row[0] for row in read]
        read = [(cell, row[1]) for cell, row in zip(named, read, strict=True)]
    assert read == list(RESULT.rows)


def test_json_is_the_sparql_results_format_byte_for_byte() -> None:
    result = SelectResult(("a", "b"), ((S, Literal("é")), (Literal(1), None)))
    assert serialize_results(result).decode() == (
        '{"head":{"vars":["a","b"]},"results":{"bindings":['
        '{"a":{"type":"uri","value":"vault:/a"},"b":{"type":"literal","value":"é"}},'
        '{"a":{"type":"literal","value":"1","datatype":"http://www.w3.org/2001/XMLSchema#integer"}}]}}'
    )


def test_xml_keeps_carriage_returns_for_any_reader() -> None:
    root = ElementTree.fromstring(serialize_results(RESULT, "xml"))
    texts = [literal.text or "" for literal in root.iter("{http://www.w3.org/2005/sparql-results#}literal")]
    assert "line\r\nline\rline\n" in texts
    assert "]]><&'\"" in texts


def test_xml_shows_a_replacement_for_characters_it_cannot_hold() -> None:
    result = SelectResult(("a",), ((Literal("a\x01b\ufffe"),),))
    assert "a\ufffdb\ufffd" in serialize_results(result, "xml").decode()


def test_csv_is_rfc_4180() -> None:
    written = serialize_results(RESULT, "csv").decode()
    read = list(csv.reader(io.StringIO(written, newline="")))
    assert read[0] == ["value", "second"]
    texts = [value.value for value in VALUES[:6] if isinstance(value, Literal)]
    assert [row[0] for row in read[1:7]] == texts
    assert written.endswith("\r\n")
    assert read[-1][0] == ""


def test_an_ask_and_a_result_without_variables_or_rows() -> None:
    for value in (True, False):
        for format in ("json", "xml"):
            found = parse_query_results(serialize_results(AskResult(value), format), RESULT_FORMATS[format])
            assert bool(found) is value
        assert serialize_results(AskResult(value), "csv") == (b"true" if value else b"false")
    for result in (SelectResult((), ((),)), SelectResult(("a",), ())):
        written = serialize_results(result, "json")
        assert len(json.loads(written)["results"]["bindings"]) == len(result.rows)
        for format in ("xml", "csv", "tsv"):
            assert serialize_results(result, format)


def test_unknown_formats_are_named() -> None:
    with pytest.raises(UsageError, match="json, xml, csv, tsv"):
        serialize_results(RESULT, "yaml")
    with pytest.raises(UsageError, match="turtle"):
        serialize_graph(GraphResult(()), "yaml")


@given(st.text())
def test_any_text_survives_json_and_tsv(text: str) -> None:
    result = SelectResult(("a",), ((Literal(text),),))
    for format in (QueryResultsFormat.JSON, QueryResultsFormat.TSV):
        name = next(name for name, known in RESULT_FORMATS.items() if known == format)
        found = parse_query_results(serialize_results(result, name), format)
        assert isinstance(found, QuerySolutions)
        assert [tuple(row) for row in found] == list(result.rows)


# -- graphs and datasets -----------------------------------------------------------------------

NOTE, FILE = NamedNode("vault:/note.md"), NamedNode("vault:/data.ttl")
NESTED = skolem(NOTE.value, "/address")
FACTS = frozenset(
    {
        Triple(S, NamedNode(v.SCHEMA + "name"), Literal('"A"\r\n', language="en")),
        Triple(S, NamedNode(v.PROP + "address"), NESTED),
        Triple(NESTED, NamedNode(v.PROP + "city"), Literal("Zürich")),
    }
)
WITHDRAWN = Triple(NamedNode(v.ACTIVITY + "1"), NamedNode(v.PROP + "withdrew"), Triple(S, P, NESTED))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphStore]:
    opened = GraphStore.open(tmp_path_factory.mktemp("formats") / "store")
    opened.apply(
        [
            GraphChange(NOTE, added=FACTS),
            GraphChange(FILE, added=frozenset({Triple(S, P, S), *list(FACTS)[:1]})),
            GraphChange(v.META, added=frozenset({WITHDRAWN})),
        ],
        Delta(added=frozenset({Triple(S, v.RDF_TYPE, S)})),
        journal={"device.jsonl": 9},
    )
    yield opened
    opened.close()


def read(content: bytes, format: str) -> list[tuple[Triple, str]]:
    """Triples and graph names, blank nodes under one name each as they stand in the file."""
    quads = parse(content, DATASET_FORMATS[format], base_iri="vault:/")
    return [(quad.triple, str(quad.graph_name)) for quad in quads]


def canonical_form(triples: list[Triple]) -> str:
    dataset = Dataset(Quad(t.subject, t.predicate, t.object) for t in triples)
    dataset.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return "\n".join(sorted(str(dataset).splitlines()))


@pytest.mark.parametrize("format", DATASET_FORMATS)
def test_an_export_holds_the_stated_facts_with_blank_nodes(store: GraphStore, format: str) -> None:
    content = export_dataset(store, format)
    found = read(content, format)
    assert "urn:synapse:genid" not in content.decode()
    assert "urn:synapse:store" not in content.decode()
    blank = BlankNode("address")
    expected = [
        Triple(S, P, S),
        Triple(S, NamedNode(v.PROP + "address"), blank),
        Triple(blank, NamedNode(v.PROP + "city"), Literal("Zürich")),
        Triple(S, NamedNode(v.SCHEMA + "name"), Literal('"A"\r\n', language="en")),
    ]
    assert canonical_form(list({triple for triple, _ in found})) == canonical_form(expected)
    graphs = {graph for _, graph in found}
    assert graphs == ({str(NOTE), str(FILE)} if format in ("nquads", "trig", "jsonld") else {"DEFAULT"})
    assert content == export_dataset(store, format)


def test_exports_declare_only_what_they_use_and_in_one_order(store: GraphStore) -> None:
    turtle = export_dataset(store, "turtle", with_inferred=True).decode().splitlines()
    declared = [line.split()[1] for line in turtle if line.startswith("@prefix")]
    assert declared == ["prop:", "rdf:", "schema:"]
    root = next(line for line in export_dataset(store, "rdfxml").decode().splitlines() if "<rdf:RDF" in line)
    names = [part.partition("=")[0] for part in root.split() if part.startswith("xmlns:")]
    assert names == sorted(names) and "xmlns:schema" in names and "xmlns:foaf" not in names


def test_meta_and_inferences_are_there_when_asked_for(store: GraphStore) -> None:
    found = read(export_dataset(store, "nquads", with_meta=True, with_inferred=True), "nquads")
    assert {graph for _, graph in found} == {str(NOTE), str(FILE), str(v.META), str(v.INFERRED)}
    (withdrawn,) = [triple for triple, graph in found if graph == str(v.META)]
    assert isinstance(withdrawn.object, Triple)
    assert isinstance(withdrawn.object.object, BlankNode)


@pytest.mark.parametrize("format", ["jsonld", "rdfxml"])
def test_formats_without_triple_terms_describe_a_withdrawn_statement(store: GraphStore, format: str) -> None:
    found = {triple for triple, _ in read(export_dataset(store, format, with_meta=True), format)}
    (statement,) = [t.object for t in found if t.predicate == WITHDRAWN.predicate]
    described = {t.predicate: t.object for t in found if t.subject == statement}
    assert described[v.RDF_TYPE] == v.RDF_STATEMENT
    assert (described[v.RDF_SUBJECT], described[v.RDF_PREDICATE]) == (S, P)
    assert isinstance(described[v.RDF_OBJECT], BlankNode)


@pytest.mark.parametrize(
    "triple",
    [
        Triple(S, NamedNode("urn:synapse:prop:123"), S),
        Triple(S, NamedNode("http://x/y/"), S),
        Triple(S, P, Literal("\x01")),
    ],
)
def test_rdf_xml_says_what_it_cannot_hold(triple: Triple) -> None:
    with pytest.raises(UsageError, match="RDF/XML cannot hold"):
        serialize_graph(GraphResult((triple,)), "rdfxml")


@pytest.mark.parametrize(
    "predicate", ["urn:p%20q", "urn:synapse:prop:%C3%A9", "urn:x:é", "http://x/#a-b.c", "urn:中文"]
)
def test_rdf_xml_is_well_formed_for_every_property_that_is_let_through(predicate: str) -> None:
    triple = Triple(S, NamedNode(predicate), Literal("a\rb"))
    content = serialize_graph(GraphResult((triple,)), "rdfxml")
    ElementTree.fromstring(content)
    assert [quad.triple for quad in parse(content, RdfFormat.RDF_XML)] == [triple]


def test_the_graph_of_a_query_keeps_the_names_that_queries_know() -> None:
    result = GraphResult((Triple(NESTED, P, S), Triple(NESTED, P, Literal("x"))))
    lines = serialize_graph(result, "ntriples").decode().splitlines()
    assert lines == [f"{triple} ." for triple in sorted(result.triples, key=str)]


def test_what_was_exported_reads_as_the_same_facts(store: GraphStore) -> None:
    suffixes = {"turtle": "ttl", "ntriples": "nt", "rdfxml": "rdf", "nquads": "nq", "trig": "trig"}
    first = skolem(FILE.value, "0")
    expected = {
        Triple(
            first if fact.subject == NESTED else fact.subject,
            fact.predicate,
            first if fact.object == NESTED else fact.object,
        )
        for fact in {*FACTS, Triple(S, P, S)}
    }
    for format, suffix in suffixes.items():
        again = parse_rdf(export_dataset(store, format), graph=FILE, path=f"x.{suffix}")
        assert set(again) == expected

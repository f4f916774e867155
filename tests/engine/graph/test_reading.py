"""RDF files become ground facts of one graph, or an error with its place."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.errors import RdfInvalid
from synapse.engine.graph.formats import parse_rdf
from synapse.engine.terms import skolem

GRAPH = NamedNode("vault:/data/file.ttl")
A, B = NamedNode("vault:/data/a"), NamedNode("vault:/data/b")
RDF_XML_HEAD = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="urn:e:">'
    '<rdf:Description rdf:about="a"><e:p>1</e:p></rdf:Description></rdf:RDF>'
)


def read(content: str | bytes, path: str = "data/file.ttl") -> list[Triple]:
    data = content if isinstance(content, bytes) else content.encode()
    return parse_rdf(data, graph=GRAPH, path=path)


def test_relative_iris_are_resolved_against_the_file() -> None:
    assert read("<a> <b> <#c>, <../up> .") == [
        Triple(A, B, NamedNode("vault:/data/file.ttl#c")),
        Triple(A, B, NamedNode("vault:/up")),
    ]


def test_blank_nodes_are_numbered_as_they_appear_and_the_same_every_time() -> None:
    text = "_:x <b> _:y . _:y <b> _:x . <a> <b> [ <b> 1 ] ."
    facts = read(text)
    assert facts == read(text)
    first, second, third = (skolem(GRAPH.value, str(n)) for n in range(3))
    assert facts[:2] == [Triple(first, B, second), Triple(second, B, first)]
    assert set(facts[2:]) == {Triple(A, B, third), Triple(third, B, Literal(1))}


def test_literals_come_in_the_stores_form_and_facts_once() -> None:
    assert read('<a> <b> 01, "1"^^<http://www.w3.org/2001/XMLSchema#integer>, "x"@EN-us, "x"@en-US .') == [
        Triple(A, B, Literal(1)),
        Triple(A, B, Literal("x", language="en-us")),
    ]


def test_a_triple_term_is_grounded_inside() -> None:
    assert read("<a> <b> <<( <a> <b> _:x )>> .") == [Triple(A, B, Triple(A, B, skolem(GRAPH.value, "0")))]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("x.ttl", "@prefix e: <urn:e:> . <a> e:p '1' ."),
        ("x.nt", "<vault:/data/a> <urn:e:p> \"1\" ."),
        ("x.nq", "<vault:/data/a> <urn:e:p> \"1\" <urn:other:graph> ."),
        ("x.trig", "<urn:other:graph> { <a> <urn:e:p> '1' }"),
        ("x.rdf", RDF_XML_HEAD),
        ("x.owl", '<?xml version="1.0"?>\n' + RDF_XML_HEAD),
        ("x.OWL", "# Turtle in an .owl file\n@prefix e: <urn:e:> . <a> e:p '1' ."),
        ("x.owl", "<http://e/x> <http://e/y> <http://e/z> ."),
        ("x.jsonld", '{"@id": "a", "urn:e:p": "1"}'),
    ],
)
def test_every_kind_of_file_is_read_into_the_files_own_graph(path: str, content: str) -> None:
    (fact,) = read(content, path)
    if "http://e/x" not in content:
        assert fact == Triple(A, NamedNode("urn:e:p"), Literal("1"))
    assert read(b"\xef\xbb\xbf" + content.encode(), path) == [fact]


@pytest.mark.parametrize(
    ("path", "content", "line", "column", "message"),
    [
        ("x.ttl", "<a> <b> <c> .\n<a> <b> <c d> .", 2, 9, "IRI"),
        ("x.ttl", "<é> <b> 'ü' .\n 'ä' <b> <c> .", 2, 2, "subject"),
        ("x.ttl", "<a> <b> ex:c .", 1, 9, "prefix"),
        ("x.nt", "<a:a> <a:b> <a:c>", 1, 18, ""),
        ("x.jsonld", '{"@id": "a",\n "n":}', 2, 6, ""),
    ],
)
def test_what_does_not_parse_is_said_with_its_place(
    path: str, content: str, line: int, column: int, message: str
) -> None:
    with pytest.raises(RdfInvalid) as invalid:
        read(content, path)
    assert (invalid.value.path, invalid.value.line) == (path, line)
    assert invalid.value.column is not None and abs(invalid.value.column - column) <= 1
    assert message in invalid.value.message
    assert "arser error" not in invalid.value.message


def test_bytes_that_are_not_utf8_are_said_to_be_so() -> None:
    with pytest.raises(RdfInvalid, match="not UTF-8"):
        read(b'<a> <b> "\xff" .')


def test_a_remote_context_is_not_fetched() -> None:
    with pytest.raises(RdfInvalid, match="nothing is fetched"):
        read('{"@context": "http://127.0.0.1:9/context", "@id": "a", "n": 1}', "x.jsonld")


def test_an_unknown_suffix_is_refused() -> None:
    with pytest.raises(RdfInvalid, match="docx"):
        read("", "x.docx")


def entities(count: int) -> str:
    lines = ['<!ENTITY a0 "aaaaaaaaaa">']
    lines += [f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, count)]
    body = RDF_XML_HEAD.replace("<e:p>1</e:p>", f"<e:p>&a{count - 1};</e:p>")
    return f"<!DOCTYPE rdf:RDF [{''.join(lines)}]>{body}"


def test_entities_that_explode_are_refused_and_others_are_read() -> None:
    with pytest.raises(RdfInvalid, match="too much text"):
        read(entities(9), "x.owl")
    with pytest.raises(RdfInvalid, match="stands for itself"):
        read(f'<!DOCTYPE x [<!ENTITY a "&b;"><!ENTITY b "&a;">]>{RDF_XML_HEAD}', "x.owl")
    assert read(entities(2), "x.owl") == [Triple(A, NamedNode("urn:e:p"), Literal("a" * 100))]


def test_triples_nested_without_end_are_refused() -> None:
    deep = "<a> <b> " + "<<( <a> <b> " * 100_000 + "1" + " )>>" * 100_000 + " ."
    with pytest.raises(RdfInvalid, match="nest deeper"):
        read(deep)

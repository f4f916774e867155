"""SPARQL in the making, cut into tokens."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from synapse.window.console.tokens import State, declared_prefixes, matching_bracket, tokens, variables


def cut(text, state=State.NORMAL):
    return [(token.kind, text[token.start : token.end]) for token in tokens(text, state)[0]]


def test_each_kind_of_token_is_known():
    query = "SELECT ?x (COUNT($y) AS ?n) { ?x a schema:Person ; "
    query += "<p/q> 'a\\'b'@en-GB, 4.2e3, _:b1, true } # end"
    assert cut(query) == [
        ("keyword", "SELECT"), ("variable", "?x"), ("bracket", "("), ("function", "COUNT"), ("bracket", "("),
        ("variable", "$y"), ("bracket", ")"), ("keyword", "AS"), ("variable", "?n"), ("bracket", ")"),
        ("bracket", "{"), ("variable", "?x"), ("keyword", "a"), ("name", "schema:Person"),
        ("punctuation", ";"), ("iri", "<p/q>"), ("string", "'a\\'b'"), ("language", "@en-GB"),
        ("punctuation", ","),
        ("number", "4.2e3"), ("punctuation", ","), ("blank", "_:b1"), ("punctuation", ","),
        ("keyword", "true"), ("bracket", "}"), ("comment", "# end"),
    ]  # fmt: skip


def test_less_than_is_no_iri_and_a_capital_a_is_no_type():
    assert ("iri", "<b && c>") not in cut("?a <?b && ?c > 3")
    assert cut("A") == [("word", "A")]


def test_a_name_ends_before_a_full_stop_and_keeps_escapes_and_umlauts():
    assert cut("ex:a.b ex:c. ex:caf\u00e9 ex:x\\,y :z") == [
        ("name", "ex:a.b"), ("name", "ex:c"), ("punctuation", "."), ("name", "ex:caf\u00e9"),
        ("name", "ex:x\\,y"), ("name", ":z"),
    ]  # fmt: skip


def test_an_iri_that_ends_in_a_full_stop_and_percent_is_one_token():
    assert cut("<a.> <b%20c>") == [("iri", "<a.>"), ("iri", "<b%20c>")]


def test_a_long_string_goes_on_over_lines():
    found, state = tokens('?x ?p """one # two')
    assert found[-1].kind == "string"
    assert state is State.LONG_DOUBLE
    assert tokens("still 'inside'", state) == ([("string", 0, 14)], State.LONG_DOUBLE)
    assert cut('end""" . ?y', state) == [("string", 'end"""'), ("punctuation", "."), ("variable", "?y")]


def test_an_open_string_ends_with_its_line():
    assert cut("'open ?x") == [("string", "'open ?x")]
    assert tokens("'open ?x")[1] is State.NORMAL


@given(st.text(max_size=80), st.sampled_from(State))
def test_any_text_is_cut_without_loss_or_overlap(text, state):
    found, _ = tokens(text, state)
    at = 0
    for token in found:
        assert text[at : token.start].strip() == ""
        assert token.start < token.end
        at = token.end
    assert text[at:].strip() == ""


def test_brackets_match_outside_strings_comments_and_iris():
    text = "{ ?s ?p '}' . # }\n <a)b> (1) }"
    assert matching_bracket(text, 0) == len(text) - 1
    assert matching_bracket(text, len(text) - 1) == 0
    assert matching_bracket(text, text.index("}")) is None
    assert matching_bracket("(}", 0) is None


def test_prefixes_and_variables_of_a_query():
    text = "PREFIX ex: <http://e/>\nprefix : <#>\nSELECT ?b { $a ex:p ?b }"
    assert declared_prefixes(text) == {"ex": "http://e/", "": "#"}
    assert variables(text) == ["?b", "?a"]

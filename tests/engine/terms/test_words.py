"""Words in notes: how they compare, whose meaning counts, and that each names something."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode

from synapse.engine.terms import Words, fold_word, is_absolute_iri, tag_iri
from synapse.engine.terms import vocabulary as v


@pytest.mark.parametrize("word", ["works_for", "Works For", "works-for", " WORKS  _ - for ", "works\tfor_"])
def test_case_and_separators_do_not_matter(word: str) -> None:
    assert fold_word(word) == "works_for"
    assert Words([{"worksFor": "schema:x", "works for": "schema:worksFor"}]).property(word).value == (
        "http://schema.org/worksFor"
    )


@given(st.text(max_size=20))
def test_folding_is_done_once_and_knows_no_normal_form(word: str) -> None:
    folded = fold_word(word)
    assert fold_word(folded) == folded
    assert fold_word(unicodedata.normalize("NFD", word)) == fold_word(unicodedata.normalize("NFC", word))


@given(st.text(max_size=20))
def test_whatever_is_written_names_a_valid_iri(word: str) -> None:
    words = Words()
    for node in (words.type(word), words.property(word), tag_iri(word)):
        assert is_absolute_iri(node.value)
        assert NamedNode(node.value) == node


@given(st.text(min_size=1, max_size=20))
def test_words_that_fold_alike_and_only_they_share_a_fallback(word: str) -> None:
    words = Words()
    assert words.property(word) == words.property(word.replace("_", "-"))
    if words.expand(word) is None and words.expand(word + "x") is None:
        assert words.property(word) != words.property(word + "x")
        assert words.property(word) != words.type(word)


def test_the_vaults_context_comes_before_the_scenarios_in_their_order() -> None:
    vault, first, second = (
        {"knows": "urn:x:vault"}, {"Knows it": "urn:x:no", "knows": "urn:x:first", "likes": "urn:x:first"},
        {"likes": "urn:x:second", "sees": "urn:x:second"},
    )  # fmt: skip
    words = Words([vault, first, second])
    assert [words.property(w).value for w in ("knows", "likes", "sees", "hears")] == [
        "urn:x:vault", "urn:x:first", "urn:x:second", "urn:synapse:prop:hears",
    ]  # fmt: skip


def test_an_iri_or_a_known_prefix_comes_before_every_context() -> None:
    words = Words([{"schema:name": "urn:x:no", "urn:a:b": "urn:x:no"}], {"ex": "http://example.org/"})
    assert words.property("schema:name").value == "http://schema.org/name"
    assert words.property("urn:a:b").value == "urn:a:b"
    assert words.property("ex:a").value == "http://example.org/a"
    assert words.property("nope:a").value == "urn:synapse:prop:nope%3Aa"


def test_a_scenario_cannot_take_a_prefix_that_is_always_known() -> None:
    assert Words([], {"schema": "http://evil.example/"}).property("schema:a").value == "http://schema.org/a"


def test_a_capital_in_a_context_names_a_class_and_anything_else_a_property() -> None:
    words = Words([{"Event": "schema:Event", "event": "schema:event", "État": "urn:x:state"}])
    assert words.type("event") == words.type("EVENT") == NamedNode("http://schema.org/Event")
    assert words.property("Event") == NamedNode("http://schema.org/event")
    assert words.type("état").value == "urn:x:state"
    assert words.property("état").value == v.PROP + "%C3%A9tat"


@pytest.mark.parametrize("value", ["nonsense", "nope:x", "http://[x", "http://x/%zz", "", "schema:"])
def test_a_context_entry_that_names_nothing_is_passed_over(value: str) -> None:
    assert Words([{"word": value}]).property("word").value == "urn:synapse:prop:word"


def test_tags_keep_their_levels() -> None:
    assert tag_iri("Area/Work Life").value == "urn:synapse:tag:area/work%20life"
    assert tag_iri("/a/") == tag_iri("A")

"""`canonical` gives a literal the form in which a store on disk gives it back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Store

from synapse.engine.terms import canonical
from synapse.engine.terms import vocabulary as v

S, P = NamedNode("urn:x:s"), NamedNode("urn:x:p")
LEXICAL = {
    "string": ["", "a", "  ", "1", "é", "e\u0301", "\U0001f600", 'q"\\\n', "a" * 5000, "\u2028"],
    "boolean": ["true", "false", "1", "0", "TRUE", "yes", ""],
    "integer": ["0", "01", "-0", "+5", "9223372036854775807", "9223372036854775808", "1.0", "x", " 1 "],
    "decimal": ["1.0", "01.50", "-0.0", ".5", "5.", "1e3", "0.0000000000000000001", "1" * 40, "x"],
    "double": ["1e3", "1", "-0", "NaN", "INF", "-INF", "1E400", "0.1", "x"],
    "float": ["1.5", "16777217", "NaN"],
    "date": ["2024-02-29", "2023-02-29", "2024-01-01Z", "2024-01-01+02:00", "-0044-03-15", "x"],
    "dateTime": ["2024-01-01T00:00:00", "2024-01-01T24:00:00", "2024-01-01T10:00:00.500Z",
                 "2024-01-01T10:00:00+00:00", "2024-13-01T00:00:00", "99999999-01-01T00:00:00Z"],
    "time": ["10:00:00", "24:00:00", "10:00:00.10", "10:00"],
    "duration": ["P1Y", "P12M", "PT60S", "P1DT24H", "x"],
    "dayTimeDuration": ["PT60S", "P1D"], "yearMonthDuration": ["P12M"],
    "gYear": ["2024", "2024Z"], "gYearMonth": ["2024-01"], "gMonth": ["--01"], "gDay": ["---01"],
    "gMonthDay": ["--02-29"], "anyURI": ["http://x/ y"], "hexBinary": ["0a", "0A"], "base64Binary": ["YQ=="],
    "byte": ["01", "300"], "int": ["007"], "long": ["+1"], "short": ["1"], "nonNegativeInteger": ["-1", "01"],
    "positiveInteger": ["0", "01"], "unsignedInt": ["01"], "language": ["EN"], "token": [" a  b "],
}  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield Store(tmp_path_factory.mktemp("store"))


def back(store: Store, literal: Literal) -> Literal:
    """The literal as the store on disk returns it."""
    store.clear()
    store.add(Quad(S, P, literal, DefaultGraph()))
    (found,) = [quad.object for quad in store.quads_for_pattern(S, None, None, None)]
    assert isinstance(found, Literal)
    return found


@pytest.mark.parametrize("name", LEXICAL)
def test_each_datatype_has_the_form_of_the_store(store: Store, name: str) -> None:
    for text in LEXICAL[name]:
        literal = Literal(text, datatype=NamedNode(v.XSD + name))
        assert str(canonical(literal)) == str(back(store, literal))


@pytest.mark.parametrize("tag", ["en", "EN-us", "zh-Hant-TW", "x-private"])
def test_language_tags_have_the_form_of_the_store(store: Store, tag: str) -> None:
    literal = Literal("text", language=tag)
    assert str(canonical(literal)) == str(back(store, literal))
    assert canonical(literal).language == tag.lower()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    st.sampled_from([*(v.XSD + name for name in LEXICAL), "urn:x:own", v.RDF + "JSON"]),
)
def test_any_text_of_any_datatype_has_the_form_of_the_store(store: Store, text: str, datatype: str) -> None:
    literal = Literal(text, datatype=NamedNode(datatype))
    made = canonical(literal)
    assert str(made) == str(back(store, literal))
    assert str(canonical(made)) == str(made), "the form of the form is itself"

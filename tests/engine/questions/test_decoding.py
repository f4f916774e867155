"""`from_json` gives back what `as_json` was given, for every result, and refuses what is none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from synapse.engine.graph.results import QueryResult
from synapse.engine.operations import OPERATIONS
from synapse.engine.questions import results as r
from synapse.engine.questions.decoding import Undecodable, from_json
from synapse.engine.questions.results import as_json

KINDS = {
    operation.name: operation.result
    for operation in OPERATIONS
    if operation.result not in (QueryResult, str, bytes)
}
ENTITY = r.Entity("people/ada", "vault:/people/ada", "Ada", "note", "people/ada.md")
FACT = r.Fact(ENTITY, ENTITY, r.Value("1", "urn:d", None), sources=(r.Source("note", "urn:g", "a.md"),))

st.register_type_strategy(float, st.floats(allow_nan=False, allow_infinity=False))
st.register_type_strategy(
    r.Proof,
    st.recursive(
        st.builds(r.Proof, st.just(FACT), st.text(max_size=3)),
        lambda below: st.builds(
            r.Proof,
            st.just(FACT),
            st.text(max_size=3),
            st.text(max_size=3),
            st.none(),
            st.tuples(below, below),
        ),
        max_leaves=4,
    ),
)


def carried(value: object) -> Any:
    """As it is after a journey as text."""
    return json.loads(json.dumps(as_json(value)))


@pytest.mark.parametrize("name", KINDS)
def test_every_result_comes_back_as_it_was(name: str) -> None:
    kind: Any = KINDS[name]

    @given(st.from_type(kind))
    @settings(max_examples=15, suppress_health_check=list(HealthCheck))
    def check(result: object) -> None:
        assert from_json(kind, carried(result)) == result

    check()


@pytest.mark.parametrize("kind", [r.Entity, r.Value])
def test_what_a_fact_is_about_stays_an_entity_or_a_value(kind: Any) -> None:
    found = from_json(
        r.Entity | r.Value, carried(ENTITY if kind is r.Entity else r.Value("Ada", "urn:d", "nl"))
    )
    assert type(found) is kind


def proof_of(depth: int) -> r.Proof:
    """Each step rests twice on the one before: as a tree it would have 2 ** depth leaves."""
    proof = r.Proof(FACT, "stated")
    for number in range(depth):
        proof = r.Proof(FACT, f"step {number}", "rule", None, (proof, proof))
    return proof


def test_a_long_proof_comes_back_without_growing() -> None:
    found = from_json(r.Proof, carried(proof_of(5000)))
    steps = 0
    while found.premises:
        first, second = found.premises
        assert first is second, "a shared premise became two"
        found, steps = first, steps + 1
    assert (steps, found.sentence, found.fact) == (5000, "stated", FACT)


def test_a_proof_within_provenance_comes_back() -> None:
    found = r.Provenance(FACT, (r.Activity("urn:g", None, None, "ada"),), proof_of(3))
    assert from_json(r.Provenance, carried(found)) == found


def test_versions_that_differ_in_a_field_understand_each_other() -> None:
    newer = {**carried(ENTITY), "colour": "green", "kind": "planet"}
    assert from_json(r.Entity, newer) == r.Entity(ENTITY.id, ENTITY.iri, ENTITY.label, "planet", ENTITY.path)  # type: ignore[arg-type]
    older = carried(ENTITY)
    del older["path"], older["kind"]
    assert from_json(r.Entity, older) == r.Entity(ENTITY.id, ENTITY.iri, ENTITY.label)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (r.Entity, {"id": "a", "iri": "b"}),
        (r.Entity, {"id": "a", "iri": "b", "label": 1}),
        (r.Entity, ["a", "b", "c"]),
        (r.Entity, None),
        (r.Finding, {"kind": "a", "where": None, "what": "b"}),
        (r.Entity | r.Value, {"text": "a"}),
        (tuple[r.NoteDiagnostic, ...], {"items": []}),
        (tuple[r.NoteDiagnostic, ...], [None]),
        (r.Proof, {}),
        (r.Proof, {"steps": []}),
        (r.Proof, {"steps": [{**carried(r.Proof(FACT, "s"))["steps"][0], "premises": [0]}]}),
        (r.Proof, {"steps": [{"fact": None, "sentence": "s", "premises": []}]}),
        (r.CheckReport, {"ok": 1, "findings": []}),
        (str, 1),
        (int, True),
        (float, "1"),
    ],
)
def test_json_of_another_shape_is_refused(kind: Any, value: object) -> None:
    with pytest.raises(Undecodable):
        from_json(kind, value)

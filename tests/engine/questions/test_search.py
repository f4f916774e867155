"""What search finds beside notes, and what its filters leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from synapse.engine import Engine, WrittenFact
from synapse.engine.errors import UsageError

NOTES = {
    "people/ada.md": "---\ntype: Person\ntags: [Core/Team]\n---\n# Ada Lovelace\nplans the river crossing\n",
    "people/bruno.md": "---\ntype: Engineer\n---\n# Bruno\nriver guide\n",
    "places/river.md": "---\ntype: Place\ntags: core/team\n---\n# River\n[[people/zoë]], [[missing place]]\n",
    "plain.md": "a river, no type. #river-bank\n",
    "schema.ttl": (
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "<urn:synapse:type:engineer> rdfs:subClassOf <urn:synapse:type:person> ;"
        " rdfs:label 'Engineer of rivers' .\n"
    ),
    "img/River map.png": "x",
}
SETTINGS = '{"scenarios": []}'


@pytest.fixture
def engine(vault: Any) -> Iterator[Engine]:
    vault.write(".synapse/settings.json", SETTINGS)
    for path, text in NOTES.items():
        vault.write(path, text)
    with vault.open() as opened:
        opened.index()
        yield opened


EVERY = ["note", "unwritten", "attachment", "tag", "other"]


def found(engine: Engine, text: str, **filters: Any) -> list[str]:
    answer = engine.search(text, **filters)
    assert answer.total == len(answer.hits)
    return [hit.entity.id for hit in answer.hits]


def test_a_type_leaves_its_notes_also_the_inferred_ones(engine: Engine) -> None:
    assert len(found(engine, "river")) == 4
    assert set(found(engine, "river", type="Person")) == {"people/ada", "people/bruno"}
    assert found(engine, "river", type="Engineer") == ["people/bruno"]
    assert (
        found(engine, "river", type="<urn:synapse:type:person>")
        == found(engine, "river", type="type:person")
        == found(engine, "river", type="person")
    )
    assert found(engine, "river", type="Dragon") == []


def test_a_tag_leaves_the_notes_that_have_it_however_it_is_spelled(engine: Engine) -> None:
    for spelled in ("core/team", "#Core/Team", " CORE/TEAM "):
        assert set(found(engine, "river", tag=spelled)) == {"people/ada", "places/river"}
    assert found(engine, "river", tag="core/team", type="Person") == ["people/ada"]
    assert found(engine, "river", tag="nothing") == []


def test_a_type_that_an_agent_states_counts_and_its_end_too(engine: Engine) -> None:
    made = engine.assert_facts([WrittenFact("plain", "a", "Person")], source="a test", reason="to see")
    assert "plain" in found(engine, "river", type="Person")
    engine.retract_facts(assertion=made.assertion, reason="no")
    assert "plain" not in found(engine, "river", type="Person")


def test_other_kinds_are_found_by_their_names(engine: Engine) -> None:
    assert found(engine, "river", kinds=["attachment"]) == ["img/River map.png"]
    assert found(engine, "zoe", kinds=["unwritten"]) == ["people/zoë"]
    assert found(engine, '"missing place"', kinds=["unwritten"]) == ["missing place"]
    assert found(engine, "place missing", kinds=["unwritten"]) == ["missing place"]
    assert found(engine, '"place missing"', kinds=["unwritten"]) == []
    assert found(engine, "bank", kinds=["tag"]) == ["urn:synapse:tag:river-bank"]
    assert found(engine, "engineer", kinds=["other"]) == ["urn:synapse:type:engineer"]
    assert found(engine, "zoe") == ["places/river"], "without kinds only notes are found"


def test_a_file_is_found_once_whether_a_note_names_it_or_not(engine: Engine, vault: Any) -> None:
    for note in ("no link\n", "![[River map.png]]\n"):
        vault.write("a.md", note)
        engine.index()
        (hit,) = engine.search("map", kinds=["attachment"]).hits
        assert (hit.entity.kind, hit.entity.path) == ("attachment", "img/River map.png")


def test_what_an_agent_names_is_found_until_it_is_retracted(engine: Engine) -> None:
    made = engine.assert_facts(
        [WrittenFact("people/zebedee", "knows", "people/ada")], source="a test", reason="to see"
    )
    assert found(engine, "zebe", kinds=["note", "unwritten"]) == ["people/zebedee"]
    engine.retract_facts(assertion=made.assertion, reason="no")
    assert found(engine, "zebe", kinds=EVERY) == []


def test_bookkeeping_is_not_found(engine: Engine) -> None:
    engine.assert_facts([WrittenFact("people/ada", "knows", "people/b")], source="river", reason="river")
    for word in ("activity", "agent", "assertion", "indexer", "reasoning", "schema", "synapse", "md"):
        for hit in engine.search(word, kinds=EVERY).hits:
            assert hit.entity.iri.startswith(("http://", "urn:synapse:prop:")), hit


def test_pages_over_all_kinds_reach_each_once(vault: Any) -> None:
    vault.write(".synapse/settings.json", '{"scenarios": []}')
    for number in range(7):
        vault.write(f"river {number}.md", f"river [[far river {number}]] #river{number}\n")
    with vault.open() as engine:
        engine.index()
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = engine.search("river", 4, cursor, kinds=["note", "unwritten", "tag"])
            assert page.total == 21 and len(page.hits) <= 4
            seen += [hit.entity.id for hit in page.hits]
            cursor = page.cursor
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 21
        whole = engine.search("river", kinds=["note", "unwritten", "tag"])
        assert [hit.entity.id for hit in whole.hits] == seen
        assert [hit.entity.kind for hit in whole.hits[:7]] == ["note"] * 7


@pytest.mark.parametrize(
    "wrong", [{"kinds": ["nots"]}, {"kinds": ["value"]}, {"type": " "}, {"tag": "#"}, {"tag": ""}]
)
def test_filters_that_mean_nothing_are_refused(engine: Engine, wrong: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        engine.search("river", **wrong)


@pytest.mark.parametrize("text", ['"', "> } ; DROP ALL", "x\x00y", "((", "* - :", "日本", "'; --", "\ud800"])
def test_odd_texts_find_nothing_and_never_fail(engine: Engine, text: str) -> None:
    assert engine.search(text, kinds=EVERY).hits == ()
    assert engine.search("river", type=text).hits == ()
    assert engine.search("river", tag=text).hits == ()

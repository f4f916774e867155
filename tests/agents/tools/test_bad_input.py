"""Ids, literals and queries that would do something else elsewhere (cases 6, 7, 8, 11)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATHS = (
    "../../x", "..", "a/../../x", "..%2F..%2Fx", "%2e%2e/x", "/etc/passwd", "//etc/passwd", "/", "~/x",
    "C:\\x", "c:/x", "\\\\host\\share", "..\\..\\x", "file:///etc/passwd", "<../../x>", "[[../../x]]",
    "leaves/secret", "a\nb", "",
)  # fmt: skip
ODD = (
    "> } ; DROP ALL ; #",
    '"} INSERT DATA { <a> <b> <c> } #',
    "it's \"quoted\" \\ and \\\" escaped",
    "two\nlines\tand a tab\r\n",
    "}}}{{{",
    "<script>alert(1)</script>",
    "日本語 テキスト 한국어",
    "👩‍👩‍👧‍👦 🏳️‍🌈",
    "e\u0301 and \u00e9",
    "a\u2028b\u2029c",
    "\u202eright to left",
    "# heading\n```\n[verified]",
)  # fmt: skip


@pytest.fixture
def agent(house: Callable[..., Any], tmp_path: Path) -> Iterator[Any]:
    """An agent that may write, in a vault with a link that leaves it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.md").write_text("# Secret\n", "utf-8")
    (tmp_path / "vault").mkdir()
    os.symlink(tmp_path / "outside", tmp_path / "vault" / "leaves")
    yield house({"a.md": "# A\n\nknows:: [[b]]\n", "b.md": "# B\n"}).attach()


def files(folder: Path) -> set[str]:
    return {path.as_posix() for path in folder.rglob("*") if not any(p.startswith(".") for p in path.parts)}


@pytest.mark.parametrize(
    ("tool", "argument", "others"),
    [
        ("entity_dossier", "entity", {}),
        ("entity_neighbourhood", "entity", {}),
        ("dependency_impact", "entity", {}),
        ("fact_provenance", "subject", {"predicate": "knows", "object": "b"}),
        ("fact_provenance", "object", {"subject": "a", "predicate": "knows"}),
        ("retract_facts", "assertion", {"reason": "r"}),
    ],
)
def test_a_path_in_place_of_an_id_is_refused_and_nothing_is_made_or_told(
    agent: Any, tmp_path: Path, tool: str, argument: str, others: dict[str, Any]
) -> None:
    before = files(tmp_path / "vault")
    for path in PATHS:
        error = agent.error(tool, **others, **{argument: path})
        assert str(tmp_path) not in error
        assert "Secret" not in error
        assert "Traceback" not in error
        assert "\n" not in error
    assert files(tmp_path / "vault") == before
    assert not (tmp_path / "x.md").exists()


@pytest.mark.parametrize("part", ["subject", "object"])
def test_a_fact_about_a_path_is_refused_or_about_an_id_inside_the_vault(
    agent: Any, tmp_path: Path, part: str
) -> None:
    before = files(tmp_path)
    for path in PATHS:
        fact = {"subject": "a", "predicate": "knows", "object": "b", part: path}
        result = agent.result("assert_facts", facts=[fact], source="s", reason="r", dry_run=True)
        if not result.is_error:
            # Odd, and yet an id of the vault like any other, or an IRI.
            assert ".." not in path.replace("%2F", "/").split("/")
            assert not path.startswith(("..", "~", "C:", "\\"))
    assert files(tmp_path) == before


def test_odd_texts_come_back_as_the_literals_that_they_were(agent: Any) -> None:
    facts = [
        {"subject": "a", "predicate": "remark", "object": text, "object_kind": "literal"} for text in ODD
    ]
    assert agent.call("assert_facts", facts=facts, source="s", reason="r")["facts"] == len(ODD)
    text, data = agent.answer("entity_dossier", entity="a")
    kept = {fact["object"] for fact in data["attributes"] if fact["predicate"] == "remark"}
    assert kept == set(ODD)
    rows = agent.call("sparql_query", query="SELECT ?o { <a> prop:remark ?o }")["rows"]
    assert {row["o"]["text"] for row in rows} == set(ODD)
    for literal in ODD:
        told = agent.call("fact_provenance", subject="a", predicate="remark", object=literal)
        assert told["fact"]["object"] == literal
    # Each is one line of the text, and none is a part of its form.
    lines = [line for line in text.splitlines() if line.startswith("- `remark`")]
    assert len(lines) == len(ODD)
    assert "[verified]" not in text.replace("\\[verified\\]", "")
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        "# `a`", "## Attributes", "## Relations to others", "## Relations from others",
    ]  # fmt: skip


def test_odd_ids_are_bound_as_terms_or_refused(agent: Any) -> None:
    for id in (*ODD, "a'; DROP", "日本/東京", "e\u0301", "x y (z)"):
        result = agent.result(
            "assert_facts",
            facts=[{"subject": id, "predicate": "knows", "object": "b"}],
            source="s",
            reason="r",
        )
        if not result.is_error:
            told = agent.call("entity_dossier", entity=id)
            assert told["outgoing"][0]["object"] == "b"
    assert agent.call("entity_dossier", entity="日本/東京")["entity"]["id"] == "日本/東京"
    nfc, nfd = (agent.call("entity_dossier", entity=id)["entity"] for id in ("\u00e9", "e\u0301"))
    assert nfc == nfd
    assert agent.call("entity_dossier", entity="a")["total"]


@pytest.mark.parametrize("part", ["subject", "predicate", "object", "datatype", "language"])
def test_nul_and_half_characters_are_refused_with_the_place(agent: Any, part: str) -> None:
    fact = {"subject": "a", "predicate": "p", "object": "o", "object_kind": "literal", part: "x\x00y"}
    error = agent.error("assert_facts", facts=[fact], source="s", reason="r")
    assert f"`facts[0].{part}` holds a NUL" in error


@pytest.fixture
def trap() -> Iterator[Any]:
    """A listening socket that nobody may connect to."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.setblocking(False)
        yield listening


def test_a_query_opens_no_connection_and_changes_nothing(agent: Any, trap: Any) -> None:
    url = f"http://127.0.0.1:{trap.getsockname()[1]}/"
    before = agent.call("digest")
    for query in (
        f"SELECT * {{ SERVICE <{url}> {{ ?s ?p ?o }} }}",
        f"SELECT * {{ SERVICE SILENT <{url}> {{ ?s ?p ?o }} }}",
        f"ASK {{ FILTER EXISTS {{ sErViCe <{url}> {{ ?s ?p ?o }} }} }}",
        f"SELECT * {{ {{ SELECT * {{ SERVICE\n<{url}> {{ ?s ?p ?o }} }} }} }}",
        f"PREFIX x: <{url}> SELECT * {{ SERVICE x:a {{ ?s ?p ?o }} }}",
        f"# harmless\nSELECT * {{ SERVICE#\n<{url}> {{ ?s ?p ?o }} }}",
        f"LOAD <{url}>",
        "INSERT DATA { <a> <b> <c> }",
        "DELETE WHERE { ?s ?p ?o }",
        "DROP ALL",
        "CLEAR DEFAULT",
        f"SELECT * {{}} ; LOAD <{url}>",
    ):
        assert agent.error("sparql_query", query=query)
    with pytest.raises(BlockingIOError):
        trap.accept()
    assert agent.call("digest") == before


@pytest.mark.parametrize(
    "query",
    [
        'SELECT ("SERVICE <http://x/> LOAD DROP" AS ?text) {}',
        "# SERVICE <http://x/> { }\nASK { <a> ?p ?o } # DROP ALL",
        "ASK { <a> <http://x/SERVICE> ?load }",
        "PREFIX service: <http://x/> ASK { <a> service:load ?o }",
    ],
)
def test_the_same_words_in_strings_comments_and_names_are_harmless(agent: Any, query: str) -> None:
    agent.call("sparql_query", query=query)

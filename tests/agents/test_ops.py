"""The `ops` protocol over real sockets: requests side by side, progress, cancelling, and bad lines."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from synapse.agents.owner import Owner
from synapse.bridge.dialling import MOST
from synapse.engine import Engine, open_vault
from synapse.engine.operations import OPERATIONS, carry_out, operation
from synapse.engine.wire import read_values, to_wire

NEVER = "SELECT (count(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l . FILTER(?a != ?l) }"
"""A query that would run for hours."""


def fact(number: int, who: str = "a") -> dict[str, str]:
    return {
        "subject": who, "predicate": "knows", "object": f"people/n{number}", "source": "s", "reason": "r"
    }  # fmt: skip


def known(engine: Engine, who: str = "a") -> list[str]:
    facts = engine.dossier(who).outgoing
    return sorted(str(one.object.label) for one in facts if one.predicate.label == "knows")


# -- answers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("index", {"dry_run": True}),
        ("query", {"sparql": "SELECT * { ?s ?p ?o } ORDER BY ?s ?p ?o LIMIT 20"}),
        ("query", {"sparql": "ASK {}"}),
        ("query", {"sparql": "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "limit": 3}),
        ("dossier", {"entity": "a"}),
        ("neighbourhood", {"entity": "a", "predicates": ["depends_on"]}),
        ("impact", {"entity": "b"}),
        ("provenance", {"subject": "a", "predicate": "depends_on", "object": "b"}),
        ("explain", {"subject": "a", "predicate": "depends_on", "object": "b"}),
        ("search", {"text": "B"}),
        ("digest", {}),
        ("diagnostics", {}),
        ("check", {}),
        ("scenarios", {"action": "list"}),
        ("backlinks", {}),
        ("status", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_operation_answers_as_the_engine_does(
    owners: Any, here: Owner, engine: Engine, name: str, arguments: dict[str, Any]
) -> None:
    answer = owners.ops(here.discovery).ask(name, **arguments)
    row = operation(name)
    here_and_now = to_wire(carry_out(engine, row, read_values(row, arguments)))
    for either in (answer, here_and_now):
        if isinstance(either, dict):
            either.pop("seconds", None)
    assert answer == json.loads(json.dumps(here_and_now))


def test_a_result_that_is_a_file_comes_in_parts_that_make_it_up(
    owners: Any, here: Owner, engine: Engine
) -> None:
    (engine.vault / "c.md").write_text("# Ü 漢字 🜚\n", "utf-8")
    line = owners.ops(here.discovery)
    answer = line.answer(line.begin("export", format="turtle", with_meta=True))
    assert "漢字" in answer["parts"]
    assert answer["parts"].encode() == engine.export("turtle", with_meta=True)
    assert answer["result"] == {"bytes": len(answer["parts"].encode())}


def test_a_large_result_comes_in_parts_of_at_most_a_mebibyte(
    owners: Any, here: Owner, engine: Engine
) -> None:
    for number in range(30):
        (engine.vault / f"n{number}.md").write_text(f"---\nabout: {'ü漢🜚' * 6000}\n---\n", "utf-8")
    line = owners.ops(here.discovery)
    id = line.begin("export")
    parts = []
    while "result" not in (message := line.read()):
        if "progress" not in message:
            parts.append(message["part"])
    assert message["id"] == id
    assert len(parts) > 1
    assert all(len(part.encode()) <= 1024 * 1024 for part in parts)
    assert "".join(parts).encode() == engine.export()


def test_terms_of_an_answer_are_described(owners: Any, here: Owner, engine: Engine) -> None:
    (row,) = engine.query("SELECT ?o { <a> prop:depends_on ?o }").rows  # type: ignore[union-attr]
    text = '"12"^^<http://www.w3.org/2001/XMLSchema#integer>'
    told = owners.ops(here.discovery).ask("describe", terms=[None, str(row[0]), text, '"a\\n>"@en', "_:b"])
    assert told[0] is None
    assert (told[1]["id"], told[1]["label"]) == ("b", "B")
    assert (told[2]["text"], told[3]["text"], told[3]["language"]) == ("12", "a\n>", "en")


def test_whoever_is_attached_is_listed_with_what_it_did(owners: Any, here: Owner) -> None:
    line, other = owners.ops(here.discovery), owners.ops(here.discovery)
    line.ask("status")
    line.ask("assert", **fact(1))
    one, two = line.ask("attached")
    assert (one["name"], one["protocol"], one["calls"], one["writes"]) == ("command line", "ops", 2, 1)
    assert (two["id"], two["calls"], two["writes"]) == (one["id"] + 1, 0, 0)
    other.close()
    owners.until(lambda: len(line.ask("attached")) == 1, "the other's end")


def test_each_operation_is_reached_by_its_name(owners: Any, shared: Owner) -> None:
    line = owners.ops(shared.discovery)
    for row in OPERATIONS:
        error = line.error(row.name, surely_not=1)
        assert "surely_not" in error["message"], row.name


# -- requests that make no sense -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "kind", "says"),
    [
        ({"op": "dosier"}, "usage", "Did you mean dossier?"),
        ({"op": "hand_over"}, "usage", "Did you mean hand-over?"),
        ({"op": "\ud800"}, "usage", "no operation"),
        ({"op": 7}, "usage", "names an operation"),
        ({}, "usage", "names an operation"),
        ({"op": "status", "args": []}, "usage", "are an object"),
        ({"op": "dossier", "args": {}}, "usage", "lacks entity"),
        ({"op": "dossier", "args": {"entiti": "a"}}, "usage", "Did you mean entity?"),
        ({"op": "dossier", "args": {"entity": 7}}, "usage", "entity must be a text"),
        ({"op": "dossier", "args": {"entity": "a", "limit": 0}}, "usage", "limit must be"),
        ({"op": "dossier", "args": {"entity": "a", "limit": True}}, "usage", "limit must be"),
        ({"op": "dossier", "args": {"entity": "a", "limit": 1e3}}, "usage", "limit must be"),
        ({"op": "dossier", "args": {"entity": "\ud800"}}, "usage", "surrogate"),
        ({"op": "dossier", "args": {"entity": "nobody"}}, "unknown-entity", "nobody"),
        ({"op": "dossier", "args": {"entity": "../../etc/passwd"}}, "invalid-id", "segments"),
        ({"op": "query", "args": {"sparql": "SELECT"}}, "invalid-query", ""),
        ({"op": "query", "args": {"sparql": "ASK {}", "timeout": -1}}, "usage", "timeout must be"),
        ({"op": "neighbourhood", "args": {"entity": "a", "direction": "up"}}, "usage", "direction cannot"),
        ({"op": "neighbourhood", "args": {"entity": "a", "types": "x"}}, "usage", "types must be"),
        ({"op": "assert", "args": {"facts": [], "source": "s", "reason": "r"}}, "invalid-fact", "list"),
        ({"op": "assert", "args": {"facts": [{"subject": "a"}], "source": "s", "reason": "r"}},
         "invalid-fact", "Fact 1"),
        ({"op": "describe", "args": {"terms": "x"}}, "usage", "terms must be a list"),
        ({"op": "describe", "args": {"terms": ["<a> . <b> <c> <d>"]}}, "usage", "no term"),
        ({"op": "describe", "args": {"terms": [7]}}, "usage", "no term"),
        ({"op": "describe", "args": {"term": []}}, "usage", "Did you mean terms?"),
        ({"op": "export", "args": {"out": "/somewhere"}}, "usage", "no argument 'out'"),
        ({"op": "assert", "args": {"file": "/somewhere"}}, "usage", "no argument 'file'"),
    ],
    ids=lambda value: json.dumps(value)[:40] if isinstance(value, dict) else "",
)  # fmt: skip
def test_a_request_that_makes_no_sense_is_answered_by_its_id_and_the_connection_goes_on(
    owners: Any, shared: Owner, request_: dict[str, Any], kind: str, says: str
) -> None:
    line = owners.ops(shared.discovery)
    line.send({"id": "mine", **request_})
    error = line.answer("mine")["error"]
    assert (error["kind"], says in error["message"]) == (kind, True), error
    assert line.ask("status")["notes"] == 2


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n", b"[]\n", b"7\n", b"\xff\xfe{}\n", b'{"id": 1\n', b'{"id": NaN, "op": "status"}\n',
        b"[" * 200_000 + b"\n", b'{"op": "status"}\n', b'{"id": null, "op": "status"}\n',
        b'{"id": 1.5, "op": "status"}\n', b'{"id": [1], "op": "status"}\n', b'{"id": true, "op": "status"}\n',
        b'{"id": "\\ud800", "op": "status"}\n', b"\0\n",
    ],
    ids=lambda line: repr(line[:30]),
)  # fmt: skip
def test_a_line_that_is_no_request_is_answered_and_the_connection_goes_on(
    owners: Any, shared: Owner, line: bytes
) -> None:
    connection = owners.ops(shared.discovery)
    connection.send(line)
    assert connection.answer(None)["error"]["kind"] == "usage"
    assert connection.ask("status")["notes"] == 2


def test_empty_lines_are_no_requests(owners: Any, shared: Owner) -> None:
    line = owners.ops(shared.discovery)
    line.send(b"\n \r\n")
    assert line.ask("status")["notes"] == 2


@pytest.mark.parametrize(
    "start", [b'{"id": 7, "op": "', b'{"id":"7\\n", "op": "', b'{"op": "status", "id": 7, "x": "']
)
def test_a_request_over_eight_mebibytes_is_refused_and_the_connection_goes_on(
    owners: Any, shared: Owner, start: bytes
) -> None:
    line = owners.ops(shared.discovery)
    line.send(start + b"x" * (MOST + 1 - len(start)) + b'"}\n')
    answer = line.read()
    assert "8 MiB" in answer["error"]["message"]
    assert answer["id"] == (json.loads(start + b'"}')["id"] if start.startswith(b'{"id"') else None)
    assert line.ask("status")["notes"] == 2


def test_the_longest_request_is_taken(owners: Any, shared: Owner) -> None:
    line = owners.ops(shared.discovery)
    start, end = b'{"id": 7, "op": "search", "args": {"text": "', b'"}}'
    line.send(start + b"x" * (MOST - len(start) - len(end)) + end + b"\n")
    assert "8 MiB" not in json.dumps(line.answer(7))


def test_an_id_that_is_in_use_is_refused_without_disturbing_its_first_request(
    owners: Any, here: Owner, engine: Engine
) -> None:
    line = owners.ops(here.discovery)
    with owners.busy_writer(engine) as free:
        line.send({"id": 1, "op": "assert", "args": fact(1)})
        line.send({"id": 1, "op": "status"})
        refused = line.read()
        assert (refused["id"], "under way" in refused["error"]["message"]) == (None, True)
        free.set()
    assert "assertion" in line.answer(1)["result"]
    line.send({"id": 1, "op": "status"})
    assert line.answer(1)["result"]["notes"] == 2


def test_a_fault_of_ours_is_an_answer_and_no_end(
    owners: Any, here: Owner, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = owners.ops(here.discovery)
    with monkeypatch.context() as patch:
        patch.setattr(engine, "status", lambda: 1 // 0)
        error = line.error("status")
        assert (error["kind"], "ZeroDivisionError" in error["message"]) == ("internal", True)
    assert line.ask("status")["notes"] == 2


# -- side by side --------------------------------------------------------------------------------


def test_writes_that_wait_keep_no_read_and_no_cancelling_from_being_answered(
    owners: Any, here: Owner, engine: Engine
) -> None:
    line = owners.ops(here.discovery)
    with owners.busy_writer(engine):
        writes = [line.begin("assert", **fact(number)) for number in range(40)]
        # What waits for the writer fills neither the threads of reads nor those of queries.
        term = str(engine.query("SELECT ?s { ?s prop:depends_on ?o }").rows[0][0])  # type: ignore[union-attr]
        assert [one["id"] for one in line.ask("describe", terms=[term])] == ["a"]
        assert len(line.ask("attached")) == 1
        line.send({"cancel": writes[-1]})
        assert line.answer(writes[-1])["error"]["kind"] == "stopped"
    answers = sorted(line.answers(39), key=lambda answer: answer["id"])
    assert [answer["id"] for answer in answers] == writes[:-1]
    assert all("assertion" in answer["result"] for answer in answers)
    assert len(known(engine)) == 39, "the one that was cancelled before it began was not done"


def test_twenty_writes_at_once_on_one_connection_are_all_there_also_after_a_restart(
    owners: Any, small: Path
) -> None:
    """Case 1."""
    process = owners.serve(small)
    line = owners.ops(small)
    writes = [line.begin("assert", **fact(number)) for number in range(20)]
    answers = line.answers(20)
    assert sorted(answer["id"] for answer in answers) == writes
    assert len({answer["result"]["assertion"] for answer in answers}) == 20
    told = line.ask("dossier", entity="a")
    assert sum(one["predicate"]["label"] == "knows" for one in told["outgoing"]) == 20
    process.kill()
    process.wait()
    with open_vault(small) as engine:
        engine.index()
        assert len(known(engine)) == 20


def test_two_that_write_at_once_lose_nothing(owners: Any, small: Path) -> None:
    """Case 2: ids unique, and each connection sees revisions strictly rise."""
    owners.serve(small)
    lines = [owners.ops(small), owners.ops(small)]
    start = threading.Barrier(2)

    def write(line: Any, who: str) -> list[dict[str, Any]]:
        start.wait(60)
        end = time.monotonic() + 4
        results: list[dict[str, Any]] = []
        while time.monotonic() < end:
            results.append(line.ask("assert", **fact(len(results), who)))
        return results

    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(write, lines, ("a", "b")))
    every = [result for results in both for result in results]
    assert len({result["assertion"] for result in every}) == len(every)
    for results in both:
        revisions = [int(result["revision"].rpartition("-")[2]) for result in results]
        assert revisions == sorted(set(revisions))
    for who, results in zip("ab", both, strict=True):
        assert results
        cursor, count = None, 0
        while True:
            told = lines[0].ask("dossier", entity=who, cursor=cursor)
            count += sum(one["predicate"]["label"] == "knows" for one in told["outgoing"])
            if (cursor := told["cursor"]) is None:
                break
        assert count == len(results)


def test_progress_is_told_before_the_answer(owners: Any, here: Owner, engine: Engine) -> None:
    for number in range(1500):
        (engine.vault / f"n{number}.md").write_text(f"# N{number}\n\n[[n{number + 1}]]\n", "utf-8")
    line = owners.ops(here.discovery)
    id = line.begin("rebuild")
    lines = []
    while "result" not in (message := line.read()):
        lines.append(message)
    assert message["result"]["notes"] == 1502
    assert lines
    for told in lines:
        assert told.keys() == {"id", "progress"}
        assert (told["id"], 0 <= told["progress"]["done"] <= told["progress"]["total"]) == (id, True)


# -- cancelling ----------------------------------------------------------------------------------


def test_a_query_that_is_cancelled_is_answered_at_once_and_the_connection_goes_on(
    owners: Any, here: Owner
) -> None:
    line = owners.ops(here.discovery)
    id = line.begin("query", sparql=NEVER, timeout=60)
    owners.until(lambda: not here.is_idle, "the query's start")
    began = time.monotonic()
    line.send({"cancel": id})
    assert line.answer(id)["error"]["kind"] == "stopped"
    assert time.monotonic() - began < 3
    assert line.ask("status")["notes"] == 2
    owners.until(lambda: here.is_idle, "the query's end", 10)


def test_queries_of_a_connection_that_hung_up_are_stopped(owners: Any, here: Owner) -> None:
    line = owners.ops(here.discovery)
    for _ in range(6):  # more than there are threads for
        line.begin("query", sparql=NEVER, timeout=60)
    owners.until(lambda: not here.is_idle, "the queries' start")
    line.close()
    owners.until(lambda: here.is_idle and not here.attached(), "the queries' end", 10)
    assert owners.ops(here.discovery).ask("query", sparql="ASK {}")["ask"]["boolean"] is True


@pytest.mark.parametrize("id", [99, "x", None, [], {}, True])
def test_cancelling_what_is_not_under_way_is_no_error(owners: Any, shared: Owner, id: object) -> None:
    line = owners.ops(shared.discovery)
    line.send({"cancel": id})
    assert line.ask("status")["notes"] == 2


def test_a_request_too_many_is_refused(owners: Any, here: Owner, engine: Engine) -> None:
    line = owners.ops(here.discovery)
    with owners.busy_writer(engine):
        waiting = [line.begin("assert", **fact(number)) for number in range(256)]
        error = line.error("attached")
        assert "256 requests" in error["message"]
    assert {answer["id"] for answer in line.answers(256)} == set(waiting)


def test_who_asks_much_and_reads_nothing_keeps_nobody_waiting(
    owners: Any, here: Owner, engine: Engine
) -> None:
    (engine.vault / "c.md").write_text(f"---\nabout: {'x' * 3_000_000}\n---\n", "utf-8")
    deaf, line = owners.ops(here.discovery), owners.ops(here.discovery)
    for _ in range(20):
        deaf.begin("export")
    assert line.ask("status")["notes"] == 3
    assert line.ask("dossier", entity="a")["entity"]["id"] == "a"
    deaf.close()
    owners.until(lambda: len(here.attached()) == 1, "the deaf one's end")

"""Many writers at once, restarts, kills and full disks: what is acknowledged is there, once, for good."""

from __future__ import annotations

import errno
import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from synapse.engine import Agent, Engine, WrittenFact, open_vault
from synapse.engine.errors import IdempotencyConflict, NotHolding, UnknownEntity, WriteFailed
from synapse.engine.questions.results import Asserted

linux = pytest.mark.skipif(sys.platform != "linux", reason="signals and mounts of Linux")
CLAUDE, CODEX = Agent("claude", "software", "desktop", "1"), Agent("codex", "software", "cli", "2")


def knows(number: int | str) -> WrittenFact:
    return WrittenFact(f"people/p{number}", "knows", "people/ada")


def born(year: str) -> WrittenFact:
    return WrittenFact("people/ada", "born", year, "literal", "xsd:gYear")


def state(engine: Engine, *facts: WrittenFact, agent: Agent = CLAUDE, **more: Any) -> Asserted:
    return engine.assert_facts(facts, source="a test", reason="to see", agent=agent, **more)


def known(engine: Engine) -> set[str]:
    """Who is stated to know Ada."""
    text = engine.export("ntriples").decode()
    return set(re.findall(r"^<vault:/people/p(\w+)> <http://schema.org/knows>", text, re.MULTILINE))


def journal_of(vault: Any) -> Path:
    (found,) = (vault.folder / ".synapse" / "journal").glob("*.jsonl")
    return Path(found)


@pytest.fixture
def vault(vault: Any) -> Any:
    vault.write("people/ada.md", "# Ada\n")
    return vault


# -- many at once -----------------------------------------------------------------------------------


def test_twenty_statements_at_once_are_all_there_also_after_a_restart(vault: Any) -> None:
    answers: list[Asserted] = []
    with vault.open() as engine:
        engine.index()
        begin = threading.Barrier(20)

        def work(number: int) -> None:
            begin.wait(30)
            answers.append(state(engine, knows(number), idempotency_key=str(number)))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        wanted = {str(number) for number in range(20)}
        assert known(engine) == wanted
        assert len({answer.assertion for answer in answers}) == len({a.revision for a in answers}) == 20
        assert all(answer.facts == 1 and not answer.repeated for answer in answers)
        assert engine.check().ok
    with vault.open() as engine:
        assert known(engine) == wanted
        engine.index()
        assert known(engine) == wanted and engine.check().ok


def test_two_agents_writing_at_once_lose_nothing_and_their_revisions_rise(vault: Any) -> None:
    each = 60
    told: dict[str, list[Asserted]] = {"claude": [], "codex": []}
    with vault.open() as engine:
        engine.index()

        def work(agent: Agent) -> None:
            for number in range(each):
                answer = state(engine, knows(f"{agent.name}{number}"), agent=agent)
                if number % 10 == 9:
                    engine.retract_facts(assertion=answer.assertion, reason="no", agent=agent)
                told[agent.name].append(answer)

        threads = [threading.Thread(target=work, args=(agent,)) for agent in (CLAUDE, CODEX)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(100)
        wanted = {f"{name}{number}" for name in told for number in range(each) if number % 10 != 9}
        assert known(engine) == wanted
        for answers in told.values():
            numbers = [int(answer.revision.rpartition("-")[2]) for answer in answers]
            assert numbers == sorted(set(numbers))
        everything = [answer.assertion for answers in told.values() for answer in answers]
        assert len(set(everything)) == 2 * each
        assert engine.check().ok
    lines = [json.loads(line) for line in journal_of(vault).read_bytes().splitlines()]
    assert [line["sequence"] for line in lines] == list(range(1, len(lines) + 1))
    assert [line["id"] for line in lines] == sorted({line["id"] for line in lines})


# -- the same call across a crash --------------------------------------------------------------------


def lose_the_graphs_part(vault: Any, number: int, key: str) -> str:
    """As after a kill between the journal's fsync and the graph's transaction: an event more."""
    path = journal_of(vault)
    event = json.loads(path.read_bytes().splitlines()[-1])
    event["id"] = event["id"][:-1] + ("0" if event["id"][-1] != "0" else "1")
    event["sequence"] += 1
    event["data"]["facts"][0]["subject"] = f"people/p{number}"
    event["data"]["key"] = key
    with path.open("ab") as file:
        file.write(json.dumps(event).encode() + b"\n")
    return str(event["id"])


def test_a_call_whose_answer_was_lost_in_a_crash_is_answered_and_stated_once(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, knows(1), idempotency_key="one")
    lost = lose_the_graphs_part(vault, 2, "two")
    with vault.open() as engine:  # nothing is indexed first: an agent is quick
        again = state(engine, knows(2), idempotency_key="two")
        assert (again.assertion, again.repeated, again.facts) == (lost, True, 1)
        assert known(engine) == {"1", "2"}, "what is answered is in the graph too"
        with pytest.raises(IdempotencyConflict):
            state(engine, knows(3), idempotency_key="two")
        assert engine.check().ok
    assert len(journal_of(vault).read_bytes().splitlines()) == 2


@pytest.mark.parametrize("act", ["assert", "retract", "undo"])
def test_a_write_after_a_crash_does_not_pass_over_what_the_graph_missed(vault: Any, act: str) -> None:
    with vault.open() as engine:
        engine.index()
        first = state(engine, knows(1), agent=CODEX, idempotency_key="one")
        state(engine, knows(2), idempotency_key="two")
    lose_the_graphs_part(vault, 3, "three")
    with vault.open() as engine:
        if act == "assert":
            state(engine, knows(4))
        elif act == "retract":
            engine.retract_facts(assertion=first.assertion, reason="no")
        else:
            engine.undo_agent("codex", None, reason="no")
        assert known(engine) == {"2", "3"} | ({"1", "4"} if act == "assert" else set())
        engine.index()
        assert engine.check().ok


STATE_AND_DIE = """
import os, signal, sys, threading
from pathlib import Path
from synapse.engine import Agent, WrittenFact, open_vault
engine = open_vault(sys.argv[1], Path(sys.argv[2]))
engine.index()
def die():
    for _ in range(int(sys.argv[3])):
        reached.wait(); reached.clear()
    os.kill(os.getpid(), signal.SIGKILL)
reached = threading.Event()
threading.Thread(target=die).start()
for number in range(10_000):
    fact = WrittenFact(f"people/p{number}", "knows", "people/ada")
    engine.assert_facts([fact], source="a test", reason="to see", agent=Agent("claude"),
                        idempotency_key=str(number))
    print(number, flush=True)
    reached.set()
"""


@linux
def test_calls_sent_again_after_a_kill_at_any_moment_are_there_once(vault: Any) -> None:
    acknowledged: set[int] = set()
    for life in range(4):
        child = subprocess.run(
            [sys.executable, "-c", STATE_AND_DIE, str(vault.folder), str(vault.data), str(5 + 9 * life)],
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert child.returncode == -signal.SIGKILL, child.stderr
        acknowledged |= {int(line) for line in child.stdout.splitlines()}
    last = max(acknowledged)
    with vault.open() as engine:
        for number in range(last + 3):
            state(engine, knows(number), agent=Agent("claude"), idempotency_key=str(number))
        assert known(engine) == {str(number) for number in range(last + 3)}
        assert len(engine.assertions_of("claude", limit=10_000)) == last + 3, "each once"
        engine.index()
        assert engine.check().ok


def test_a_torn_line_is_warned_of_and_its_call_can_be_sent_again(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, knows(1), idempotency_key="one")
        state(engine, knows(2), idempotency_key="two")
    path = journal_of(vault)
    whole = path.read_bytes()
    path.write_bytes(whole[: -len(whole.splitlines()[-1]) // 2])
    with vault.open() as engine:
        (warning,) = engine.warnings
        assert "half-written" in warning
        kept = state(engine, knows(1), idempotency_key="one")
        assert kept.repeated
        again = state(engine, knows(2), idempotency_key="two")
        assert not again.repeated and again.facts == 1
        assert known(engine) == {"1", "2"}
        engine.index()
        assert engine.check().ok
    with vault.open() as engine:
        assert engine.warnings == ()
        engine.index()
        assert known(engine) == {"1", "2"} and engine.check().ok


# -- writes that fail --------------------------------------------------------------------------------


def test_a_write_that_the_journal_refuses_can_be_sent_again_with_its_key(
    vault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vault.open() as engine:
        engine.index()
        old = state(engine, knows(1))
        before = engine.export(with_meta=True, with_inferred=True), engine.status()

        def full(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("synapse.engine.record.journal.write_all", full)
            with pytest.raises(WriteFailed, match="No space left"):
                state(engine, knows(2), supersedes=[old.assertion], idempotency_key="two")
        assert (engine.export(with_meta=True, with_inferred=True), engine.status()) == before
        made = state(engine, knows(2), supersedes=[old.assertion], idempotency_key="two")
        assert not made.repeated and known(engine) == {"2"}
        assert engine.check().ok


def test_a_write_that_the_graph_refuses_is_not_in_the_journal_and_its_key_is_free(
    vault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, knows(1))
        journal = journal_of(vault).read_bytes()

        def full(*_: object) -> None:
            raise WriteFailed("The graph could not be written: No space left on device.", "Free space.")

        with monkeypatch.context() as patch:
            patch.setattr("synapse.engine.graph.store.GraphStore.apply", full)
            with pytest.raises(WriteFailed):
                state(engine, knows(2), idempotency_key="two")
        assert journal_of(vault).read_bytes() == journal
        assert known(engine) == {"1"} and engine.check().ok
        assert not state(engine, knows(2), idempotency_key="two").repeated
        assert known(engine) == {"1", "2"}
    with vault.open() as engine:
        engine.index()
        assert known(engine) == {"1", "2"} and engine.check().ok


def test_an_event_that_cannot_be_taken_back_is_carried_out_by_the_next_write(
    vault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise WriteFailed("No.", "Free space.")

    with vault.open() as engine:
        engine.index()
        state(engine, knows(1))
        with monkeypatch.context() as patch:
            patch.setattr("synapse.engine.graph.store.GraphStore.apply", refuse)
            patch.setattr("synapse.engine.record.journal.Journal.rollback", refuse)
            with pytest.raises(WriteFailed, match="recorded"):
                state(engine, knows(2), idempotency_key="two")
        assert known(engine) == {"1"}
        state(engine, knows(3))
        assert known(engine) == {"1", "2", "3"}
        assert state(engine, knows(2), idempotency_key="two").repeated
        assert engine.check().ok


# -- what goes, goes everywhere; what is new retires nothing -------------------------------------------


def test_a_retracted_fact_is_gone_from_every_answer_and_the_record_stays(vault: Any) -> None:
    every = ["note", "unwritten", "attachment", "tag", "other"]
    with vault.open() as engine:
        engine.index()
        unchanged = engine.export(with_inferred=True)
        made = state(engine, WrittenFact("people/zebedee", "knows", "people/ada"))
        for answer in (engine.dossier("people/ada"), engine.neighbourhood("people/ada"), engine.digest()):
            assert "zebedee" in str(answer)
        assert engine.search("zebedee", kinds=every).total == 1
        assert b"<vault:/people/ada> <http://schema.org/knows> <vault:/people/zebedee>" in engine.export(
            with_inferred=True
        )
        engine.retract_facts(assertion=made.assertion, reason="nobody of that name", agent=CODEX)
        for answer in (engine.dossier("people/ada"), engine.neighbourhood("people/ada")):
            assert "zebedee" not in str(answer)
        assert "zebedee" not in engine.digest().split("## Withdrawn")[0]
        assert engine.search("zebedee", kinds=every).total == 0
        assert engine.export(with_inferred=True) == unchanged
        for ask in (engine.dossier, engine.neighbourhood, engine.impact):
            with pytest.raises(UnknownEntity):
                ask("people/zebedee")
        with pytest.raises((UnknownEntity, NotHolding)):
            engine.provenance("people/ada", "knows", "people/zebedee")
        (told,) = engine.assertions_of("claude")
        assert (told.id, told.standing) == (made.assertion, 0)
        assert "nobody of that name" in engine.export(with_meta=True).decode()


def test_only_what_is_named_as_superseded_is_retired(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        one = state(engine, born("1815"))
        state(engine, born("1816"), agent=CODEX)
        state(engine, born("1817"))

        def years() -> set[str]:
            facts = engine.dossier("people/ada").attributes
            return {fact.object.label for fact in facts if fact.predicate.label == "born"}

        assert years() == {"1815", "1816", "1817"}
        state(
            engine, born("1818"),
            supersedes=[one.assertion],
        )  # fmt: skip
        assert years() == {"1816", "1817", "1818"}
        assert engine.check().ok


# -- cost --------------------------------------------------------------------------------------------


@linux
@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_write_costs_the_same_after_five_thousand_of_them(tmp_path: Path) -> None:
    from time import perf_counter

    (tmp_path / "vault").mkdir()
    with closing(open_vault(tmp_path / "vault", tmp_path / "data")) as engine:
        engine.index()
        took: list[float] = []
        for number in range(5_000):
            began = perf_counter()
            state(engine, WrittenFact(f"a/{number}", "sees", f"b/{number}"), idempotency_key=str(number))
            took.append(perf_counter() - began)
    early, late = sorted(took[100:1100])[500], sorted(took[-1000:])[500]
    assert late < 3 * early, (early, late)

"""Calls that are sent twice, that replace, that only try, and what is undone of an agent's writes."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from synapse.engine import Agent, Engine, WrittenFact
from synapse.engine.errors import IdempotencyConflict, NotFound, UnknownEntity, UsageError
from synapse.engine.record import utc_now

CLAUDE, CODEX = Agent("claude", "software", "desktop", "1"), Agent("codex")


@pytest.fixture
def engine(vault: Any) -> Iterator[Engine]:
    """A vault with one note, indexed."""
    vault.write("people/ada.md", "# Ada\n")
    with vault.open() as opened:
        opened.index()
        yield opened


def _write(vault: Any, files: dict[str, str]) -> None:
    for path, text in files.items():
        vault.write(path, text)


def knows(number: int) -> WrittenFact:
    return WrittenFact(f"people/p{number}", "knows", "people/ada")


def state(engine: Engine, *facts: WrittenFact, agent: Agent = CLAUDE, **more: Any) -> Any:
    return engine.assert_facts(facts, source="a test", reason="to see", agent=agent, **more)


def content(folder: Path) -> dict[str, bytes]:
    """Every file below a folder; the store's own log of its runs left out."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith("LOG")
    }


def sqlite_bytes(data: Path) -> dict[str, bytes]:
    """Catalogue and history with their logs; the store is compared by what it holds, because it goes
    on putting its own files in order."""
    found = {Path(path).name: held for path, held in content(data).items()}
    return {name: held for name, held in found.items() if ".sqlite" in name and not name.endswith("-shm")}


def stated(engine: Engine) -> set[str]:
    text = engine.export("ntriples").decode()
    return {line for line in text.splitlines() if "vault:/people/p" in line and "schema.org/knows" in line}


# -- the same call twice ----------------------------------------------------------------------------


def test_a_call_sent_again_states_nothing_new(engine: Engine) -> None:
    first = state(engine, knows(1), idempotency_key="k1")
    again = state(engine, knows(1), idempotency_key="k1")
    assert (again.assertion, again.repeated, again.facts) == (first.assertion, True, 1)
    assert again.revision == first.revision == engine.status().revision
    assert len(engine.assertions_of("claude")) == 1


def test_a_key_belongs_to_one_agent(engine: Engine) -> None:
    first = state(engine, knows(1), idempotency_key="k1")
    other = state(engine, knows(2), agent=CODEX, idempotency_key="k1")
    assert not other.repeated and other.assertion != first.assertion


def test_a_key_used_for_something_else_is_a_conflict(engine: Engine) -> None:
    state(engine, knows(1), idempotency_key="k1")
    before = engine.status().revision
    with pytest.raises(IdempotencyConflict, match="k1"):
        state(engine, knows(2), idempotency_key="k1")
    with pytest.raises(IdempotencyConflict):
        engine.assert_facts([knows(1)], source="another", reason="to see", agent=CLAUDE, idempotency_key="k1")
    assert engine.status().revision == before


def test_keys_are_known_after_a_restart_and_after_a_rebuild(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        first = state(engine, knows(1), idempotency_key="k1")
    with vault.open() as engine:
        engine.index()
        assert state(engine, knows(1), idempotency_key="k1").assertion == first.assertion
        engine.rebuild()
        again = state(engine, knows(1), idempotency_key="k1")
        assert (again.assertion, again.repeated) == (first.assertion, True)


def test_one_key_sent_at_once_by_many_threads_states_once(engine: Engine) -> None:
    answers: list[Any] = []
    threads = [
        threading.Thread(target=lambda: answers.append(state(engine, knows(1), idempotency_key="k")))
        for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({answer.assertion for answer in answers}) == 1
    assert sum(not answer.repeated for answer in answers) == 1


def test_a_retracted_call_sent_again_stays_retracted(engine: Engine) -> None:
    first = state(engine, knows(1), idempotency_key="k1")
    engine.retract_facts(assertion=first.assertion, reason="wrong", agent=CLAUDE)
    again = state(engine, knows(1), idempotency_key="k1")
    assert (again.repeated, again.facts) == (True, 0)
    assert not stated(engine)


@pytest.mark.parametrize("key", ["", "   ", "x" * 201, "a\nb", "a\x00b", "\ud800"])
def test_impossible_keys_are_refused(engine: Engine, key: str) -> None:
    with pytest.raises(UsageError, match="idempotency key"):
        state(engine, knows(1), idempotency_key=key)
    assert not stated(engine)


# -- replacing --------------------------------------------------------------------------------------


def test_what_is_superseded_is_withdrawn_and_nothing_else_is(engine: Engine) -> None:
    old = state(engine, knows(1), knows(2))
    other = state(engine, knows(3), agent=CODEX)
    new = state(engine, knows(4), supersedes=[old.assertion])
    assert {line.split("people/p")[1][0] for line in stated(engine)} == {"3", "4"}
    standing = {one.id: one.standing for one in engine.assertions_of("claude")}
    assert standing == {old.assertion: 0, new.assertion: 1}
    assert engine.assertions_of("codex")[0].id == other.assertion
    assert engine.check().ok


def test_a_new_fact_never_retires_another(engine: Engine) -> None:
    state(engine, WrittenFact("people/p1", "knows", "people/ada"))
    state(engine, WrittenFact("people/p1", "knows", "people/bob"))
    assert len(stated(engine)) == 2


def test_superseding_what_is_not_there_is_refused_before_anything_is_written(engine: Engine) -> None:
    with pytest.raises(NotFound):
        state(engine, knows(1), supersedes=["01NOTTHERE"])
    assert not stated(engine) and not engine.agent_activity()


# -- only trying ------------------------------------------------------------------------------------

INFERRING = {
    "people/ada.md": "# Ada\n",
    "modules/a.md": "---\ndepends_on: '[[modules/b]]'\n---\n",
    "modules/b.md": "# B\n",
}


def test_a_dry_run_says_what_would_be_and_leaves_every_byte(vault: Any) -> None:
    _write(vault, INFERRING)
    fact = WrittenFact("modules/b", "part_of", "modules/c")
    with vault.open() as engine:
        engine.index()
        engine.explain("modules/a", "depends_on", "modules/b")
        before = engine.export(with_inferred=True, with_meta=True)
        folder, databases = content(vault.folder), sqlite_bytes(vault.data)
        assert {"catalogue.sqlite", "history.sqlite"} <= set(databases)
        told: list[Any] = []
        engine.subscribe(told.append)
        tried = state(engine, fact, dry_run=True)
        assert engine.export(with_inferred=True, with_meta=True) == before
        assert content(vault.folder) == folder and sqlite_bytes(vault.data) == databases and not told
        assert (tried.assertion, tried.facts, tried.dry_run) == ("", 1, True)
        assert tried.revision == engine.status().revision
        done = state(engine, fact)
        assert (done.facts, done.inferred) == (tried.facts, tried.inferred)
        assert done.inferred > 0
        assert engine.check().ok
        assert "modules/b" in {fact.object.id for fact in engine.dossier("modules/c").outgoing}


def test_a_dry_run_of_what_replaces_counts_what_would_newly_follow(vault: Any) -> None:
    _write(vault, INFERRING)
    with vault.open() as engine:
        engine.index()
        old = state(engine, WrittenFact("modules/b", "part_of", "modules/c"))
        new = WrittenFact("modules/b", "part_of", "modules/d")
        tried = state(engine, new, supersedes=[old.assertion], dry_run=True)
        done = state(engine, new, supersedes=[old.assertion])
        assert (done.facts, done.inferred) == (tried.facts, tried.inferred)
        assert engine.check().ok


@pytest.mark.parametrize("form", ["{}", "urn:synapse:assertion:{}", " <urn:synapse:assertion:{}> "])
def test_what_is_replaced_is_named_by_id_or_iri_in_earnest_and_in_a_dry_run(
    engine: Engine, form: str
) -> None:
    old = state(engine, WrittenFact("people/ada", "knows", "people/p1"))
    named = [form.format(old.assertion)]
    # The old fact follows from the new one: it turns from stated to inferred.
    tried = state(engine, knows(1), supersedes=named, dry_run=True)
    assert (tried.facts, tried.inferred) == (1, 1)
    assert state(engine, knows(1), dry_run=True).inferred == 0
    assert state(engine, knows(1), supersedes=named).inferred == 1
    assert engine.check().ok


def test_a_dry_run_refuses_what_the_call_would_refuse(engine: Engine) -> None:
    with pytest.raises(NotFound):
        state(engine, knows(1), supersedes=["01NOTTHERE"], dry_run=True)
    first = state(engine, knows(1), idempotency_key="k1")
    tried = state(engine, knows(1), idempotency_key="k1", dry_run=True)
    assert (tried.repeated, tried.assertion) == (True, first.assertion)


# -- undoing what an agent wrote ---------------------------------------------------------------------


def test_all_that_an_agent_wrote_since_a_moment_is_undone(engine: Engine) -> None:
    state(engine, knows(1))
    state(engine, knows(5), agent=CODEX)
    moment = _next_moment()
    state(engine, knows(2), knows(3))
    state(engine, knows(4), agent=CODEX)
    planned = engine.undo_agent("claude", moment, reason="", dry_run=True)
    assert (planned.events, planned.withdrawn) == (1, 2)
    undone = engine.undo_agent("claude", moment, reason="it guessed")
    assert (undone.events, undone.withdrawn, undone.restored) == (1, 2, 0)
    assert {line.split("people/p")[1][0] for line in stated(engine)} == {"1", "4", "5"}
    assert engine.check().ok
    again = engine.undo_agent("claude", moment, reason="once more")
    assert again.events == 0 and again.revision == undone.revision


def test_what_an_agent_withdrew_or_replaced_is_there_again(engine: Engine) -> None:
    mine = state(engine, knows(1), agent=CODEX)
    other = state(engine, knows(2), agent=CODEX)
    before = stated(engine)
    engine.retract_facts(assertion=mine.assertion, reason="I think not", agent=CLAUDE)
    state(engine, knows(3), supersedes=[other.assertion])
    assert len(stated(engine)) == 1
    undone = engine.undo_agent("claude", None, reason="it was wrong")
    assert (undone.withdrawn, undone.restored) == (1, 2)
    assert stated(engine) == before
    assert engine.check().ok


def test_an_undo_holds_after_a_restart_and_is_one_event(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        for number in range(20):
            state(engine, knows(number))
        (journal,) = (vault.folder / ".synapse" / "journal").glob("*.jsonl")
        lines = len(journal.read_bytes().splitlines())
        engine.undo_agent("claude", None, reason="all of it")
        assert len(journal.read_bytes().splitlines()) == lines + 1
        assert not stated(engine)
    with vault.open() as engine:
        engine.index()
        assert not stated(engine)
        engine.rebuild()
        assert not stated(engine)
        assert engine.check().ok


def test_undoing_needs_a_reason(engine: Engine) -> None:
    state(engine, knows(1))
    with pytest.raises(UsageError, match="reason"):
        engine.undo_agent("claude", None, reason="  ")
    assert len(stated(engine)) == 1


def test_what_agents_did_is_told(engine: Engine) -> None:
    first = state(engine, knows(1), knows(2))
    state(engine, knows(3), agent=CODEX)
    engine.retract_facts(facts=[knows(2)], reason="not her", agent=CLAUDE)
    claude, codex = sorted(engine.agent_activity(), key=lambda one: one.name)
    assert (claude.assertions, claude.retractions, claude.facts, claude.client) == (1, 1, 1, "desktop")
    assert (codex.assertions, codex.retractions, codex.facts) == (1, 0, 1)
    assert engine.agent_activity()[0].name == "claude", "who did something last comes first"
    (told,) = engine.assertions_of("claude")
    assert (told.id, told.reason, told.source) == (first.assertion, "to see", "a test")
    assert told.entities == ("people/p1", "people/p2") and told.standing == 1
    assert all("Ada" in sentence or "ada" in sentence for sentence in told.facts)
    assert engine.assertions_of("claude", since=_next_moment()) == ()
    assert engine.assertions_of("nobody") == ()


def test_a_withdrawn_fact_is_gone_from_every_answer_and_stays_in_the_record(engine: Engine) -> None:
    fact = WrittenFact("people/zebedee", "knows", "people/ada")
    made = state(engine, fact)
    assert engine.dossier("people/zebedee").total
    engine.undo_agent("claude", None, reason="it made that up")
    with pytest.raises(UnknownEntity):
        engine.dossier("people/zebedee")
    with pytest.raises(UnknownEntity):
        engine.neighbourhood("people/zebedee")
    assert "zebedee" not in {edge.subject.id for edge in engine.neighbourhood("people/ada").edges}
    assert not engine.search("zebedee").hits
    assert "zebedee" not in engine.export(with_inferred=True).decode()
    (told,) = engine.assertions_of("claude")
    assert (told.id, told.standing) == (made.assertion, 0)
    assert "it made that up" in engine.export(with_meta=True).decode()


def _next_moment() -> str:
    """A time after all that was done, and not after what is done next."""
    now = utc_now()
    while utc_now() == now:
        pass
    return utc_now()

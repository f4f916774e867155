"""What was known when, kept across restarts, rebuilds and full disks."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Triple

from synapse.engine.changes import GraphChange, Revision
from synapse.engine.errors import StoreCorrupt, UsageError, WriteFailed
from synapse.engine.record.history import History
from synapse.engine.terms import vocabulary as v

A, B = NamedNode("vault:/a.md"), NamedNode("vault:/b.md")
P = NamedNode("urn:synapse:prop:p")
ONE, TWO, THREE = (
    Triple(NamedNode(f"vault:/{n}"), P, Literal(f'text {n}\n"é"', language="en")) for n in (1, 2, 3)
)
NESTED = Triple(NamedNode("vault:/n"), P, ONE)


def at(second: int) -> str:
    return f"2026-01-01T00:00:{second:02}.000Z"


def change(graph: NamedNode, added: object = (), removed: object = ()) -> GraphChange:
    return GraphChange(graph, frozenset(removed), frozenset(added))  # type: ignore[call-overload]


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "data" / "history.sqlite")


def rev(number: int, epoch: str = "e1") -> Revision:
    return Revision(epoch, number)


def test_each_revision_is_kept_with_its_time_cause_and_changes(history: History) -> None:
    history.append(rev(1), at(1), [change(A, [ONE, NESTED]), change(B, [ONE])])
    history.append(rev(2), at(2), [change(A, [TWO], [ONE])], cause="01EVENT")
    first, second = history.changes(at(0))
    assert (first.revision, first.time, first.cause) == (rev(1), at(1), "")
    assert first.changes == (change(A, [ONE, NESTED]), change(B, [ONE]))
    assert (second.revision, second.cause, second.changes) == (rev(2), "01EVENT", (change(A, [TWO], [ONE]),))
    assert history.changes(at(1)) == history.changes(rev(1)) == [second]
    assert history.changes(at(0), limit=1) == [first]
    assert history.begins == at(1) and history.last == rev(2)


def test_the_recent_revisions_come_newest_first_without_whole_loads(history: History) -> None:
    for number in (1, 2, 3, 4):
        history.append(rev(number), at(number), [change(A, [ONE] if number % 2 else [], [ONE])])
    assert [entry.revision for entry in history.recent(2)] == [rev(4), rev(3)]
    assert [entry.revision for entry in history.recent(9)] == [rev(4), rev(3), rev(2)]


def test_a_revision_that_is_not_recorded_is_a_clear_error(history: History) -> None:
    assert history.begins is None and history.last is None and history.changes(at(0)) == []
    with pytest.raises(UsageError, match="e9-4 is not in this machine's history"):
        history.changes(rev(4, "e9"))


def test_as_of_gives_what_was_known_then_and_none_before_the_beginning(history: History) -> None:
    history.append(rev(1), at(1), [change(A, [ONE, TWO])])
    history.append(rev(2), at(3), [change(A, [THREE], [ONE]), change(B, [ONE])])
    history.append(rev(3), at(5), [change(B, [], [ONE])])
    assert history.as_of(at(0)) is None
    assert history.as_of(at(1)) == history.as_of(at(2)) == {A: {ONE, TWO}}
    assert history.as_of(at(4)) == {A: {TWO, THREE}, B: {ONE}}
    assert history.as_of(at(9)) == {A: {TWO, THREE}}
    assert history.as_of(at(4), keep=lambda graph, triple: graph == B) == {B: {ONE}}


def test_since_when_a_fact_is_known_without_a_break(history: History) -> None:
    history.append(rev(1), at(1), [change(A, [ONE])])
    history.append(rev(2), at(2), [change(B, [ONE])])
    history.append(rev(3), at(3), [change(A, [TWO], [ONE])])
    assert history.first_known(ONE) == at(1), "another source still states it"
    assert history.first_known(ONE, B) == at(2)
    assert history.first_known(ONE, A) is None
    history.append(rev(4), at(4), [change(B, [], [ONE])])
    assert history.first_known(ONE) is None
    history.append(rev(5), at(5), [change(B, [ONE])])
    assert history.first_known(ONE) == at(5)
    history.append(rev(6), at(6), [change(A, [ONE]), change(B, [], [ONE])])
    assert history.first_known(ONE) == at(5), "a move within one revision is no break"
    assert history.first_known(THREE) is None
    assert history.first_known_all([ONE, TWO, THREE]) == {ONE: at(5), TWO: at(3)}


def test_inferred_facts_are_history_and_meta_is_not(history: History) -> None:
    history.append(rev(1), at(1), [change(v.META, [ONE]), change(v.INFERRED, [TWO])])
    assert history.as_of(at(1)) == {v.INFERRED: {TWO}}
    assert history.first_known(TWO) == at(1)


def test_it_is_still_there_after_a_restart(tmp_path: Path, history: History) -> None:
    history.append(rev(1), at(1), [change(A, [ONE])])
    history.close()
    history.close()
    again = History(tmp_path / "data" / "history.sqlite")
    assert again.last == rev(1) and again.first_known(ONE) == at(1) and again.set_aside is None


def test_a_rebuilt_store_goes_on_in_the_same_history(history: History) -> None:
    history.append(rev(7), at(1), [change(A, [ONE, TWO]), change(B, [ONE])])
    history.append(rev(1, "e2"), at(2), [change(A, [ONE, THREE])], whole=True)
    assert history.changes(rev(7))[0].changes == (change(A, [THREE], [TWO]), change(B, [], [ONE]))
    assert history.first_known(ONE) == at(1) and history.first_known(THREE) == at(2)
    assert history.last == rev(1, "e2")
    history.append(rev(1, "e3"), at(3), [change(A, [ONE, THREE])], whole=True)
    assert history.changes(rev(1, "e2"))[0].changes == ()


def test_what_is_there_is_not_added_again_and_what_is_not_is_not_removed(history: History) -> None:
    history.append(rev(1), at(1), [change(A, [ONE])])
    history.append(rev(2), at(2), [change(A, [ONE, TWO], [THREE])])
    assert history.changes(rev(1))[0].changes == (change(A, [TWO]),)
    assert history.first_known(ONE) == at(1)
    history.append(rev(3), at(3), [change(B, [], [ONE])])
    assert history.changes(rev(2))[0].changes == ()


def test_a_clock_set_back_keeps_the_order(history: History) -> None:
    history.append(rev(1), at(5), [change(A, [ONE])])
    history.append(rev(2), at(2), [change(A, [TWO])])
    assert [entry.time for entry in history.changes(at(0))] == [at(5), at(5)]
    assert history.as_of(at(5)) == {A: {ONE, TWO}} and history.as_of(at(3)) is None


def test_many_facts_are_kept_compressed_and_come_back(tmp_path: Path, history: History) -> None:
    facts = [
        Triple(NamedNode(f"vault:/people/somebody-{n}"), P, NamedNode(f"vault:/org/{n % 7}"))
        for n in range(5000)
    ]
    history.append(rev(1), at(1), [change(A, facts)])
    assert history.as_of(at(1)) == {A: set(facts)}
    history.close()
    assert (tmp_path / "data" / "history.sqlite").stat().st_size < 700_000


def test_threads_may_read_while_one_writes(history: History) -> None:
    errors: list[Exception] = []
    done = threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                known = len(history.changes(at(0)))
                assert known <= len(history.changes(at(0)))
                history.first_known(ONE)
        except Exception as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 60):
        history.append(
            rev(number), at(number), [change(A, [ONE] if number % 2 else [], [] if number % 2 else [ONE])]
        )
    done.set()
    for reader in readers:
        reader.join()
    assert errors == [] and len(history.changes(at(0))) == 59


def test_a_file_that_is_no_history_is_kept_aside_and_a_new_one_begun(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    for number in (1, 2):
        path.write_bytes(b"this is no database, %d" % number * 100)
        history = History(path)
        assert (
            history.set_aside is not None
            and history.set_aside.read_bytes() == b"this is no database, %d" % number * 100
        )
        history.append(rev(1), at(1), [change(A, [ONE])])
        assert history.first_known(ONE) == at(1)
        history.close()
    assert len(list(tmp_path.glob("*.corrupt*"))) == 2


def test_a_newer_version_s_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StoreCorrupt, match="another version"):
        History(path)
    assert path.exists() and not list(tmp_path.glob("*.corrupt*"))


def test_a_folder_that_cannot_be_made_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteFailed, match="history cannot be opened"):
        History(tmp_path / "file" / "history.sqlite")


def test_what_a_full_disk_refused_is_written_with_the_next_change(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    history = History(tmp_path / "history.sqlite")
    history.append(rev(1), at(1), [change(A, [ONE])])
    (pages,) = history._connection.execute("PRAGMA page_count").fetchone()
    history._connection.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own way to a full disk
    many = [Triple(NamedNode(f"vault:/x{os.urandom(16).hex()}"), P, Literal(n)) for n in range(500)]
    history.append(rev(2), at(2), [change(A, many)])
    assert history.behind == 1 and history.last == rev(1)
    assert "could not be written" in caplog.text and "full" in caplog.text
    assert history.as_of(at(9)) == {A: {ONE}}, "nothing half-written"
    history._connection.execute("PRAGMA max_page_count = 1000000")
    history.append(rev(3), at(3), [change(A, [TWO])])
    assert history.behind == 0 and [entry.revision for entry in history.changes(at(0))] == [
        rev(1),
        rev(2),
        rev(3),
    ]
    assert history.as_of(at(9)) == {A: {ONE, TWO, *many}}


_triples = st.sets(st.sampled_from([ONE, TWO, THREE, NESTED]), max_size=4)
_changes = st.lists(st.builds(change, st.sampled_from([A, B]), _triples, _triples), max_size=3)


@given(st.lists(st.tuples(_changes, st.booleans()), min_size=1, max_size=6))
def test_replaying_gives_the_state_at_every_revision(steps: list[tuple[list[GraphChange], bool]]) -> None:
    history = History(Path(":memory:"))
    state: dict[NamedNode, set[Triple]] = defaultdict(set)
    states = []
    for number, (changes, whole) in enumerate(steps, 1):
        changes = list(
            {
                one.graph: GraphChange(one.graph, one.removed - one.added, one.added) for one in changes
            }.values()
        )
        history.append(rev(number), at(number), changes, whole=whole)
        if whole:
            state = defaultdict(set)
        for one in changes:
            state[one.graph] = (state[one.graph] - one.removed) | one.added
        states.append({graph: set(facts) for graph, facts in state.items() if facts})
    for number, expected in enumerate(states, 1):
        assert history.as_of(at(number)) == expected
    for triple in (ONE, TWO, THREE, NESTED):
        since = next(
            (
                number
                for number in range(len(states), 0, -1)
                if not any(triple in f for f in states[number - 1].values())
            ),
            0,
        )
        assert history.first_known(triple) == (at(since + 1) if since < len(states) else None)
    history.close()

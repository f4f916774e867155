"""What `append` returned survives; what cannot be read is set aside, never a refusal."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.errors import InvalidFact, UsageError, WriteFailed
from synapse.engine.record import journal as module
from synapse.engine.record.events import Agent, Event, Identifiers, parse_event, utc_now
from synapse.engine.record.facts import Withdrawal, WrittenFact, assertion_data, retraction_data
from synapse.engine.record.journal import Journal, device_id, in_order

ALICE = Agent("alice", "person")
BOT = Agent("scout", "software", "some-client", "1.2")
FACT = WrittenFact("people/bob", "knows", "people/carol")
DATA = assertion_data([FACT], "a talk")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "vault" / ".synapse" / "journal"


@pytest.fixture
def journal(folder: Path) -> Journal:
    folder.parent.parent.mkdir()
    return Journal(folder, "device-a")


def stated(journal: Journal, why: str = "") -> Event:
    return journal.append("assert", BOT, why, DATA).event


# --- events ----------------------------------------------------------------------------------------

_words = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=8,
)


@given(_words, _words, st.sampled_from(["person", "software"]), st.dictionaries(_words, _json, max_size=4))
def test_an_event_is_one_line_and_comes_back_from_it(name: str, why: str, kind: str, data: dict) -> None:
    who = Agent(name, "person" if kind == "person" else "software", why, name)
    event = Event("01ABC", "device-a", 3, utc_now(), "verify", who, why, data)
    line = event.line()
    assert line.count(b"\n") == 1 and line.endswith(b"\n")
    assert parse_event(line) == event


@pytest.mark.parametrize(
    "line",
    [
        b"", b"{", b"null", b"[]", b"\xff", b"{}", b"<<<<<<< HEAD", b"\x00\x00\x00", b"[" * 100_000,
        b'{"id":"a"}',
        b'{"id":"../a","device":"d","sequence":1,"time":"2026-01-01T00:00:00.000Z","kind":"x","who":{"name":"n","kind":"person"}}',
        b'{"id":"a","device":"d","sequence":true,"time":"2026-01-01T00:00:00.000Z","kind":"x","who":{"name":"n","kind":"person"}}',
        b'{"id":"a","device":"d","sequence":1,"time":"yesterday","kind":"x","who":{"name":"n","kind":"person"}}',
        b'{"id":"a","device":"d","sequence":1,"time":"2026-01-01T00:00:00","kind":"x","who":{"name":"n","kind":"person"}}',
        b'{"id":"a","device":"d","sequence":1,"time":"2026-01-01T00:00:00.000Z","kind":"x","who":"n"}',
        b'{"id":"a","device":"d","sequence":1,"time":"2026-01-01T00:00:00.000Z","kind":"x","who":{"name":"\\ud800","kind":"person"}}',
        b'{"id":"a","device":"d","sequence":1,"time":"2026-01-01T00:00:00.000Z","kind":"x","who":{"name":"n","kind":"person"},"data":[]}',
    ],
)  # fmt: skip
def test_any_other_line_is_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_event(line)


@pytest.mark.parametrize(
    "written", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z", "2026-01-02T05:04:05.000+02:00"]
)
def test_times_in_other_forms_are_brought_into_the_one_that_sorts(written: str) -> None:
    line = Event("a", "d", 1, "2026-01-02T03:04:05.000Z", "future-kind", ALICE).line()
    other = line.replace(b"2026-01-02T03:04:05.000Z", written.encode())
    assert parse_event(other) == parse_event(line)


def test_ids_rise_also_within_a_millisecond_and_carry_the_time() -> None:
    ids = Identifiers()
    same = [ids.new("2026-01-02T03:04:05.678Z") for _ in range(1000)]
    later = ids.new("2026-01-02T03:04:05.679Z")
    back = ids.new("2020-01-01T00:00:00.000Z")
    assert [*same, later, back] == sorted({*same, later, back})
    assert {len(one) for one in same} == {26}
    digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    millisecond = sum(digits.index(c) * 32 ** (9 - place) for place, c in enumerate(later[:10]))
    assert datetime.fromtimestamp(millisecond / 1000, UTC).isoformat() == "2026-01-02T03:04:05.679000+00:00"


# --- appending -------------------------------------------------------------------------------------


def test_nothing_is_created_before_the_first_event(journal: Journal, folder: Path) -> None:
    assert journal.read_all() == ()
    assert journal.positions() == {}
    with pytest.raises(InvalidFact):
        journal.append("assert", BOT, "", {"facts": []})
    assert not folder.parent.exists()
    stated(journal)
    assert [path.name for path in folder.iterdir()] == ["device-a.jsonl"]


def test_an_event_is_on_disk_when_append_returns(journal: Journal, folder: Path) -> None:
    first = journal.append("assert", BOT, "said so", DATA)
    second = journal.append("retract", ALICE, "wrong", retraction_data([Withdrawal(first.event.id)]))
    assert Journal(folder, "device-b").read_all() == (first.event, second.event)
    assert (first.position, second.position) == (0, first.end)
    assert second.end == (folder / "device-a.jsonl").stat().st_size
    assert second.positions == journal.positions() == {"device-a.jsonl": second.end}
    assert [first.event.sequence, second.event.sequence] == [1, 2]
    assert first.event.id < second.event.id
    line = json.loads((folder / "device-a.jsonl").read_bytes().splitlines()[0])
    assert line["who"] == {"name": "scout", "kind": "software", "client": "some-client", "version": "1.2"}
    assert line["data"]["facts"][0]["subject"] == "people/bob", "ids as given"


def test_the_sequence_goes_on_after_a_restart(journal: Journal, folder: Path) -> None:
    stated(journal)
    stated(journal)
    assert stated(Journal(folder, "device-a")).sequence == 3
    assert stated(Journal(folder, "device-b")).sequence == 1
    assert stated(journal).sequence == 4, "an event another process appended is seen"


def test_a_clock_set_back_does_not_put_events_before_earlier_ones(folder: Path) -> None:
    folder.parent.parent.mkdir()
    times = iter(["2026-01-02T00:00:00.000Z", "2026-01-01T00:00:00.000Z", "2026-01-03T00:00:00.000Z"])
    journal = Journal(folder, "device-a", clock=lambda: next(times))
    events = [
        stated(journal),
        stated(Journal(folder, "device-a", clock=lambda: next(times))),
        stated(journal),
    ]
    assert [event.time[:10] for event in events] == ["2026-01-02", "2026-01-02", "2026-01-03"]
    assert journal.read_all() == tuple(events)


def test_threads_append_whole_lines_with_rising_numbers(journal: Journal) -> None:
    def run() -> None:
        for _ in range(25):
            stated(journal)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    events = journal.read_all()
    assert [event.sequence for event in events] == list(range(1, 101))
    assert len({event.id for event in events}) == 100


@pytest.mark.parametrize(
    ("kind", "who", "data"),
    [
        ("assertion", BOT, DATA),
        ("assert", Agent(" "), DATA),
        ("assert", BOT, {}),
        ("assert", BOT, {"facts": "no list"}),
        ("assert", BOT, {"facts": [{"subject": "a", "predicate": "b"}]}),
        ("assert", BOT, {**DATA, "supersedes": "x"}),
        ("assert", BOT, {**DATA, "source": 1}),
        ("retract", BOT, {"assertion": "x"}),
        ("retract", BOT, {"withdraw": [{"facts": []}]}),
        ("undo", BOT, {}),
        ("verify", Agent("\ud800"), {}),
        ("verify", BOT, {"x": float("nan")}),
        ("verify", BOT, {"x": object()}),
    ],
)
def test_what_is_not_of_its_kind_s_shape_is_refused_before_anything_is_written(
    journal: Journal, folder: Path, kind: str, who: Agent, data: dict[str, object]
) -> None:
    with pytest.raises(InvalidFact):
        journal.append(kind, who, "", data)
    assert not folder.exists()


def test_a_device_cannot_be_named_out_of_the_folder(folder: Path) -> None:
    for name in ("../evil", "", "a/b", "CON", "x" * 100):
        with pytest.raises(UsageError):
            Journal(folder, name)


# --- failing ---------------------------------------------------------------------------------------


def test_rolling_back_takes_the_event_away(journal: Journal, folder: Path) -> None:
    first = stated(journal)
    second = journal.append("assert", BOT, "", DATA)
    journal.rollback(second.position)
    assert journal.read_all() == (first,)
    third = stated(journal)
    assert journal.read_all() == (first, third)
    with pytest.raises(WriteFailed, match="shorter"):
        journal.rollback(10**9)
    assert journal.read_all() == (first, third)


@pytest.mark.parametrize("call", ["write", "fsync"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO])
def test_a_refused_write_leaves_the_file_as_it_was(
    journal: Journal, folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, number: int
) -> None:
    kept = stated(journal)
    before = (folder / journal.name).read_bytes()
    real = getattr(os, call)
    failed = []

    def fail_once(*arguments: object) -> object:
        if not failed:
            failed.append(call)
            if call == "write":
                real(arguments[0], bytes(arguments[1])[:10])  # type: ignore[call-overload]
            raise OSError(number, os.strerror(number))
        return real(*arguments)

    monkeypatch.setattr(module.os, call, fail_once)
    with pytest.raises(WriteFailed, match=os.strerror(number)):
        stated(journal)
    assert (folder / journal.name).read_bytes() == before
    assert journal.read_all() == (kept,)
    assert stated(journal).sequence == 2


def test_short_writes_are_continued(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    monkeypatch.setattr(module.os, "write", lambda descriptor, data: write(descriptor, data[:7]))
    event = stated(journal)
    assert journal.read_all() == (event,)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "synapse-test", str(place)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a tmpfs needs more rights than this user has")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def test_on_a_full_disk_nothing_half_written_stays_and_the_next_write_succeeds(small_disk: Path) -> None:
    journal = Journal(small_disk / ".synapse" / "journal", "device-a")
    events = [stated(journal)]
    (small_disk / "filler").write_bytes(b"")
    with open(small_disk / "filler", "ab", buffering=0) as filler, pytest.raises(OSError):
        while True:
            filler.write(b"x" * 1024)
    with pytest.raises(WriteFailed, match="Free some space"):
        while True:
            events.append(stated(journal, "x" * 900))
    assert journal.read().events == tuple(events)
    assert journal.read().warnings == ()
    (small_disk / "filler").unlink()
    events.append(stated(journal))
    assert Journal(journal.folder, "device-b").read_all() == tuple(events)


WRITER = """
import sys
from pathlib import Path
from synapse.engine.record import Agent, Journal, WrittenFact, assertion_data
journal = Journal(Path(sys.argv[1]), "device-a")
data = assertion_data([WrittenFact("a", "knows", "b")])
while True:
    print(journal.append("assert", Agent("bot"), "x" * 3000, data).event.id, flush=True)
"""


def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    answered: list[str] = []
    for _ in range(3):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE) as child:
            assert child.stdout is not None
            for _ in range(20):
                answered.append(child.stdout.readline().decode().strip())
            child.send_signal(signal.SIGKILL)
            answered += [line for line in child.stdout.read().decode().splitlines() if len(line) == 26]
    ids = [event.id for event in Journal(folder, "device-a").read_all()]
    assert set(answered) <= set(ids)
    assert ids == sorted(ids)


# --- reading ---------------------------------------------------------------------------------------


def test_a_last_line_cut_in_half_is_warned_of_and_set_aside_by_the_next_write(
    journal: Journal, folder: Path
) -> None:
    first, second = stated(journal), stated(journal)
    path = folder / journal.name
    whole = path.read_bytes()
    for cut in range(len(first.line()) + 1, len(whole) - 1):
        path.write_bytes(whole[:cut])
        reading = journal.read()
        assert reading.events == (first,)
        assert [str(warning) for warning in reading.warnings] == [
            "device-a.jsonl:2: the last line is half-written"
        ]
        assert reading.positions == {journal.name: len(first.line())}
    half = path.read_bytes()[len(first.line()) :]
    third = stated(Journal(folder, "device-a"))
    assert journal.read().events == (first, third)
    assert journal.read().warnings == ()
    assert (folder / "device-a.jsonl.partial").read_bytes() == half + b"\n", "never lost"
    assert third.sequence == 2 and second not in journal.read().events


def test_a_whole_event_that_only_lost_its_line_ending_counts(journal: Journal, folder: Path) -> None:
    first = stated(journal)
    path = folder / journal.name
    path.write_bytes(path.read_bytes()[:-1])
    reading = journal.read()
    assert reading.events == (first,) and reading.warnings == ()
    second = stated(Journal(folder, "device-a"))
    assert journal.read().events == (first, second) and journal.read().warnings == ()
    assert journal.read(reading.positions).events[-1] == second


def test_a_line_that_cannot_be_read_is_named_and_the_rest_goes_on(journal: Journal, folder: Path) -> None:
    first, second = stated(journal), stated(journal)
    path = folder / journal.name
    path.write_bytes(first.line() + b"<<<<<<< HEAD\n\n\x00\x00\n" + second.line())
    reading = journal.read()
    assert reading.events == (first, second)
    assert [(warning.line, warning.message[:22]) for warning in reading.warnings] == [
        (2, "the line cannot be rea"),
        (4, "the line cannot be rea"),
    ]
    assert path.read_bytes().startswith(first.line() + b"<<<<<<< HEAD\n"), "it stays where it is"


def test_every_journal_is_read_conflict_copies_too_and_each_event_once(
    journal: Journal, folder: Path
) -> None:
    ours = stated(journal)
    theirs = stated(Journal(folder, "device-b"))
    copy = folder / "device-b (conflicted copy).jsonl"
    copy.write_bytes((folder / "device-b.jsonl").read_bytes())
    (folder / "notes.txt").write_bytes(b"no journal")
    (folder / "folder.jsonl").mkdir()
    (folder / "link.jsonl").symlink_to("device-a.jsonl")
    reading = journal.read()
    assert reading.events == (ours, theirs)
    assert sorted(reading.positions) == ["device-a.jsonl", copy.name, "device-b.jsonl"]
    assert [warning.file for warning in reading.warnings] == ["folder.jsonl", "link.jsonl"]


def test_reading_on_gives_only_what_came_since(journal: Journal, folder: Path) -> None:
    stated(journal)
    positions = journal.positions()
    assert journal.read(positions).events == ()
    ours = stated(journal)
    theirs = stated(Journal(folder, "device-b"))
    assert journal.read(positions).events == (ours, theirs)
    path = folder / journal.name
    path.write_bytes(ours.line())
    assert journal.read({journal.name: 10**6, "gone.jsonl": 5}).events == (ours, theirs), "it became shorter"
    path.write_bytes(b"x" * 20 + b"\n" + ours.line())
    assert journal.read({journal.name: 10, "device-b.jsonl": len(theirs.line())}).events == (ours,)


def test_a_warning_names_the_line_of_the_file_also_when_reading_on(journal: Journal, folder: Path) -> None:
    first = stated(journal)
    (folder / journal.name).write_bytes(first.line() + b"broken\n")
    assert [w.line for w in journal.read({journal.name: len(first.line())}).warnings] == [2]


_events = st.builds(
    Event,
    st.sampled_from(["a", "b", "c", "d"]),
    st.sampled_from(["x", "y"]),
    st.integers(1, 3),
    st.sampled_from(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:00.001Z"]),
    st.sampled_from(["verify", "promote"]),
    st.just(ALICE),
)


@given(
    st.lists(_events, max_size=8).flatmap(lambda events: st.tuples(st.just(events), st.permutations(events)))
)
def test_the_order_does_not_depend_on_the_order_of_reading(pair: tuple[list[Event], list[Event]]) -> None:
    one, other = in_order(pair[0]), in_order(pair[1])
    assert one == other
    assert [e.order for e in one] == sorted(e.order for e in one)
    assert len({e.id for e in one}) == len(one) == len({e.id for e in pair[0]})


# --- device ----------------------------------------------------------------------------------------


def test_the_device_keeps_its_id(tmp_path: Path) -> None:
    data = tmp_path / "data" / "synapse"
    made = device_id(data)
    assert device_id(data) == made
    assert Journal(tmp_path, made).name == f"{made}.jsonl"
    assert [path.name for path in data.iterdir()] == ["device"]
    assert device_id(tmp_path / "other") != made
    (data / "device").write_bytes(b"\xff not an id")
    assert device_id(data) != made


def test_a_data_folder_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(WriteFailed, match="device's id could not be written"):
        device_id(tmp_path / "file" / "data")

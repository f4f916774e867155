"""What a bad file, disk, store or question costs: one clear message; the rest goes on, nothing is lost."""

from __future__ import annotations

import errno
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from synapse.engine import Engine, WrittenFact, open_vault
from synapse.engine.errors import (
    InvalidQuery,
    RefusedQuery,
    SynapseError,
    UnknownEntity,
    VaultLocked,
    WriteFailed,
)
from synapse.engine.graph.results import AskResult
from synapse.engine.questions.results import NoteDiagnostic

linux = pytest.mark.skipif(sys.platform != "linux", reason="mounts, signals and permissions of Linux")
FACT = WrittenFact("people/ada", "knows", "people/bruno")
WHY = {"source": "a test", "reason": "to see"}


def holds(engine: Engine, subject: str, predicate: str, object: str) -> bool:
    found = engine.query(f"ASK {{ <{subject}> {predicate} <{object}> }}")
    assert isinstance(found, AskResult)
    return found.value


def knows(engine: Engine, number: int | str) -> bool:
    return holds(engine, f"people/p{number}", "schema:knows", "people/ada")


def state(engine: Engine, number: int | str) -> str:
    fact = WrittenFact(f"people/p{number}", "knows", "people/ada")
    return engine.assert_facts([fact], **WHY).assertion


def problems(engine: Engine) -> dict[str, NoteDiagnostic]:
    """The one diagnostic of each file; fails where a file has several."""
    found = engine.diagnostics()
    assert len({d.path for d in found}) == len(found), found
    return {d.path: d for d in found}


def assert_sound(engine: Engine) -> None:
    report = engine.check()
    assert report.ok, report.findings


def stated(engine: Engine) -> set[str]:
    return set(engine.export("nquads").decode("utf-8").splitlines())


def is_stated(engine: Engine, number: int | str) -> bool:
    """As `knows`, without SPARQL."""
    return any(line.startswith(f"<vault:/people/p{number}> ") for line in stated(engine))


# -- files ---------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf8_are_named_and_the_rest_of_the_note_counts(vault: Any) -> None:
    vault.write("latin.md", b"# Caf\xe9\n\nknows:: [[ada]]\n")
    vault.write("ada.md", "# Ada\n")
    with vault.open() as engine:
        report = engine.index()
        assert (report.notes, report.diagnostics) == (2, 1)
        found = problems(engine)["latin.md"]
        assert (found.line, found.column) == (1, 6) and "UTF-8" in found.message and found.hint
        assert holds(engine, "latin", "schema:knows", "ada")
        before = (vault.folder / "latin.md").read_bytes()
        skipped = engine.backlinks("write").skipped
        assert (vault.folder / "latin.md").read_bytes() == before
        assert [item.path for item in skipped] in ([], ["latin.md"])
        assert_sound(engine)


@pytest.mark.parametrize(
    "block",
    [
        "title: a: b\nknows: '[[ada]]'\n",
        "knows: '[[ada]]'\ncreated: {{date}}\n",
        "knows: '[[ada]]'\nlist: [1, 2\n",
        "knows: '[[ada]]'\nb: {c: 1\n",
        "knows: '[[ada]]'\nname: \"open\n",
        "knows: '[[ada]]'\nx: &a [*a]\n",
        "knows: '[[ada]]'\nx: *nobody\n",
    ],
)
def test_broken_yaml_is_named_and_the_lines_that_can_be_read_count(vault: Any, block: str) -> None:
    vault.write("broken.md", f"---\n{block}---\n# Broken\n\nlikes:: [[ada]]\n")
    vault.write("ada.md", "# Ada\n")
    with vault.open() as engine:
        engine.index()
        found = engine.diagnostics("broken.md")
        assert len(found) == 1 and found[0].message and found[0].hint, found
        assert found[0].line is not None and 1 < found[0].line < 5
        assert holds(engine, "broken", "schema:knows", "ada"), "the line beside the broken one"
        assert holds(engine, "broken", "prop:likes", "ada"), "the body"
        assert_sound(engine)


def test_a_note_of_20_megabytes_does_not_hold_up_the_rest(vault: Any) -> None:
    line = "Some words of a line that has [[ada]] in it, over and over.\n"
    vault.write("huge.md", "# Huge\n\n" + line * (20_000_000 // len(line) + 1))
    vault.write("ada.md", "# Ada\n\nknows:: [[bruno]]\n")
    with vault.open() as engine:
        report = engine.index()
        assert report.notes == 2
        assert holds(engine, "ada", "schema:knows", "bruno")
        assert holds(engine, "huge", "schema:mentions", "ada") or "huge.md" in problems(engine)
        assert engine.index().unchanged == 2


@linux
def test_loops_of_links_are_named_and_the_rest_is_read(vault: Any) -> None:
    vault.write("folder/a.md", "# A\n\n[[b]]\n")
    (vault.folder / "folder" / "up").symlink_to("..")
    (vault.folder / "self.md").symlink_to("self.md")
    with vault.open() as engine:
        assert engine.index().notes == 1
        found = problems(engine)
        assert {path: d.code for path, d in found.items()} == {
            "folder/up": "symlink-loop",
            "self.md": "symlink-loop",
        }
        assert all(d.hint for d in found.values())
        assert_sound(engine)


CLI = [sys.executable, "-m", "synapse"]


@pytest.fixture
def user(vault: Any, ordinary_user: list[str]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command on the vault as somebody for whom permissions hold."""

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*ordinary_user, *CLI, name, str(vault.folder), *arguments],
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@linux
def test_a_file_that_may_not_be_read_is_named_and_keeps_what_is_known(vault: Any, user: Any) -> None:
    vault.write("closed.md", "# Closed\n\nknows:: [[ada]]\n")
    vault.write("ada.md", "# Ada\n")
    asked = ("query", "ASK { <closed> schema:knows <ada> }")
    assert user(*asked).stdout == "yes\n"
    vault.touch("closed.md", "# Closed\n")
    (vault.folder / "closed.md").chmod(0)
    found = user("diagnostics", "closed.md", "--json")
    (only,) = json.loads(found.stdout)
    assert found.returncode == 1 and "may not be read" in only["message"] and only["hint"]
    assert user(*asked).stdout == "yes\n", "what was known of it stands"
    vault.write("new.md", "# New\n\nknows:: [[ada]]\n")
    assert user("query", "ASK { <new> schema:knows <ada> }").stdout == "yes\n", "the rest goes on"
    assert user("check").returncode == 0
    (vault.folder / "closed.md").chmod(0o644)
    assert user(*asked).stdout == "no\n"
    assert user("diagnostics").stdout == "Nothing to mend.\n"


@linux
def test_a_file_that_could_never_be_read_is_named(vault: Any, user: Any) -> None:
    vault.write("closed.md", "# Closed\n")
    (vault.folder / "closed.md").chmod(0)
    vault.write("ada.md", "# Ada\n\n[[closed]]\n")
    assert "closed.md: error\n    " in user("diagnostics").stdout
    assert user("check").returncode == 0
    (vault.folder / "closed.md").chmod(0o644)
    assert "Closed (closed)" in user("dossier", "closed").stdout


@linux
def test_a_folder_that_may_not_be_read_deletes_nothing(vault: Any, user: Any) -> None:
    vault.write("folder/a.md", "# A\n\nknows:: [[ada]]\n")
    vault.write("ada.md", "# Ada\n")
    assert user("index").returncode == 0
    (vault.folder / "folder").chmod(0)
    try:
        found = json.loads(user("index", "--json").stdout)
        assert (found["removed"], found["diagnostics"], found["notes"]) == ([], 1, 2)
        assert user("query", "ASK { <folder/a> schema:knows <ada> }").stdout == "yes\n"
    finally:
        (vault.folder / "folder").chmod(0o755)
    assert user("check").returncode == 0


@linux
def test_a_vault_that_may_not_be_written_is_read_and_says_why_it_cannot_be_written(
    vault: Any, user: Any
) -> None:
    vault.write("ada.md", "# Ada\n\nknows:: [[bruno]]\n")
    vault.write("bruno.md", "# Bruno\n")
    before = vault.bytes()
    for name in ("ada.md", "bruno.md"):
        (vault.folder / name).chmod(0o444)
    vault.folder.chmod(0o555)
    try:
        assert user("index").returncode == 0
        for arguments in (
            ("assert", "ada", "likes", "bruno", "--source", "s", "--reason", "r"),
            ("backlinks", "--policy", "off"),
        ):
            found = user(*arguments)
            assert (found.returncode, found.stdout) == (1, "")
            assert found.stderr.count("\n") == 1 and "Permission denied" in found.stderr
        found = user("backlinks", "--write", "--json")
        assert found.returncode == 0
        assert {item["path"] for item in json.loads(found.stdout)["skipped"]} >= {"bruno.md"}
        assert user("query", "ASK { <ada> prop:likes <bruno> }").stdout == "no\n"
        assert user("check").returncode == 0
    finally:
        vault.folder.chmod(0o755)
    assert vault.bytes() == before
    said = user("assert", "ada", "likes", "bruno", "--source", "s", "--reason", "r")
    assert said.returncode == 0, said.stderr


@linux
def test_a_data_folder_that_may_not_be_written_is_said_in_one_line(
    vault: Any, user: Any, user_folder: Path
) -> None:
    (user_folder / "data").mkdir(parents=True)
    (user_folder / "data").chmod(0o555)
    try:
        found = user("index")
    finally:
        (user_folder / "data").chmod(0o755)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.count("\n") == 1 and "Permission denied" in found.stderr


def test_a_tag_that_asks_for_code_makes_none(vault: Any) -> None:
    made = vault.folder / "made"
    vault.write("a.md", f"---\nx: !!python/object/apply:os.mkdir ['{made}']\nknows: '[[ada]]'\n---\n# A\n")
    with vault.open() as engine:
        engine.index()
        assert holds(engine, "a", "schema:knows", "ada")
    assert not made.exists()


# -- questions -----------------------------------------------------------------------------------


def test_an_unknown_id_lists_what_is_near_and_only_that(vault: Any) -> None:
    for name in ("people/ada", "people/bruno", "modules/payments"):
        vault.write(f"{name}.md", "x\n")
    with vault.open() as engine:
        engine.index()
        for asked, near in {
            "people/zoe": (),
            "people/adda": ("people/ada",),
            "poeple/ada": ("people/ada",),
            "payments": ("modules/payments",),
            "modules/payment": ("modules/payments",),
            "People/Bruna": ("people/bruno",),
            "x": (),
        }.items():
            for question in (engine.dossier, engine.impact, engine.neighbourhood):
                with pytest.raises(UnknownEntity) as raised:
                    question(asked)
                assert raised.value.candidates == near, asked
                assert raised.value.hint


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("SELECT * {\n  ?s ?p\n}", 3, 1),
        ("SELEKT * { ?s ?p ?o }", 1, 1),
        ("SELECT ?x {\n ?x nope:y ?z }", 2, 5),
        ("SELECT ('é' AS ?é) ?ü { ?s ?p ¿ }", 1, 31),
    ],
)
def test_invalid_sparql_is_named_with_line_and_column(vault: Any, text: str, line: int, column: int) -> None:
    with vault.open() as engine:
        engine.index()
        with pytest.raises(InvalidQuery) as raised:
            engine.query(text)
        assert (raised.value.line, raised.value.column) == (line, column), raised.value
        assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { SERVICE <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "SELECT * { SERVICE SILENT <http://127.0.0.1:9/> { ?s ?p ?o } }",
        "ASK { FILTER EXISTS { sErViCe ?where { ?s ?p ?o } } }",
        "LOAD <http://127.0.0.1:9/x.ttl>",
        "LOAD SILENT <file:///etc/passwd> INTO GRAPH <x>",
        "INSERT DATA { <a> <b> <c> }",
        "DROP ALL",
    ],
)
def test_queries_that_reach_out_or_write_are_refused(vault: Any, text: str) -> None:
    vault.write("a.md", "[[b]]\n")
    with vault.open() as engine:
        engine.index()
        before = stated(engine)
        with pytest.raises(RefusedQuery) as raised:
            engine.query(text)
        assert raised.value.hint and raised.value.line == 1
        assert stated(engine) == before
        assert isinstance(engine.query('ASK { FILTER(STRLEN("SERVICE LOAD") > 0) }'), AskResult)


# -- owners --------------------------------------------------------------------------------------

HOLD = """
import sys, time
from pathlib import Path
from synapse.engine import open_vault
with open_vault(sys.argv[1], Path(sys.argv[2])) as engine:
    engine.index()
    print("open", flush=True)
    sys.stdin.read()
"""


def test_a_second_owner_is_refused_by_name_and_gets_the_vault_afterwards(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(vault.folder), str(vault.data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None and child.stdin is not None
        assert child.stdout.readline() == "open\n"
        with pytest.raises(VaultLocked) as raised:
            open_vault(vault.folder, vault.data)
        assert str(child.pid) in str(raised.value) and raised.value.hint
        child.stdin.close()
        assert child.wait(30) == 0, "the holder was not disturbed"
    with vault.open() as engine:
        assert_sound(engine)


@linux
def test_an_owner_that_was_killed_leaves_nothing_to_clear_away(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(vault.folder), str(vault.data)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "open\n"
        child.kill()
    with vault.open() as engine:
        assert engine.index().unchanged == 1
        assert_sound(engine)


# -- the store -----------------------------------------------------------------------------------


def store_files(vault: Any) -> list[Path]:
    return sorted(p for p in vault.data.glob("vaults/*/graph/*") if p.is_file() and p.stat().st_size)


@pytest.mark.parametrize("pattern", ["*.sst", "MANIFEST-*", "CURRENT", "*"])
@pytest.mark.parametrize("garble", ["overwritten", "emptied", "removed"])
def test_a_corrupt_store_is_put_aside_and_made_anew(vault: Any, pattern: str, garble: str) -> None:
    for number in range(30):
        vault.write(f"n{number}.md", f"# N{number}\n\nknows:: [[n{number + 1}]]\n")
    with vault.open() as engine:
        engine.index()
        state(engine, 1)
        gone = state(engine, 2)
        engine.retract_facts(assertion=gone, reason="wrong")
        before, inferred = stated(engine), engine.status().inferred
    hit = [path for path in store_files(vault) if path.match(pattern)]
    assert hit, f"no {pattern} in the store"
    for path in hit:
        if garble == "removed":
            path.unlink()
        else:
            size = path.stat().st_size if garble == "overwritten" else 0
            path.write_bytes((b"\x00garbage\xff" * size)[:size])
    with vault.open() as engine:
        warnings = engine.warnings
        engine.index()
        assert stated(engine) == before
        assert engine.status().inferred == inferred
        assert knows(engine, 1) and not knows(engine, 2)
        assert_sound(engine)
    aside = list(vault.data.glob("vaults/*/graph.corrupt-*"))
    # A store of which every file was removed is an empty folder: nothing to keep.
    if aside:
        assert len(aside) == len(warnings) == 1 and str(aside[0]) in warnings[0]
    else:
        assert (pattern, garble) in {("*", "removed"), ("CURRENT", "removed")}, warnings
    with vault.open() as engine:
        assert engine.warnings == ()
        assert engine.index().unchanged == 30


@pytest.mark.parametrize("name", ["catalogue.sqlite", "history.sqlite"])
@pytest.mark.parametrize("content", [b"not a database, though longer than a header" * 40, b"", None])
def test_a_broken_database_beside_the_store_is_made_anew(
    vault: Any, name: str, content: bytes | None
) -> None:
    vault.write("a.md", "# A\n\nknows:: [[ada]]\n")
    with vault.open() as engine:
        engine.index()
        state(engine, 1)
        before = stated(engine)
    for path in vault.data.glob(f"vaults/*/{name}*"):
        path.unlink()
        if content is not None and path.name == name:
            path.write_bytes(content)
    with vault.open() as engine:
        engine.index()
        assert stated(engine) == before
        assert_sound(engine)


# -- a full disk ---------------------------------------------------------------------------------


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """24 MB of memory as a disk."""
    place = tmp_path / "disk"
    place.mkdir()
    try:
        mounted = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=24m", "synapse-test", str(place)], capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("needs mount")
    if mounted.returncode:
        pytest.skip("mounting a tmpfs needs more rights than this user has")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(disk: Path) -> Path:
    ballast = disk / "ballast"
    with open(ballast, "ab", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as error:
                assert error.errno == errno.ENOSPC
    return ballast


@linux
@pytest.mark.parametrize("on_disk", ["vault and data", "data", "vault"])
def test_on_a_full_disk_a_write_fails_whole_and_the_next_succeeds(
    small_disk: Path, tmp_path: Path, on_disk: str
) -> None:
    folder = (small_disk if "vault" in on_disk else tmp_path) / "vault"
    data = (small_disk if "data" in on_disk else tmp_path) / "data"
    folder.mkdir()
    for number in range(20):
        (folder / f"n{number}.md").write_text(f"# N{number}\n\n[[n{number + 1}]]\n", encoding="utf-8")
    with closing(open_vault(folder, data)) as engine:
        engine.index()
        state(engine, "first")
        before = stated(engine)
        ballast = fill(small_disk)
        refused = 0
        for number in range(20_000):
            try:
                state(engine, number)
            except WriteFailed as error:
                assert error.hint
                refused = number
                break
            assert is_stated(engine, number), "what was acknowledged is there"
        else:
            pytest.fail("nothing filled the disk")
        assert not is_stated(engine, refused), "all or nothing"
        assert is_stated(engine, "first") and before <= stated(engine), "reading goes on"
        with suppress(WriteFailed):  # SPARQL needs room for a checkpoint, or says so
            assert knows(engine, "first") and not knows(engine, refused)
        with pytest.raises(WriteFailed):
            for number in range(refused + 1, refused + 1000):
                state(engine, number)
                refused = number
        known = stated(engine)
        ballast.unlink()
        state(engine, "after")
        assert knows(engine, "after") and known < stated(engine)
        after = stated(engine)
        assert_sound(engine)
    with closing(open_vault(folder, data)) as engine:
        assert engine.warnings == ()
        engine.index()
        assert stated(engine) == after, "and after a restart too"
        assert_sound(engine)


@linux
def test_on_a_full_disk_an_index_fails_whole_and_the_next_succeeds(small_disk: Path, tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nknows:: [[b]]\n", encoding="utf-8")
    with closing(open_vault(folder, small_disk / "data")) as engine:
        engine.index()
        before = stated(engine)
        ballast = fill(small_disk)
        text = "".join(f"- w{number}:: [[t{number}]]\n" for number in range(8_000))
        (folder / "big.md").write_text(text, encoding="utf-8")
        with pytest.raises(WriteFailed) as raised:
            engine.index()
        assert raised.value.hint
        assert stated(engine) == before
        ballast.unlink()
        (folder / "big.md").write_text(text[:2000], encoding="utf-8")
        engine.index()
        assert stated(engine) > before
        assert_sound(engine)


# -- kill -9 -------------------------------------------------------------------------------------

ASSERT = """
import os, signal, sys
from pathlib import Path
from synapse.engine import WrittenFact, open_vault
engine = open_vault(sys.argv[1], Path(sys.argv[2]))
engine.index()
fact = WrittenFact(f"people/p{sys.argv[3]}", "knows", "people/ada")
answer = engine.assert_facts([fact], source="a test", reason="to see")
os.kill(os.getpid(), signal.SIGKILL)
"""


def assert_and_die(vault: Any, number: int) -> None:
    child = subprocess.run(
        [sys.executable, "-c", ASSERT, str(vault.folder), str(vault.data), str(number)], check=False
    )
    assert child.returncode == -signal.SIGKILL


@linux
def test_what_was_asserted_survives_a_kill_right_after_the_answer(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n")
    survives_kills(vault, 10)


@linux
@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_what_was_asserted_survives_200_kills(vault: Any) -> None:
    vault.write("people/ada.md", "# Ada\n")
    survives_kills(vault, 200)


def survives_kills(vault: Any, times: int) -> None:
    for number in range(times):
        assert_and_die(vault, number)
    with vault.open() as engine:
        assert engine.warnings == ()
        assert [number for number in range(times) if not knows(engine, number)] == []
        engine.index()
        assert [number for number in range(times) if not knows(engine, number)] == []
        assert_sound(engine)
    # The graph lost: the journal alone gives the same facts.
    for path in store_files(vault):
        path.unlink()
    with vault.open() as engine:
        engine.index()
        assert all(knows(engine, number) for number in range(times))


def journal_of(vault: Any) -> Path:
    (found,) = (vault.folder / ".synapse" / "journal").glob("*.jsonl")
    return Path(found)


def test_half_a_line_in_the_journal_is_set_aside_with_a_warning(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, 1)
    path = journal_of(vault)
    whole = path.read_bytes()
    half = whole.replace(b"people/p1", b"people/p2")[: len(whole) // 2]
    path.write_bytes(whole + half)
    with vault.open() as engine:
        (warning,) = engine.warnings
        assert path.name in warning and "half" in warning
        engine.index()
        assert knows(engine, 1) and not knows(engine, 2)
        state(engine, 3)
        assert knows(engine, 3)
    assert path.read_bytes().startswith(whole)
    assert half in b"".join(p.read_bytes() for p in path.parent.iterdir()), "nothing is thrown away"
    with vault.open() as engine:
        assert engine.warnings == ()
        engine.index()
        assert knows(engine, 1) and knows(engine, 3)
        assert_sound(engine)


def test_a_line_of_the_journal_that_is_no_event_is_named_and_the_others_count(vault: Any) -> None:
    with vault.open() as engine:
        engine.index()
        state(engine, 1)
    path = journal_of(vault)
    path.write_bytes(b"{not json}\n" + path.read_bytes())
    with vault.open() as engine:
        (warning,) = engine.warnings
        assert f"{path.name}:1" in warning
        engine.index()
        assert knows(engine, 1)
        state(engine, 2)
        assert knows(engine, 2)


@linux
def test_an_event_that_the_graph_missed_is_applied_at_the_next_start(vault: Any) -> None:
    """As after a kill between the journal's fsync and the graph's transaction."""
    with vault.open() as engine:
        engine.index()
        state(engine, 1)
    path = journal_of(vault)
    line = path.read_bytes()
    again = json.loads(line)
    again["id"] = again["id"][:-1] + ("0" if again["id"][-1] != "0" else "1")
    again["sequence"] = 2
    path.write_bytes(line + json.dumps(again).replace("people/p1", "people/p2").encode() + b"\n")
    with vault.open() as engine:
        engine.index()
        assert knows(engine, 1) and knows(engine, 2)
        assert_sound(engine)


@linux
def test_a_kill_during_the_first_index_costs_nothing_but_time(vault: Any) -> None:
    for number in range(300):
        vault.write(f"n{number}.md", f"# N{number}\n\nknows:: [[n{number + 1}]]\n")
    for delay in (0.45, 0.6):
        with subprocess.Popen(
            [sys.executable, "-c", HOLD, str(vault.folder), str(vault.data)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        ) as child:
            time.sleep(delay)
            child.kill()
        with vault.open() as engine:
            assert engine.index().notes == 300
            assert holds(engine, "n7", "schema:knows", "n8")
            assert_sound(engine)
        for file in vault.data.glob("vaults/*/catalogue.sqlite*"):
            file.unlink()  # the next round begins anew


def test_every_message_is_one_line_and_says_what_to_do(vault: Any) -> None:
    vault.write("a.md", "# A\n\nknows:: [[b]]\n")
    with vault.open() as engine:
        engine.index()
        for act in (
            lambda: engine.dossier("nobody"),
            lambda: engine.dossier("../etc"),
            lambda: engine.query("SELECT"),
            lambda: engine.query("SELECT * { SERVICE <x> {} }"),
            lambda: engine.explain("a", "knows", "c"),
            lambda: engine.retract_facts(facts=[WrittenFact("a", "knows", "b")], reason="r"),
            lambda: engine.retract_facts(assertion="x", reason="r"),
            lambda: engine.assert_facts([], **WHY),
            lambda: engine.assert_facts([FACT], source="", reason="r"),
            lambda: engine.add_scenario("nothing"),
            lambda: engine.change_setting("nothing", 1),
            lambda: engine.set_backlinks_policy("sometimes"),
            lambda: engine.read_file("../x"),
            lambda: engine.read_file("missing.md"),
        ):
            with pytest.raises(SynapseError) as raised:
                act()
            assert raised.value.hint and "\n" not in str(raised.value)
            assert re.match(r".*[.:?!]$", raised.value.message), raised.value.message
        assert_sound(engine)

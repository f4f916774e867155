"""Where a command runs: with its owner, without one, and while owners come, go and differ."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from synapse.bridge import discovery
from synapse.bridge.calling import OpsConnection
from synapse.bridge.dialling import MOST
from synapse.cli import hosts
from synapse.cli.hosts import LocalHost, RemoteHost, open_host
from synapse.engine import open_vault
from synapse.engine.errors import SynapseError, UsageError, VaultLocked, VersionMismatch
from synapse.engine.operations import Operation, operation
from synapse.engine.questions import results as r
from synapse.engine.vaults import data_folder
from synapse.engine.wire import read_values

Command = Callable[..., Any]
Owner = subprocess.Popen[str]

ENDLESS = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"


def until(holds: Callable[[], Any], what: str) -> Any:
    """Wait for a condition and return what it gave; fails by name."""
    end = time.monotonic() + 60
    while not (found := holds()):
        assert time.monotonic() < end, f"in vain: {what}"
        time.sleep(0.02)
    return found


@pytest.fixture
def served(vault: Path, start_owner: Callable[[Path], Owner]) -> Owner:
    """The owner of `vault`."""
    return start_owner(vault)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command as a process of its own and does not wait for it."""
    started = []

    def start(*arguments: str | Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "synapse", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def dialled(vault: Path) -> OpsConnection:
    found = discovery.read(vault)
    assert found is not None
    return OpsConnection(found)


def attached(vault: Path) -> list[int]:
    """The processes that are attached to the vault's owner, without this one."""
    with dialled(vault) as connection:
        return [one["pid"] for one in connection.call("attached", {}) if one["pid"] != os.getpid()]


# -- both kinds of host --------------------------------------------------------------------------


def test_both_hosts_describe_terms_alike(vault: Path, start_owner: Callable[[Path], Owner]) -> None:
    ada, name = NamedNode("vault:/people/ada"), NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
    terms = [
        ada, None, Literal("é", language="nl"), name, BlankNode("b"), Triple(ada, name, Literal("Ada")), ada,
        *(NamedNode(f"vault:/people/{number}") for number in range(hosts._AT_ONCE)),
    ]  # fmt: skip
    with open_host(vault) as host:
        assert isinstance(host, LocalHost) and host.vault == str(vault)
        host.engine.index()
        expected = host.describe(terms)
    start_owner(vault)
    with open_host(vault) as host:
        assert isinstance(host, RemoteHost) and host.vault == str(vault)
        assert host.describe(iter(terms)) == expected
        assert host.describe([]) == []


def test_a_vault_may_be_named_in_several_ways(
    vault: Path, served: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    (vault.parent / "link").symlink_to(vault)
    monkeypatch.chdir(vault.parent)
    monkeypatch.setenv("HOME", str(vault.parent))
    for name in (vault, "vault", "./link/", f"~/{vault.name}"):
        with open_host(name) as host:
            assert isinstance(host, RemoteHost), name


def test_opening_without_a_window_asks_the_owner(process: Command, vault: Path, served: Owner) -> None:
    found = process("open", vault, "--once", QT_QPA_PLATFORM="", DISPLAY="", WAYLAND_DISPLAY="")
    assert found.status == 0
    assert found.err == "synapse: there is no display, so there is no window.\n"
    first, second, *rest = found.out.splitlines()
    assert first == str(vault) and second.startswith("44 notes, 1,448 facts, ")
    assert rest[1] == "What depends on Payments (modules/payments):"


LOADED = """
import sys
from synapse.cli import main
status = main(sys.argv[1:])
print(status, *sys.modules)
"""


def test_a_command_with_an_owner_loads_neither_store_nor_engine_nor_servers(
    vault: Path, served: Owner
) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", LOADED, "query", str(vault), "ASK {}"],
        capture_output=True,
        text=True,
        check=True,
    )
    answer, modules = ran.stdout.splitlines()
    assert answer == "yes"
    status, *loaded = modules.split()
    assert status == "0"
    heavy = {
        "synapse.engine.graph.store",
        "synapse.engine.engine",
        "synapse.agents",
        "mcp",
        "filelock",
        "yaml",
    }
    assert not heavy & set(loaded)


# -- progress, files, sizes ----------------------------------------------------------------------


def test_progress_of_the_owner_s_work_is_shown(vault: Path, served: Owner) -> None:
    for number in range(1500):
        (vault / f"n{number}.md").write_text(f"# N{number}\n\nlikes:: [[n{number // 2}]]\n", encoding="utf-8")
    steps: list[tuple[int, int]] = []
    with open_host(vault) as host:
        rebuild = operation("rebuild")
        report = host.call(rebuild, read_values(rebuild, {}), lambda done, total: steps.append((done, total)))
    assert isinstance(report, r.IndexReport) and report.notes == 1544
    assert steps and all(0 < done <= total for done, total in steps)


def test_a_query_after_a_rebuild_is_of_the_new_graph(synapse: Command, vault: Path, served: Owner) -> None:
    asked = ("query", vault, "ASK { <people/new> schema:knows <people/ada> }", "--timeout", "20")
    assert synapse(*asked).out == "no\n"
    (vault / "people" / "new.md").write_text("knows:: [[people/ada]]\n", encoding="utf-8")
    assert synapse("rebuild", vault).status == 0
    assert synapse(*asked).out == "yes\n"


def test_an_export_of_many_pieces_arrives_whole(
    synapse: Command, vault: Path, tmp_path: Path, start_owner: Callable[[Path], Owner]
) -> None:
    text = "é語😀" * 100
    for number in range(1500):
        (vault / f"n{number}.md").write_text(f'---\nmotto: "{number} {text}"\n---\n', encoding="utf-8")
    assert synapse("export", vault, tmp_path / "alone.nq").status == 0
    start_owner(vault)
    assert synapse("export", vault, tmp_path / "asked.nq").status == 0
    alone = (tmp_path / "alone.nq").read_bytes()
    assert len(alone) > 1024 * 1024
    assert (tmp_path / "asked.nq").read_bytes() == alone


def test_facts_that_an_owner_does_not_take_at_once_are_refused_by_name(
    synapse: Command, vault: Path, tmp_path: Path, served: Owner
) -> None:
    fact = {"subject": "a", "predicate": "b", "object": "x" * MOST, "object_kind": "literal"}
    (tmp_path / "facts.json").write_text(json.dumps([fact]), encoding="utf-8")
    found = synapse("assert", vault, "--file", tmp_path / "facts.json", "--source", "s", "--reason", "r")
    assert found.status == 2
    assert f"more than the server that has the vault open (process {served.pid}) takes at once" in found.err
    assert synapse("status", vault).status == 0


@pytest.mark.parametrize("with_owner", [False, True])
def test_an_argument_that_is_no_text_is_refused_by_name(
    synapse: Command, vault: Path, start_owner: Callable[[Path], Owner], with_owner: bool
) -> None:
    if with_owner:
        start_owner(vault)
    found = synapse("neighbourhood", vault, "people/ada", "--types", "a", "--types", "\udcff")
    assert (found.status, found.out) == (2, "")
    assert found.err.startswith("synapse: --types is not valid ")
    assert synapse("dossier", vault, "\udcff").err.startswith("synapse: ENTITY is not valid ")


# -- owners that go ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_owner_that_is_killed_in_the_middle_of_a_call_is_said_so(
    vault: Path, served: Owner, begin: Callable[..., subprocess.Popen[str]], form: tuple[str, ...]
) -> None:
    command = begin("query", vault, ENDLESS, "--timeout", "60", *form)
    until(lambda: command.pid in attached(vault), "the command at its owner")
    served.kill()
    out, err = command.communicate(timeout=30)
    assert command.returncode == 1
    said = f"The server that has the vault open (process {served.pid}) ended before it answered."
    assert err == f"synapse: {said} Ask again.\n"
    told = {"error": {"kind": "owner-gone", "message": said, "hint": "Ask again."}}
    assert (json.loads(out) == told) if form else out == ""


def test_after_a_killed_owner_commands_open_the_vault_themselves(
    synapse: Command, vault: Path, served: Owner
) -> None:
    before = synapse("digest", vault).out
    served.kill()
    served.wait()
    assert discovery.read(vault) is not None, "the file of the dead owner is still there"
    assert synapse("digest", vault).out == before


def test_a_write_whose_owner_is_killed_may_or_may_not_be_done(vault: Path, served: Owner) -> None:
    row = operation("scenarios")
    with open_host(vault) as host:
        served.kill()
        served.wait()
        with pytest.raises(SynapseError, match="may or may not have been done") as caught:
            host.call(row, read_values(row, {"action": "list"}))
    assert caught.value.kind == "owner-gone"


def test_a_discovery_file_of_an_owner_that_does_not_answer_is_passed_over(
    synapse: Command, vault: Path, tmp_path: Path
) -> None:
    stale = discovery.Discovery(
        str(vault),
        os.getpid(),
        discovery.process_start(os.getpid()) or "",
        "token",
        "0",
        socket=str(tmp_path / "s"),
    )
    discovery.write(stale)
    assert synapse("status", vault).status == 0
    discovery.write(stale._replace(socket=None, port=unused_port()))
    assert synapse("status", vault).status == 0


def unused_port() -> int:
    """A port of this machine where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def test_ctrl_c_ends_a_command_and_not_its_owner(
    vault: Path, served: Owner, begin: Callable[..., subprocess.Popen[str]]
) -> None:
    command = begin("query", vault, ENDLESS, "--timeout", "60")
    until(lambda: command.pid in attached(vault), "the command at its owner")
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=30)
    assert (command.returncode, out, err) == (1, "", "synapse: stopped.\n")
    until(lambda: command.pid not in attached(vault), "the end of the connection")
    assert served.poll() is None


# -- owners that come ----------------------------------------------------------------------------


def test_a_vault_that_is_held_for_a_moment_is_waited_for(
    vault: Path, begin: Callable[..., subprocess.Popen[str]]
) -> None:
    with open_vault(vault) as engine:
        command = begin("status", vault)
        # Long enough for the command to have found the vault taken, on any machine that runs tests.
        with pytest.raises(subprocess.TimeoutExpired):
            command.wait(2)
        assert engine.is_new
    out, err = command.communicate(timeout=30)
    assert (command.returncode, err) == (0, "") and out.startswith("44 notes, ")


def test_an_owner_that_is_just_starting_is_waited_for(
    vault: Path, begin: Callable[..., subprocess.Popen[str]]
) -> None:
    owner = begin("serve", vault)
    until((data_folder(vault) / "owner.json").exists, "the lock")
    commands = [begin("status", vault) for _ in range(3)]
    for command in commands:
        out, err = command.communicate(timeout=60)
        assert (command.returncode, err) == (0, "") and out.startswith("44 notes, ")
    assert owner.poll() is None


def test_a_vault_that_stays_held_is_refused_with_its_holder(
    vault: Path, synapse: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "PATIENCE", 0.3)
    with open_vault(vault, role="a window"):
        with pytest.raises(VaultLocked):
            open_host(vault)
        found = synapse("status", vault)
    assert found.status == 1
    assert found.err == (
        f"synapse: The vault {vault} is open in a window (process {os.getpid()})."
        " Use it there, or close it first.\n"
    )


def test_an_owner_that_refuses_is_waited_for_and_then_named(
    vault: Path, served: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = discovery.read(vault)
    assert found is not None
    discovery.write(found._replace(token="another"))
    monkeypatch.setattr(hosts, "PATIENCE", 0.2)
    with pytest.raises(VaultLocked, match="token"):
        open_host(vault)
    discovery.write(found)


# -- owners of another version -------------------------------------------------------------------


def test_an_owner_that_does_not_know_a_command_is_said_to_be_of_another_version(
    vault: Path, served: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synapse.agents.version.program_version", lambda: "99.1")
    future = Operation("foresee", "Look ahead.", "", r.Status, lambda e, v: None)
    with open_host(vault) as host:
        with pytest.raises(UsageError, match=r"foresee.*is open in Synapse \S+, and this is 99\.1\."):
            host.call(future, {})
        with pytest.raises(UsageError, match="exclude each other"):
            row = operation("query")
            host.call(row, {**read_values(row, {"sparql": "ASK {}"}), "stated": True, "inferred": True})
        assert isinstance(host.call(operation("status"), {}), r.Status)


def test_an_answer_of_another_shape_is_a_mismatch_of_versions(vault: Path, served: Owner) -> None:
    other = replace(operation("status"), result=r.Dossier)
    with open_host(vault) as host, pytest.raises(VersionMismatch, match="cannot be read"):
        host.call(other, {})

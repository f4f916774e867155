"""Every command answers the same with an owner and without one."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from synapse.cli import hosts, main
from synapse.engine.operations import OPERATIONS, Operation

Command = Callable[..., Any]

NOTE = "people/zoë.md"
WHY = "--source 'a meeting' --reason 'zij zagen elkaar'"
FACT = "modules/checkout depends_on modules/payments"

# Of each operation, calls that work; what is after VAULT. They run in the table's order, so that those
# that change the vault change both copies alike.
EXAMPLES: dict[str, list[str]] = {
    "index": ["", "--dry-run", "--accept-deletions"],
    "query": [
        "'SELECT ?who { ?who prop:depends_on <modules/payments> } ORDER BY ?who'",
        "'SELECT ?a ?l ?none { ?a rdfs:label ?n . BIND(STRLANG(?n, \"nl\") AS ?l) } ORDER BY ?a LIMIT 300'",
        "'SELECT ?name { <people/zoë> rdfs:label ?name }'",
        "'SELECT * {} LIMIT 0'",
        "'SELECT ?t { BIND(<<( <people/zoë> prop:knows \"é\"@nl )>> AS ?t) }'",
        "'ASK { <people/ada> schema:knows ?x }'",
        "'CONSTRUCT { ?a prop:needs ?b } { ?a prop:depends_on ?b }'",
        "'DESCRIBE <people/zoë>' --stated",
        "'SELECT ?a ?b { ?a prop:owns ?b } ORDER BY ?a ?b' --inferred --limit 2",
        "'SELECT ?a { ?a prop:knows ?b } ORDER BY ?a' --format csv",
        "'SELECT ?a { ?a prop:knows ?b } ORDER BY ?a' --format xml",
        "'CONSTRUCT { ?a prop:needs ?b } { ?a prop:depends_on ?b }' --format ntriples --limit 3",
    ],
    "dossier": ["people/ada", "people/zoë", "modules/payments --limit 5", "People/ADA"],
    "neighbourhood": [
        "modules/payments --depth 2",
        "people/farid --predicates owns --predicates owned_by --direction out --limit 3",
    ],
    "impact": ["modules/payments", "modules/payments --depth 1 --limit 2", "people/ada"],
    "provenance": [FACT, "people/ada owns modules/payments", "people/zoë knows people/ada"],
    "explain": [FACT, "people/ada owns modules/payments"],
    "search": [
        "'payment provider'",
        "Zoë",
        "xyzzy",
        "payment --limit 2",
        "pay --type Module",
        "ada --kinds other",
    ],
    "digest": [""],
    "diagnostics": ["rough-edges.md", "", "people/ada.md"],
    "assert": [
        f"people/ada knows people/esther {WHY}",
        f"people/zoë motto 'Eerst méten' --lang nl {WHY}",
        f"--file FACTS {WHY}",
        f"--file FACTS --dry-run {WHY}",
        f"people/zoë likes people/ada --idempotency-key één {WHY}",
        f"people/zoë likes people/ada --idempotency-key één {WHY}",
    ],
    "retract": ["people/ada knows people/esther --reason 'een ander'"],
    "backlinks": ["", "--policy write", "--write", "--remove"],
    "check": ["", "--repair"],
    "rebuild": [""],
    "scenarios": ["list", "add research-assistant", "remove research-assistant"],
    "export": ["", "- --format turtle", "OUT.trig --format trig --with-meta --with-inferred"],
    "status": [""],
}

# What is refused, and with which status.
REFUSED: list[tuple[str, str, int]] = [
    ("dossier", "people/zoe", 1),
    ("dossier", "people/adda", 1),
    ("impact", "''", 1),
    ("impact", "modules/../x", 1),
    ("explain", "people/ada knows modules/ledger", 1),
    ("query", "'SELECT ?x { ?x'", 1),
    ("query", "'SELECT ?x {\n SERVICE <http://a> {} }'", 1),
    ("query", "'INSERT DATA { <a> <b> <c> }'", 1),
    ("query", "'ASK {}' --stated --inferred", 2),
    ("query", "'ASK {}' --format turtle", 2),
    ("query", "'SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }' --timeout 0.5", 1),
    ("retract", "01XYZ --reason r", 1),
    ("retract", "people/ada knows people/bruno --reason r", 1),
    ("retract", "people/ada knows --reason r", 2),
    ("retract", "people/ada owns modules/payments --reason r", 1),
    ("diagnostics", "nö.md", 1),
    ("assert", f"people/ada knows {WHY}", 2),
    ("assert", f"people/ada knows '' {WHY}", 1),
    ("assert", f"people/ada born today --datatype nope:x {WHY}", 1),
    ("assert", f"people/ada knows people/zoë --file FACTS {WHY}", 2),
    ("assert", f"--file BROKEN {WHY}", 2),
    ("assert", f"--file WRONG {WHY}", 1),
    ("scenarios", "add nope", 1),
    ("backlinks", "--write --remove", 2),
]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two vaults that were the same and get the same commands; a process serves one of them."""

    served: Path
    unserved: Path
    owner: subprocess.Popen[str]


@pytest.fixture(scope="module")
def pair(
    tmp_path_factory: pytest.TempPathFactory,
    copy_sample: Callable[[Path], Path],
    start_owner: Callable[[Path], subprocess.Popen[str]],
) -> Iterator[Pair]:
    """A vault with an owner and its copy without; the folder's name is in the digest."""
    root = tmp_path_factory.mktemp("pair")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(root / "data"))
        patch.setenv("XDG_CONFIG_HOME", str(root / "config"))
        served, unserved = root / "served" / "vault", root / "unserved" / "vault"
        for vault in (served, unserved):
            copy_sample(vault)
            (vault / NOTE).write_text("# Zoë\n\nknows:: [[people/ada]]\n", encoding="utf-8")
            moment = (vault / "people" / "ada.md").stat().st_mtime
            os.utime(vault / NOTE, (moment, moment))
        assert main(["index", str(unserved)]) == 0  # as the owner does first
        yield Pair(served, unserved, start_owner(served))


def steady(text: str, folder: Path) -> str:
    """An answer without what no two runs share: moments, durations, ids and places."""
    for pattern, name in (
        (re.escape(str(folder)), "VAULT"),
        (r'("seconds": |in )\d+\.\d+(e-\d+)?', r"\1TIME"),
        (r"\b[0-9a-f]{16}-(\d+)", r"EPOCH-\1"),
        (r"\b[0-9A-HJKMNP-TV-Z]{26}\b", "ULID"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "MOMENT"),
        (r"process \d+", "process PID"),
    ):
        text = re.sub(pattern, name, text)
    return text


@pytest.fixture
def both(
    synapse: Command, pair: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], Any]:
    """Runs a command line with the owner and without, and compares what came of it; returns one of them."""
    monkeypatch.setenv("XDG_DATA_HOME", str(pair.served.parents[1] / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(pair.served.parents[1] / "config"))
    monkeypatch.setattr(hosts, "PATIENCE", 0.0)  # what does not reach the owner fails at once
    fact = {"subject": "people/zoë", "predicate": "plays", "object": "viola", "object_kind": "literal"}
    files = {
        "FACTS": json.dumps([fact, {**fact, "object": "schaken", "language": "nl"}]),
        "BROKEN": "[{",
        "WRONG": json.dumps([fact, {"subject": "a"}]),
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(name: str, rest: str) -> Any:
        words = shlex.split(rest)
        found = []
        for vault in (pair.served, pair.unserved):
            front = [name, words[0], vault] if name == "scenarios" else [name, vault]
            answer = synapse(*front, *(words[1:] if name == "scenarios" else words))
            written = {}
            for file in tmp_path.glob("OUT.*"):
                written[file.name] = steady(file.read_text(encoding="utf-8"), vault)
                file.unlink()
            found.append((answer, steady(answer.out, vault), steady(answer.err, vault), written))
        (with_owner, out, err, written), (without, *others) = found
        assert (out, err, written) == tuple(others)
        assert with_owner.status == without.status
        assert pair.owner.poll() is None
        assert written or "OUT" not in rest
        return with_owner

    return call


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("form", ["text", "json"])
def test_an_operation_answers_the_same(
    both: Callable[[str, str], Any], operation: Operation, form: str
) -> None:
    for rest in EXAMPLES[operation.name]:
        as_json = form == "json"
        if as_json and ("--format" in rest or (operation.name == "export" and "OUT" not in rest)):
            continue  # these say what to print
        found = both(operation.name, f"{rest} --json" if as_json else rest)
        assert found.status != 2 and (found.status == 0 or operation.name == "diagnostics"), (rest, found)
        assert found.out


def test_a_note_that_was_just_written_is_in_the_answer(both: Callable[[str, str], Any], pair: Pair) -> None:
    for vault in (pair.served, pair.unserved):
        (vault / "people" / "Ümit.md").write_text("# Ümit\n\nknows:: [[people/zoë]]\n", encoding="utf-8")
    assert both("query", "'ASK { <people/Ümit> schema:knows <people/zoë> }'").out == "yes\n"


def test_all_examples_are_of_operations() -> None:
    assert list(EXAMPLES) == [operation.name for operation in OPERATIONS]


@pytest.mark.parametrize(("name", "rest", "status"), REFUSED)
def test_a_refusal_is_the_same(both: Callable[[str, str], Any], name: str, rest: str, status: int) -> None:
    text = both(name, rest)
    assert (text.status, text.out) == (status, "")
    assert text.err.startswith("synapse: ") and text.err.count("\n") == 1
    if "--format" not in rest:
        told = both(name, f"{rest} --json")
        assert told.status == status and told.err == text.err
        assert json.loads(told.out)["error"]["message"] in text.err.replace("\\n", "\n")

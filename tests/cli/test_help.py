"""Help says how each command is called, in 80 columns, with an example that works as it is written."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synapse.agents.version import program_version
from synapse.cli import main
from synapse.engine.operations import OPERATIONS

Command = Callable[..., Any]
COMMANDS = ["open", *(operation.name for operation in OPERATIONS)]


def example_in(help_text: str) -> list[str]:
    """The words of the example, its continued lines joined."""
    _, _, example = help_text.partition("\nexample:\n")
    words = shlex.split(example.replace("\\\n", ""))  # as a shell joins continued lines
    assert words[:1] == ["synapse"], help_text
    return words[1:]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_is_at_most_80_wide(synapse: Command, command: list[str]) -> None:
    found = synapse(*command, "--help")
    assert (found.status, found.err) == (0, "")
    assert max(map(len, found.out.splitlines())) <= 80
    assert found.out.startswith("usage: synapse")


def test_the_overview_lists_every_command_on_its_line(synapse: Command) -> None:
    lines = synapse("--help").out.splitlines()
    for name in COMMANDS:
        (line,) = [line for line in lines if line.split()[:1] == [name] and line.startswith("    ")]
        assert line.index(line.split(maxsplit=1)[1]) == 19, "texts begin in one column"


def test_every_example_works_on_the_sample_vault(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # In one vault and in the order of the help: what one states the next takes back.
    monkeypatch.chdir(tmp_path)
    for name in COMMANDS:
        main([name, "--help"])
        words = example_in(capfd.readouterr().out)
        assert words[0] == name and "VAULT" in words
        status = main([str(vault) if word == "VAULT" else word for word in words])
        out, err = capfd.readouterr()
        assert err == "", name
        assert status == (1 if name == "diagnostics" else 0), name
        assert out.strip(), f"{name} says what it did"
    assert (tmp_path / "graph.trig").stat().st_size > 10_000


def test_no_command_shows_the_help_and_is_wrong_usage(synapse: Command) -> None:
    found = synapse()
    assert (found.status, found.err) == (2, "")
    assert found.out == synapse("--help").out


def test_the_version_is_said(synapse: Command) -> None:
    assert synapse("--version").out == f"synapse {program_version()}\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["imapct", "v"], "There is no command 'imapct'. Did you mean impact? See `synapse --help`."),
        (["xyzzy"], "There is no command 'xyzzy'. See `synapse --help`."),
        (["query", "v"], "`synapse query` lacks SPARQL. See `synapse query --help`."),
        (["index"], "`synapse index` lacks VAULT. See `synapse index --help`."),
        (
            ["assert", "v", "a", "b", "c"],
            "`synapse assert` lacks --source, --reason. See `synapse assert --help`.",
        ),
        (
            ["impact", "v", "a", "--detph", "2"],
            "`synapse impact` has no option --detph. Did you mean --depth? See `synapse impact --help`.",
        ),
        (
            ["impact", "v", "a", "b"],
            "`synapse impact` does not take 'b', it is one argument too many. See `synapse impact --help`.",
        ),
        (
            ["impact", "v", "a", "--limit", "0"],
            "Argument --limit: 0 is less than 1. See `synapse impact --help`.",
        ),
        (
            ["impact", "v", "a", "--depth", "two"],
            "Argument --depth: 'two' is not a whole number. See `synapse impact --help`.",
        ),
        (
            ["query", "v", "ASK {}", "--timeout", "nan"],
            "Argument --timeout: nan is not a time to wait for. See `synapse query --help`.",
        ),
        (
            ["query", "v", "ASK {}", "--format", "yaml"],
            "--format cannot be 'yaml'. It is one of table, json, csv, tsv, xml, turtle, ntriples.",
        ),
        (["scenarios", "install", "v"], "ACTION cannot be 'install'. It is one of list, add, remove."),
        (["scenarios", "add", "."], "Which scenario? See `synapse scenarios list VAULT`."),
        (
            ["query", ".", "ASK {}", "--json", "--format", "csv"],
            "--json and --format csv exclude each other. Leave one out.",
        ),
        (["query", ".", "ASK {}", "--stated", "--inferred"], "--stated and --inferred exclude each other."),
        (["backlinks", ".", "--write", "--remove"], "--write and --remove exclude each other. Choose one."),
        (["export", ".", "--json"], "--json says what was written, so it needs a file. Name the file OUT."),
        (
            ["assert", ".", "a", "b", "--source", "s", "--reason", "r"],
            "A fact has a subject, a predicate and an object. Give all three, or --file.",
        ),
        (
            ["assert", ".", "a", "b", "c", "--source", " ", "--reason", "r"],
            "The source is empty. Say in a few words what the source is.",
        ),
        (
            ["retract", ".", "a", "b", "--reason", "r"],
            "A fact has a subject, a predicate and an object. Give all three, or an assertion.",
        ),
    ],
)
def test_wrong_usage_is_said_in_one_line(
    synapse: Command, arguments: list[str], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = synapse(*arguments)
    assert found.status == 2
    assert found.err.startswith(f"synapse: {line}") and found.err.count("\n") == 1
    assert found.out == "" or "--json" in arguments
    said = synapse(*(word for word in arguments if word != "--json"), "--json")
    assert said.status == 2
    assert set(said.json) == {"error"} and said.json["error"]["kind"] == "usage"


@pytest.mark.skipif(sys.platform == "win32", reason="arguments are Unicode there")
def test_an_argument_that_is_not_utf8_is_refused_and_said(synapse: Command, vault: Path) -> None:
    for arguments in (
        ["dossier", vault, "caf\udce9"],
        ["diagnostics", vault, "caf\udce9"],
        ["assert", vault, "a", "b", "caf\udce9", "--literal", "--source", "s", "--reason", "r"],
    ):
        found = synapse(*arguments, "--json")
        assert found.status == 2
        assert "is not valid utf-8: 'caf\\udce9'" in found.json["error"]["message"]

"""Running a command: parse, find the vault's owner or open the vault, do it, print it; errors in one line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Protocol

from pyoxigraph import RdfFormat, parse

from synapse.cli import terminal
from synapse.cli.hosts import Host, open_host
from synapse.cli.parser import build_parser
from synapse.cli.progress import ProgressBar
from synapse.cli.render import Renderer
from synapse.engine.errors import SynapseError, UsageError, WriteFailed
from synapse.engine.graph.results import GraphResult, SelectResult
from synapse.engine.operating import given_facts
from synapse.engine.operations import Operation
from synapse.engine.questions.results import CheckReport, NoteDiagnostic

DONE, FOUND, USAGE = 0, 1, 2

_RDF_FORMATS = {
    "nquads": RdfFormat.N_QUADS,
    "trig": RdfFormat.TRIG,
    "turtle": RdfFormat.TURTLE,
    "ntriples": RdfFormat.N_TRIPLES,
    "jsonld": RdfFormat.JSON_LD,
    "rdfxml": RdfFormat.RDF_XML,
}


def run(arguments: list[str]) -> int:
    """Run one command line; see `main`."""
    terminal.prepare()
    as_json = "--json" in arguments
    try:
        status = _command(arguments)
        sys.stdout.flush()  # here, where a full disk or a closed pipe can still be told apart
        return status
    except SynapseError as error:
        return _failed(error, as_json)
    except BrokenPipeError:
        terminal.silence_output()
        return DONE
    except OSError as error:
        terminal.silence_output()
        what = f"{error.filename} could not be used" if error.filename else "The answer could not be written"
        terminal.say(f"{what}: {error.strerror or error}.")
        return FOUND
    except KeyboardInterrupt as stopped:
        terminal.say(str(stopped) or "stopped.")
        return FOUND


def _failed(error: SynapseError, as_json: bool) -> int:
    if as_json:
        try:
            print(json.dumps({"error": error.as_json()}, ensure_ascii=not terminal.is_utf8()), flush=True)
        except OSError:
            terminal.silence_output()
    terminal.say(str(error))
    return USAGE if error.kind == UsageError.kind else FOUND


def _command(arguments: list[str]) -> int:
    parser = build_parser()
    if not arguments:
        terminal.write(parser.format_help())
        return USAGE
    try:
        values = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has printed help or version
        return stop.code if isinstance(stop.code, int) else DONE
    if "run" in values:  # a command that is no operation on a vault
        status: int = values.run(values)
        return status
    _check_usage(values)
    given = _given(values)
    with open_host(values.vault) as host:
        warn(host)
        return _carry_out(host, values.operation, given, values)


class Opened(Protocol):
    """An engine, or a host of one."""

    @property
    def warnings(self) -> tuple[str, ...]: ...


def warn(opened: Opened) -> None:
    """Say on standard error what opening the vault found amiss."""
    for text in opened.warnings:
        terminal.say(text)


def _check_usage(values: argparse.Namespace) -> None:
    """What can be refused before the vault is opened."""
    for argument in values.operation.arguments:
        value = getattr(values, argument.name, None)
        for text in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(text, str) and any("\ud800" <= sign <= "\udfff" for sign in text):
                name = argument.name.upper() if argument.positional else f"--{argument.name}"
                raise UsageError(f"{name} is not valid {sys.getfilesystemencoding()}: {text!r}.")
    if values.json and getattr(values, "as_format", None) not in (None, "json"):
        raise UsageError(f"--json and --format {values.as_format} exclude each other.", "Leave one out.")
    if values.command == "export" and values.json and values.out in (None, "-"):
        raise UsageError("--json says what was written, so it needs a file.", "Name the file OUT.")


def _given(values: argparse.Namespace) -> dict[str, Any]:
    """The values of all arguments of the operation. Raises UsageError, InvalidFact for a file of facts."""
    given: dict[str, Any] = {}
    for argument in values.operation.arguments:
        value = getattr(values, argument.name, None)
        given[argument.name] = argument.default if value is None else value
    if given.get("file") is not None:
        given["facts"] = _facts_from(given["file"])
    return given


def _carry_out(host: Host, operation: Operation, given: dict[str, Any], values: argparse.Namespace) -> int:
    with ProgressBar(enabled=sys.stderr.isatty()) as progress:
        result = host.call(operation, given, progress)
    if operation.name == "export":
        return _write_out(result, given["out"], given["format"], as_json=values.json)
    renderer = Renderer(host.describe, terminal.width(), given)
    if values.json:
        terminal.write(renderer.json(result))
    else:
        terminal.write(renderer.text(result, getattr(values, "as_format", None)))
    if isinstance(result, (SelectResult, GraphResult)) and result.truncated:
        terminal.say(f"there is more than the {given['limit']:,} of --limit.")
    return FOUND if _is_finding(result) else DONE


def _is_finding(result: object) -> bool:
    if isinstance(result, CheckReport):
        return not result.ok
    return isinstance(result, tuple) and any(
        isinstance(item, NoteDiagnostic) and item.severity != "info" for item in result
    )


def _facts_from(file: str) -> Iterable[object]:
    name = "Standard input" if file == "-" else file
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror}.", "Give a file with facts.") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{name} is not UTF-8.", "Save it as UTF-8.") from error
    try:
        read = json.loads(text)
    except json.JSONDecodeError as error:
        raise UsageError(
            f"This is not valid JSON: {error.msg}.",
            'Write [{"subject": "…", "predicate": "…", "object": "…"}].',
            path=name,
            line=error.lineno,
            column=error.colno,
        ) from error
    return given_facts(read)


def count_quads(content: bytes, format: str) -> int:
    """How many statements an exported file holds."""
    return sum(1 for _ in parse(content, format=_RDF_FORMATS[format], base_iri="urn:synapse:export"))


def _write_out(content: object, out: str | None, format: str, *, as_json: bool) -> int:
    from synapse.engine.notes.files import atomic_write

    assert isinstance(content, bytes)
    if out in (None, "-"):
        terminal.write(content)
        return DONE
    path = Path(str(out))
    try:
        before = path.read_bytes() if path.exists() else None
        atomic_write(path, content, before)
    except OSError as error:
        raise WriteFailed(f"{out} cannot be written: {error.strerror}.", "Choose another place.") from error
    quads = count_quads(content, format)
    print(json.dumps({"quads": quads}) if as_json else f"{quads:,} quads written to {out}.")
    return DONE

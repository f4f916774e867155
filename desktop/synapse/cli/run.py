"""Running a command: parse, open the vault, do it, print it, say what went wrong in one line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from synapse.cli.parser import build_parser
from synapse.cli.progress import ProgressBar
from synapse.cli.render import Renderer
from synapse.engine import Engine, open_vault
from synapse.engine.errors import SynapseError, UsageError, WriteFailed
from synapse.engine.notes.files import atomic_write
from synapse.engine.operations import Operation, given_facts
from synapse.engine.questions.results import CheckReport, NoteDiagnostic

DONE, FOUND, USAGE = 0, 1, 2


def run(arguments: list[str]) -> int:
    """Run one command line; see `main`."""
    parser = build_parser()
    if not arguments:
        parser.print_help()
        return USAGE
    try:
        values = parser.parse_args(arguments)
    except SystemExit as stop:  # argparse has said what is wrong
        return stop.code if isinstance(stop.code, int) else USAGE
    as_json = getattr(values, "json", False)
    try:
        return _dispatch(values)
    except SynapseError as error:
        _say(error, as_json)
        return USAGE if isinstance(error, UsageError) and error.kind == "usage" else FOUND
    except BrokenPipeError:
        # Whoever read the output has enough; nothing more may be written to it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return FOUND


def _say(error: SynapseError, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"error": error.as_json()}, ensure_ascii=False))
    print(f"synapse: {' '.join(str(error).split())}", file=sys.stderr)


def _dispatch(values: argparse.Namespace) -> int:
    if values.command == "open":
        from synapse.cli.opening import open_command

        return open_command(values.vault, headless=values.headless, once=values.once)
    operation: Operation = values.operation
    with open_vault(values.vault) as engine:
        if engine.recovered:
            print(f"synapse: {engine.recovered}", file=sys.stderr)
        return _carry_out(engine, operation, values)


def _carry_out(engine: Engine, operation: Operation, values: argparse.Namespace) -> int:
    given: dict[str, Any] = {
        argument.name: getattr(values, argument.name) for argument in operation.arguments
    }
    if given.get("file") is not None:
        given["facts"] = _facts_from(given["file"])
    with ProgressBar(enabled=sys.stderr.isatty()) as progress:
        if operation.indexes:
            engine.index(progress=progress)
        given["progress"] = progress
        result = operation.run(engine, given)
    if operation.name == "export":
        return _write_out(result, given["out"])
    renderer = Renderer(engine)
    if values.json:
        print(renderer.json(result, getattr(values, "as_format", None)))
    else:
        sys.stdout.write(renderer.text(result, getattr(values, "as_format", None)))
    return FOUND if _is_finding(result) else DONE


def _is_finding(result: object) -> bool:
    if isinstance(result, CheckReport):
        return not result.ok and not result.repaired
    return isinstance(result, tuple) and any(
        isinstance(item, NoteDiagnostic) and item.severity != "info" for item in result
    )


def _facts_from(file: str) -> Iterable[object]:
    try:
        text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{file} cannot be read: {error}.", "Give a JSON file with a list of facts."
        ) from error
    try:
        return given_facts(json.loads(text))
    except ValueError as error:
        raise UsageError(f"{file} is not valid JSON: {error}.", "Give a list of facts.") from error


def _write_out(content: object, out: str | None) -> int:
    assert isinstance(content, bytes)
    if out in (None, "-"):
        sys.stdout.buffer.write(content)
        return DONE
    path = Path(str(out))
    try:
        before = path.read_bytes() if path.exists() else None
        atomic_write(path, content, before)
    except OSError as error:
        raise WriteFailed(f"{out} cannot be written: {error.strerror}.", "Choose another place.") from error
    return DONE

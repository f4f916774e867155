"""The command line's grammar, made from the table of operations."""

from __future__ import annotations

import argparse
from importlib.metadata import PackageNotFoundError, version

from synapse.engine.operations import OPERATIONS, Argument, Operation

_FORMATS = ("table", "json", "csv", "tsv", "xml", "turtle", "ntriples")


def program_version() -> str:
    """The installed version, or `0+unknown` in a tree that was never installed."""
    try:
        return version("synapse-desktop")
    except PackageNotFoundError:
        return "0+unknown"


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="synapse",
        description="Notes in Markdown as facts that can be queried, reasoned over and proved.",
        epilog="VAULT is the folder of notes. `synapse COMMAND --help` shows an example.",
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"synapse {program_version()}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _add_open(commands)
    for operation in OPERATIONS:
        _add(commands, operation)
    return parser


def _add_open(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser(
        "open",
        help="Open the window.",
        description="Open the window on a vault; the first time on a copy of the sample vault,"
        " later on the last one.",
        epilog="example: synapse open ~/notes",
        allow_abbrev=False,
    )
    command.add_argument("vault", metavar="VAULT", nargs="?", help="the folder of notes")
    command.add_argument("--headless", action="store_true", help="without a window: follow the vault")
    command.add_argument("--once", action="store_true", help="without a window: say what is known and exit")


def _add(commands: argparse._SubParsersAction[argparse.ArgumentParser], operation: Operation) -> None:
    example = " ".join(part for part in ("synapse", operation.name, "VAULT", operation.example) if part)
    if operation.name == "scenarios":  # `synapse scenarios list VAULT` reads better than the other way
        example = "synapse scenarios list VAULT"
    command = commands.add_parser(
        operation.name,
        help=operation.doc,
        description=operation.doc,
        epilog=f"example: {example}",
        allow_abbrev=False,
    )
    arguments = list(operation.arguments)
    if operation.name == "scenarios":
        _add_argument(command, arguments.pop(0))
    command.add_argument("vault", metavar="VAULT", help="the folder of notes")
    for argument in arguments:
        _add_argument(command, argument)
    command.add_argument("--json", action="store_true", help="print one JSON document")
    if operation.name == "query":
        command.add_argument(
            "--format", dest="as_format", choices=_FORMATS, help="how to print the answer (default: table)"
        )
    command.set_defaults(operation=operation)


def _add_argument(command: argparse.ArgumentParser, argument: Argument) -> None:
    # argparse formats help texts with %.
    doc = argument.doc.replace("%", "%%")
    if argument.positional:
        command.add_argument(
            argument.name,
            metavar=argument.name.upper(),
            help=doc,
            nargs=None if argument.required else "?",
            choices=argument.choices or None,
        )
        return
    name = "--" + argument.name.replace("_", "-")
    if argument.type == "flag":
        command.add_argument(name, dest=argument.name, action="store_true", help=doc)
    elif argument.type == "texts":
        command.add_argument(name, dest=argument.name, nargs="+", default=argument.default, help=doc)
    else:
        kind = {"integer": int, "number": float}.get(argument.type, str)
        command.add_argument(
            name,
            dest=argument.name,
            type=kind,
            default=argument.default,
            required=argument.required,
            choices=argument.choices or None,
            metavar=None if argument.choices else "N" if kind is not str else "TEXT",
            help=doc if argument.default is None else f"{doc} (default: {argument.default})",
        )

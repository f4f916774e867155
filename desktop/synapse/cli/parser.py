"""The command line's grammar, made from the table of operations."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from synapse.cli import agents, connecting, serving
from synapse.cli.terminal import width
from synapse.engine.errors import UsageError
from synapse.engine.operations import OPERATIONS, Argument, Operation

FORMATS = ("table", "json", "csv", "tsv", "xml", "turtle", "ntriples")

_METAVARS = {
    "file": "FILE", "timeout": "SECONDS", "datatype": "TYPE", "lang": "TAG", "cursor": "CURSOR",
    "predicates": "WORD", "types": "WORD", "type": "WORD", "kinds": "KIND", "sparql": "SPARQL",
    "supersedes": "ASSERTION", "idempotency_key": "KEY",
}  # fmt: skip

_EXIT = "Exit status: 0 done, 1 a finding or a failure,\n2 wrong usage."


def build_parser() -> argparse.ArgumentParser:
    """The whole grammar. Parsing raises UsageError; `--help` and `--version` print and exit."""
    parser = _Parser(
        prog="synapse",
        description="Notes in Markdown as facts that can be queried, reasoned over and proved.",
        epilog="VAULT is the folder of notes. `synapse COMMAND --help` explains a command and\n"
        f"has an example. {_EXIT}",
    )
    parser.add_argument("--version", action=_Version, help="say which version this is and exit")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", required=True)
    _add_open(commands)
    for operation in OPERATIONS:
        _add(commands, operation)
    for module in (serving, connecting, agents):
        module.add_to(commands)
    return parser


def example(operation: Operation) -> str:
    """A call that works on the sample vault, for a POSIX shell; long ones are continued."""
    if operation.name == "scenarios":  # `synapse scenarios list VAULT` reads better than the other way
        return "synapse scenarios list VAULT"
    words = re.split(r" (?=--)", f"synapse {operation.name} VAULT {operation.example}".rstrip())
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(word) > 72:
            lines[-1] += " \\"
            lines.append("    " + word)
        else:
            lines[-1] += " " + word
    return "\n".join(lines)


class _Formatter(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26, width=min(width(), 100) - 2)
        self._action_max_length = 17  # argparse forgets that commands are indented twice


class _Version(argparse.Action):
    """As argparse's own, but finds the version, which takes a while, only when it is asked for."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, argparse.SUPPRESS, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from synapse.agents.version import program_version

        sys.stdout.write(f"synapse {program_version()}\n")
        parser.exit()


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, with the nearest word that is known."""

    def __init__(self, **given: Any) -> None:
        super().__init__(formatter_class=_Formatter, allow_abbrev=False, **given)

    def error(self, message: str) -> NoReturn:
        hint = f"See `{self.prog} --help`."
        missing = "the following arguments are required: "
        if message.startswith(missing):
            wanted = message.removeprefix(missing)
            raise UsageError(f"`{self.prog}` lacks {wanted}.", hint)
        raise UsageError(f"{message[:1].upper()}{message[1:]}.", hint)

    def parse_known_args(
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """As argparse, but each command itself says what it does not know."""
        values, rest = super().parse_known_args(args, namespace)
        if rest:
            raise UsageError(self._unknown(rest[0]), f"See `{self.prog} --help`.")
        return values, rest

    def _unknown(self, word: str) -> str:
        if not word.startswith("-"):
            return f"`{self.prog}` does not take {word!r}, it is one argument too many."
        name = word.partition("=")[0]
        near = get_close_matches(name, list(self._option_string_actions), 1)
        return f"`{self.prog}` has no option {name}." + (f" Did you mean {near[0]}?" if near else "")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(map(str, action.choices))
        near = get_close_matches(str(value), known, 1)
        if action.dest == "command":
            guess = f" Did you mean {near[0]}?" if near else ""
            raise UsageError(f"There is no command {value!r}.{guess}", "See `synapse --help`.")
        name = "/".join(action.option_strings) or action.metavar
        raise UsageError(f"{name} cannot be {value!r}.", f"It is one of {', '.join(known)}.")


def _add_open(commands: argparse._SubParsersAction[_Parser]) -> None:
    command = commands.add_parser(
        "open",
        help="Open the window.",
        description="Open the window on a vault; the first time on a copy of the sample vault,\n"
        "later on the last one.",
        epilog="example:\n  synapse open VAULT --once",
    )
    command.add_argument("vault", metavar="VAULT", nargs="?", help="the folder of notes")
    command.add_argument("--headless", action="store_true", help="without a window: follow the vault")
    command.add_argument("--once", action="store_true", help="without a window: say what is known and exit")
    command.set_defaults(run=_open)


def _open(values: argparse.Namespace) -> int:
    from synapse.cli.opening import open_command

    return open_command(values.vault, headless=values.headless, once=values.once)


def _add(commands: argparse._SubParsersAction[_Parser], operation: Operation) -> None:
    shown = "\n".join("  " + line for line in example(operation).splitlines())
    command = commands.add_parser(
        operation.name, help=operation.doc, description=operation.doc, epilog=f"example:\n{shown}"
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
            "--format",
            dest="as_format",
            metavar="FORMAT",
            choices=FORMATS,
            help="table, json, csv, tsv or xml; turtle or ntriples for a graph (default: table, turtle)",
        )
    command.set_defaults(operation=operation)


def _add_argument(command: argparse.ArgumentParser, argument: Argument) -> None:
    if argument.type == "facts":  # too much for a command line: they are read from a file
        return
    # argparse formats help texts with %.
    doc = argument.doc.replace("%", "%%")
    if argument.choices:
        doc += f": {_any_of(argument.choices)}"
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
    metavar = _METAVARS.get(argument.name, argument.name.upper())
    if argument.type == "flag":
        command.add_argument(name, dest=argument.name, action="store_true", help=doc)
    elif argument.type == "texts":
        # Not nargs="+": that would take the arguments that follow for its own.
        command.add_argument(
            name, dest=argument.name, action="append", metavar=metavar, help=f"{doc}; may be repeated"
        )
    else:
        command.add_argument(
            name,
            dest=argument.name,
            type=_TYPES.get(argument.type, str),
            default=argument.default,
            required=argument.required,
            choices=argument.choices or None,
            metavar="N" if argument.type == "integer" else metavar,
            help=doc if argument.default is None else f"{doc} (default: {_plain(argument.default)})",
        )


def _any_of(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}" if len(choices) > 1 else choices[0]


def _plain(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _count(text: str) -> int:
    try:
        number = int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from error
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def _seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds") from error
    if not 0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text} is not a time to wait for")
    return number


_TYPES: dict[str, Callable[[str], Any]] = {"integer": _count, "number": _seconds}

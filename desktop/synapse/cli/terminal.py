"""Standard output and error as they are: narrow or wide, UTF-8 or not, a terminal, a file or a pipe."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys

_PLAIN = {
    "…": "...", "→": "->", "←": "<-", "·": "-", "–": "-", "—": "-", "“": '"', "”": '"', "‘": "'", "’": "'",
}  # fmt: skip
"""What stands for our own signs where the terminal's encoding lacks them."""

_NARROWEST, _USUAL = 40, 80


def _replacement(error: UnicodeError) -> tuple[str, int]:
    """Encode what the stream cannot hold as a plain sign or an escape, never as an exception."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lost = error.object[error.start : error.end]
    return "".join(_PLAIN.get(sign) or _escape(sign) for sign in lost), error.end


def _escape(sign: str) -> str:
    code = ord(sign)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


codecs.register_error("synapse-plain", _replacement)


def prepare() -> None:
    """Make both streams take any text, whatever their encoding is, and also where they are closed."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for the process's life
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="synapse-plain")


def is_utf8() -> bool:
    """Whether standard output holds every character."""
    return (sys.stdout.encoding or "ascii").lower().replace("_", "-") in ("utf-8", "utf8")


def width() -> int:
    """Columns for people's output: those of the terminal, 80 where there is none."""
    columns = shutil.get_terminal_size((_USUAL, 24)).columns
    return max(_NARROWEST, columns)


def visible(text: str) -> str:
    """Text of notes or agents, unable to steer the terminal: control signs are shown as escapes.

    Line feeds stay. So do direction marks within words; overrides and isolates, with which a line
    could show something else than it says, do not.
    """
    return "".join(
        sign if sign == "\n" or not _steers(sign) else " " if sign == "\t" else f"\\x{ord(sign):02x}"
        if ord(sign) < 0x100 else _escape(sign)
        for sign in text
    )  # fmt: skip


def _steers(sign: str) -> bool:
    code = ord(sign)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069


def write(content: str | bytes) -> None:
    """Print a command's answer. bytes: a format whose encoding is its own."""
    if isinstance(content, str):
        sys.stdout.write(content)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def say(text: str) -> None:
    """One line on standard error, which may be closed."""
    try:
        sys.stderr.write(f"synapse: {visible(' '.join(text.split()))}\n")
        sys.stderr.flush()
    except OSError:
        return  # nobody is there to be told


def silence_output() -> None:
    """Let the interpreter's last flush go nowhere: whoever read the output has gone."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, io.UnsupportedOperation):
        return

"""Children start from a command of their own: a fork of a process with threads can deadlock."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "desktop"

FORBIDDEN = {
    "os.fork",
    "os.forkpty",
    "os.posix_spawn",
    "pty.fork",
    "pty.spawn",
    "concurrent.futures.ProcessPoolExecutor",
}
FORBIDDEN_TREE = "multiprocessing"
# Arrays that a worker shares; it starts no process.
ALLOWED = "multiprocessing.shared_memory"


def forks(source: str) -> Iterator[str]:
    """Dotted names in the source that start a process other than by `subprocess`."""
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Attribute):
            names = [ast.unparse(node)]
        for name in names:
            in_tree = name == FORBIDDEN_TREE or name.startswith(FORBIDDEN_TREE + ".")
            if name in FORBIDDEN or (in_tree and not (name + ".").startswith(ALLOWED + ".")):
                yield f"line {node.lineno}: {name}"


def test_no_module_forks() -> None:
    found = {
        str(path.relative_to(SOURCE)): list(forks(path.read_text(encoding="utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    assert found
    assert not {path: lines for path, lines in found.items() if lines}


@pytest.mark.parametrize(
    ("source", "forking"),
    [
        ("import os\nos.fork()", True),
        ("from os import fork", True),
        ("import multiprocessing as mp", True),
        ("from multiprocessing import Pool", True),
        ("import multiprocessing.pool", True),
        ("from concurrent.futures import ProcessPoolExecutor", True),
        ("import concurrent.futures\nconcurrent.futures.ProcessPoolExecutor()", True),
        ("from multiprocessing import shared_memory", False),
        ("from multiprocessing.shared_memory import SharedMemory", False),
        ("import subprocess\nsubprocess.Popen(['x'])", False),
    ],
)
def test_the_rule_sees_each_way_to_fork(source: str, forking: bool) -> None:
    assert bool(list(forks(source))) is forking

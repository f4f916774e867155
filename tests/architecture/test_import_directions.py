"""Imports go one way: the rules of the house, read from the source of every module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "desktop"

# Which part may import which other; a part is the first name below `synapse`.
PARTS = {
    "engine": set(),
    "bridge": set(),
    "agents": {"engine", "bridge"},
    "window": {"engine", "agents"},
    "cli": {"engine", "agents", "bridge"},
    "__main__": {"cli"},
}
# The one place that may start the window.
OPENS_THE_WINDOW = {"synapse.cli.opening"}

# Inside the engine. Whatever is not named here (the face, the writer, indexing) stands above all of it.
GROUND = {"errors", "changes", "terms", "shipped"}
ENGINE = {
    "errors": set(),
    "shipped": {"errors"},
    "terms": {"errors"},
    "changes": {"errors", "terms"},
    "events": {"errors", "terms", "changes"},
    "notes": GROUND,
    "graph": GROUND,
    "catalogue": GROUND,
    "reasoning": GROUND,
    "record": GROUND | {"notes", "graph", "catalogue", "reasoning"},
    "questions": GROUND | {"notes", "graph", "catalogue", "reasoning", "record"},
    "scenarios": GROUND | {"graph"},
    "layout": GROUND | {"questions"},
}
# The engine knows no window, no socket and no protocol.
NOT_IN_THE_ENGINE = {
    "PySide6", "shiboken6", "pyqtgraph", "mcp", "starlette", "uvicorn", "anyio",
    "asyncio", "socket", "socketserver", "http", "xmlrpc", "ftplib", "smtplib",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Import:
    importer: str
    imported: str
    line: int

    def __str__(self) -> str:
        return f"{self.importer} (line {self.line}) imports {self.imported}"


@cache
def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    found = {}
    for path in sorted((SOURCE / "synapse").rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(name: str, path: Path, known: set[str]) -> Iterator[Import]:
    """Every import of the module, also inside functions and under TYPE_CHECKING, as absolute names.

    `from a import b` means the module `a.b` where that is one, else `a`.
    """
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(name, alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, base] if base else above)
            for alias in node.names:
                submodule = f"{base}.{alias.name}"
                yield Import(name, submodule if submodule in known else base, node.lineno)


@cache
def all_imports() -> tuple[Import, ...]:
    known = set(modules())
    return tuple(found for name, path in modules().items() for found in imports_of(name, path, known))


def part(name: str) -> str:
    """`engine` of `synapse.engine.notes.reading`; empty for `synapse` itself."""
    return [*name.split("."), ""][1]


def engine_part(name: str) -> str:
    """`notes` of `synapse.engine.notes.reading`; empty for the face."""
    return [*name.split("."), "", ""][2]


def breaks_part_rule(found: Import) -> bool:
    importer, imported = part(found.importer), part(found.imported)
    if found.imported.split(".")[0] != "synapse" or importer == imported:
        return False
    if imported == "window" and found.importer in OPENS_THE_WINDOW:
        return False
    return imported not in PARTS.get(importer, set())


def breaks_engine_rule(found: Import) -> bool:
    if not (found.importer.startswith("synapse.engine.") and part(found.imported) == "engine"):
        return False
    importer, imported = engine_part(found.importer), engine_part(found.imported)
    return importer in ENGINE and importer != imported and imported not in ENGINE[importer]


def test_every_module_belongs_to_a_part_with_a_rule() -> None:
    assert {part(name) for name in modules()} - {""} <= set(PARTS)


def test_parts_import_in_one_direction() -> None:
    assert not [str(found) for found in all_imports() if breaks_part_rule(found)]


def test_parts_of_the_engine_import_in_one_direction() -> None:
    assert not [str(found) for found in all_imports() if breaks_engine_rule(found)]


def test_the_engine_knows_no_window_socket_or_protocol() -> None:
    assert not [
        str(found)
        for found in all_imports()
        if part(found.importer) == "engine" and found.imported.split(".")[0] in NOT_IN_THE_ENGINE
    ]


def test_the_bridge_stands_on_the_standard_library_alone() -> None:
    assert not [
        str(found)
        for found in all_imports()
        if part(found.importer) == "bridge"
        and part(found.imported) != "bridge"
        and found.imported.split(".")[0] not in sys.stdlib_module_names
    ]


def test_the_import_package_itself_is_empty() -> None:
    assert not ast.parse(modules()["synapse"].read_text(encoding="utf-8")).body


def test_the_rules_have_no_cycle() -> None:
    for rules in (PARTS, ENGINE):
        settled: set[str] = set()
        while len(settled) < len(rules):
            free = {name for name, needs in rules.items() if needs <= settled} - settled
            assert free, f"a cycle among {set(rules) - settled}"
            settled |= free


@pytest.mark.parametrize(
    ("importer", "source", "broken"),
    [
        ("synapse.engine.graph.store", "from synapse.window import app", True),
        ("synapse.engine.graph.store", "def f():\n    import synapse.cli", True),
        ("synapse.engine.terms.words", "from ..notes import reading", True),
        ("synapse.engine.reasoning.closure", "from synapse.engine import open_vault", True),
        ("synapse.engine.reasoning.closure", "from synapse.engine import errors", False),
        ("synapse.engine.questions.impact", "from synapse.engine.graph.store import GraphStore", False),
        ("synapse.bridge.relay", "from synapse.engine import errors", True),
        ("synapse.cli.query", "from synapse.window import app", True),
        ("synapse.window.app", "from synapse.engine import open_vault", False),
        ("synapse.agents.tools", "import synapse.window.app", True),
    ],
)
def test_a_planted_import_is_judged_rightly(tmp_path: Path, importer: str, source: str, broken: bool) -> None:
    path = tmp_path / "planted.py"
    path.write_text(source, encoding="utf-8")
    known = {*modules(), "synapse.engine.errors", "synapse.engine.notes.reading"}
    found = list(imports_of(importer, path, known))
    assert any(breaks_part_rule(one) or breaks_engine_rule(one) for one in found) is broken

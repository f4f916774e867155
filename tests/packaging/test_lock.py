"""The lock files pin all that is declared, with hashes, and name no place to fetch it from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = {"run": ROOT / "packaging/requirements.txt", "test": ROOT / "packaging/requirements-test.txt"}
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def pins(level: str) -> dict[str, tuple[str, list[str]]]:
    """Version and hashes by canonical name."""
    text = "\n".join(
        line for line in LOCKS[level].read_text(encoding="utf-8").splitlines() if "#" not in line
    ).replace("\\\n", " ")
    found = {}
    for line in filter(str.strip, text.splitlines()):
        requirement = Requirement(HASH.sub("", line).strip())
        (pin,) = requirement.specifier
        assert pin.operator == "=="
        name = canonicalize_name(requirement.name)
        assert name not in found, f"{name} is pinned twice"
        found[name] = (pin.version, HASH.findall(line))
    return found


def declared(level: str) -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    texts = [*project["project"]["dependencies"], *project["build-system"]["requires"], *groups["build"]]
    return [Requirement(text) for text in texts + (groups["dev"] if level == "test" else [])]


@pytest.mark.parametrize("level", LOCKS)
def test_every_declared_requirement_is_pinned_within_its_range(level: str) -> None:
    locked = pins(level)
    for requirement in declared(level):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not in the lock: run packaging/lock"
        version = locked[name][0]
        assert version in requirement.specifier, f"{name} {version} does not fit {requirement}"


@pytest.mark.parametrize("level", LOCKS)
def test_every_pin_has_hashes(level: str) -> None:
    assert pins(level)
    assert not [name for name, (_, hashes) in pins(level).items() if not hashes]


@pytest.mark.parametrize("level", LOCKS)
def test_the_lock_names_no_index_and_no_place(level: str) -> None:
    for line in LOCKS[level].read_text(encoding="utf-8").splitlines():
        stripped = line.strip()
        assert "://" not in stripped
        assert " @ " not in stripped
        assert not stripped.startswith("-") or stripped.startswith("--hash=sha256:")


def test_testing_uses_the_very_packages_that_run() -> None:
    running, testing = pins("run"), pins("test")
    assert {name: testing.get(name) for name in running} == running

"""Resources and scenarios are found in a clone and in an installed wheel alike."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from synapse.engine import shipped
from synapse.engine.errors import InstallationIncomplete

ROOT = Path(__file__).resolve().parents[2]


def test_a_clone_serves_its_own_folders() -> None:
    assert shipped.resource_folder() == ROOT / "resources"
    assert shipped.scenario_folder() == ROOT / "scenarios"


def test_a_missing_folder_is_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_IN_A_WHEEL", tmp_path)
    monkeypatch.setattr(shipped, "_IN_A_CLONE", tmp_path)
    shipped._folder.cache_clear()
    try:
        with pytest.raises(InstallationIncomplete, match="scenarios"):
            shipped.scenario_folder()
    finally:
        shipped._folder.cache_clear()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    (found,) = folder.glob("*.whl")
    return found


def files_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def committed(folder: str) -> set[str]:
    """What git would keep of the folder, or all of it where this is no clone."""
    if shutil.which("git") is None:
        return files_below(ROOT / folder)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        return files_below(ROOT / folder)
    names = (name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())
    return {Path(name).relative_to(folder).as_posix() for name in names}


def test_an_installed_wheel_finds_every_file_without_the_clone(wheel: Path, tmp_path: Path) -> None:
    target = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith(("desktop/", "resources/", "scenarios/", "tests/"))]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-user",
         "--no-index", "--no-deps", "--target", str(target), str(wheel)],
        check=True, capture_output=True,
    )  # fmt: skip
    asked = subprocess.run(
        [sys.executable, "-c",
         "import json; from synapse.engine import shipped;"
         "print(json.dumps([str(shipped.resource_folder()), str(shipped.scenario_folder())]))"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(target)},
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    for name, found in zip(("resources", "scenarios"), json.loads(asked.stdout), strict=True):
        assert Path(found).is_relative_to(target)
        assert files_below(Path(found)) == committed(name)
        assert committed(name)

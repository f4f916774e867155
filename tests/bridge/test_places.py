"""Where things lie: the same folders for the bridge, which has no library, and for the engine."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from synapse.bridge import places

FOLDERS = """
import json
from synapse.bridge import places
print(json.dumps([places.data_folder(), places.configuration_folder()]))
"""


@pytest.mark.parametrize("given", ["set", "empty", "blank", "unset"])
def test_the_folders_are_those_of_the_engine(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        if given == "unset":
            monkeypatch.delenv(name)
        else:
            monkeypatch.setenv(name, {"set": str(tmp_path / name), "empty": "", "blank": " "}[given])
    assert places.data_folder() == platformdirs.user_data_dir("synapse", appauthor=False)
    assert places.configuration_folder() == platformdirs.user_config_dir("synapse", appauthor=False)


def folders_in(environment: dict[str, str]) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-P", "-c", FOLDERS],
        env=environment,
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )
    found: list[str] = json.loads(done.stdout)
    return found


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the folders of Linux")
@pytest.mark.parametrize("given", ["both", "data", "none", "usual"])
def test_the_variables_that_are_handed_on_are_enough_and_no_more(
    given: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = pwd.getpwuid(os.getuid()).pw_dir
    monkeypatch.setenv("HOME", home)
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    if given in ("both", "data"):
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if given == "both":
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    if given == "usual":
        monkeypatch.setenv("XDG_DATA_HOME", f"{home}/.local/share")
    handed_on = places.environment()
    assert len(handed_on) == {"both": 2, "data": 1, "none": 0, "usual": 0}[given]
    assert folders_in(handed_on) == [places.data_folder(), places.configuration_folder()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the folders of Linux")
def test_another_home_is_handed_on_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name)
    assert folders_in(places.environment()) == [
        str(tmp_path / ".local/share/synapse"),
        str(tmp_path / ".config/synapse"),
    ]


def test_a_vault_has_one_key_however_it_is_reached(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "vault")
    keys = {places.vault_key(tmp_path / name) for name in ("vault", "link", "link/../vault")}
    assert len(keys) == 1
    assert len(keys.pop()) == 16

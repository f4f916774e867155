"""What every test stands on: repeatable properties, no desktop, and no trace in the user's own folders."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent
SHARED_DATA = ROOT.parent / "shared" / "data"

# Before anything imports Qt.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave slow tests out unless they are asked for, by option, mark expression or node id."""
    asked_by_id = any("::" in argument for argument in config.args)
    if config.option.slow or "slow" in config.option.markexpr or asked_by_id:
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]


@pytest.fixture(scope="session", autouse=True)
def _runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A private runtime folder: Qt warns where there is none, and sockets of tests belong nowhere else."""
    folder = tmp_path_factory.mktemp("runtime")
    folder.chmod(0o700)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        yield


@pytest.fixture(autouse=True)
def user_folder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Where the user's data, settings, state and documents go in this test; not made until it is used."""
    name = hashlib.sha256(request.node.nodeid.encode()).hexdigest()[:12]
    folder = tmp_path_factory.getbasetemp() / "users" / name
    for variable, name in {
        "XDG_DATA_HOME": "data",
        "XDG_CONFIG_HOME": "config",
        "XDG_STATE_HOME": "state",
        "XDG_CACHE_HOME": "cache",
        "XDG_DOCUMENTS_DIR": "documents",
    }.items():
        monkeypatch.setenv(variable, str(folder / name))
    if sys.platform == "win32":
        monkeypatch.setenv("LOCALAPPDATA", str(folder))
        monkeypatch.setenv("APPDATA", str(folder))
    return folder


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """`shared_data("vaults")` is that folder or file beside the project, or skips the test by its name."""

    def find(name: str) -> Path:
        path = SHARED_DATA / name
        if not path.exists():
            pytest.skip(f"needs ../shared/data/{name}, which is not here")
        return path

    return find


@pytest.fixture(scope="session")
def ordinary_user() -> list[str]:
    """What to put before a child's command so that permissions hold for it, also where the tests run as root.

    The child keeps root's name and loses root's capabilities. Another user's name would not do: below a
    private temporary folder it could not even reach the interpreter.
    """
    if os.name != "posix" or os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("needs setpriv, or a user other than root")
    return ["setpriv", "--bounding-set=-all", "--inh-caps=-all"]


@pytest.fixture
def display_environment() -> dict[str, str]:
    """The environment for a child process that shows real windows; skips where there is no X server.

    The tests' own process stays offscreen, since Qt has one platform for the life of a process.
    """
    if not os.environ.get("DISPLAY"):
        pytest.skip("needs an X server (packaging/test starts one where Xvfb is installed)")
    return {**os.environ, "QT_QPA_PLATFORM": "xcb"}

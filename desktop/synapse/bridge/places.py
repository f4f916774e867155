"""Where this user's data, configuration and sockets lie, without a library.

The folders are those that platformdirs gives the engine; a test compares them. None depends on the
folder that a process was started in, and without HOME the user's entry in the system's list counts,
so that a host that clears the environment finds the same vaults.
"""

from __future__ import annotations

import os
import sys
from hashlib import sha256

_NAME = "synapse"


def data_folder() -> str:
    """This user's derived data: graphs, catalogues, the discovery files."""
    if sys.platform == "win32":
        return os.path.join(_windows("LOCALAPPDATA", "AppData\\Local"), _NAME)
    if sys.platform == "darwin":
        return os.path.expanduser(f"~/Library/Application Support/{_NAME}")
    return os.path.join(_xdg("XDG_DATA_HOME", "~/.local/share"), _NAME)


def configuration_folder() -> str:
    """What this user chose: recent vaults, which agents may write."""
    if sys.platform in ("win32", "darwin"):
        return data_folder()
    return os.path.join(_xdg("XDG_CONFIG_HOME", "~/.config"), _NAME)


def vault_key(vault: str | os.PathLike[str]) -> str:
    """16 hexadecimal digits that name a vault's folder, by its real path."""
    return sha256(os.fsencode(os.path.realpath(vault))).hexdigest()[:16]


def vault_data_folder(vault: str | os.PathLike[str]) -> str:
    """The folder of one vault's graph, catalogue and lock."""
    return os.path.join(data_folder(), "vaults", vault_key(vault))


def environment() -> dict[str, str]:
    """The variables without which these answers would be others, with the values that give them.

    A host's configuration carries them, so that a bridge that is started with an empty environment
    looks in the same folders.
    """
    if sys.platform == "win32":
        value = os.environ.get("LOCALAPPDATA", "").strip()
        return {"LOCALAPPDATA": value} if value else {}
    import pwd

    usual_home = pwd.getpwuid(os.getuid()).pw_dir
    if sys.platform == "darwin":
        home = os.path.expanduser("~")
        return {"HOME": home} if home != usual_home else {}
    found = {}
    for variable, usual in (("XDG_DATA_HOME", ".local/share"), ("XDG_CONFIG_HOME", ".config")):
        now = _xdg(variable, f"~/{usual}")
        if now != os.path.join(usual_home, usual):
            found[variable] = now
    return found


def _xdg(variable: str, usual: str) -> str:
    return os.environ.get(variable, "").strip() or os.path.expanduser(usual)


def _windows(variable: str, usual: str) -> str:
    return os.environ.get(variable, "").strip() or os.path.join(os.path.expanduser("~"), usual)

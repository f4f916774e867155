"""What this machine lacks, and whether `.venv` is still the one that the lock asks for.

    environment.py missing run|test       what is missing: "PACKAGE REASON" a line, Debian's names
    environment.py fingerprint run|test   one line that changes whenever the set-up has to be redone

`packaging/setup.sh` calls it with a bare Python, so it uses the standard library only.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Shared libraries that the bundled Qt and its X11, Wayland and offscreen plugins link to and do not bring.
LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libstdc++.so.6": "libstdc++6",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-glx.so.0": "libxcb-glx0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}
TEST_COMMANDS = {"Xvfb": "xvfb", "xdotool": "xdotool", "openbox": "openbox"}
FONT = "fonts-dejavu-core"


def missing(level: str) -> Iterator[tuple[str, str]]:
    """Pairs of a Debian package and what it would bring; the same package may come twice."""
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        major, minor = sys.version_info[:2]
        distribution_python = Path("/usr/bin/python3").resolve().name == f"python{major}.{minor}"
        yield ("python3-venv" if distribution_python else f"python{major}.{minor}-venv", "venv")
    if not sys.platform.startswith("linux"):
        return
    for soname, package in LIBRARIES.items():
        try:
            ctypes.CDLL(soname)
        except OSError:
            yield package, soname
    if not any(_fonts()):
        yield FONT, "a font"
    if level == "test":
        for command, package in TEST_COMMANDS.items():
            if shutil.which(command) is None:
                yield package, command


def _fonts() -> Iterator[Path]:
    for folder in ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts"):
        for pattern in ("*.ttf", "*.otf", "*.ttc", "*.pfb"):
            yield from Path(folder).expanduser().rglob(pattern)


def fingerprint(level: str) -> str:
    """Changes with the lock, the project's metadata, the interpreter and the place of the project."""
    names = ["pyproject.toml", "packaging/requirements.txt"]
    if level == "test":
        names.append("packaging/requirements-test.txt")
    digest = hashlib.sha256(f"{ROOT}\n{sys.version}\n".encode())
    for name in names:
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[1] not in ("run", "test"):
        print(__doc__, file=sys.stderr)
        return 2
    command, level = arguments
    if command == "missing":
        for package, what in dict(missing(level)).items():
            print(package, what)
    elif command == "fingerprint":
        print(fingerprint(level))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Where the files lie that come with Synapse: resources and scenario packages.

A wheel carries them inside the import package; in a clone (an editable install) they stand at the
root of the project, beside `desktop/`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from synapse.engine.errors import InstallationIncomplete

_PACKAGE = Path(__file__).resolve().parents[1]
_IN_A_WHEEL = _PACKAGE / "_shipped"
_IN_A_CLONE = _PACKAGE.parents[1]


def resource_folder() -> Path:
    """The folder of icons, themes, queries and the sample vault; to be read only."""
    return _folder("resources")


def scenario_folder() -> Path:
    """The folder with one scenario package a subfolder, each with its `manifest.json`; to be read only."""
    return _folder("scenarios")


@cache
def _folder(name: str) -> Path:
    for parent in (_IN_A_WHEEL, _IN_A_CLONE):
        if (parent / name).is_dir():
            return parent / name
    raise InstallationIncomplete(
        f"The folder {name} that comes with Synapse is missing.", "Install Synapse again.", path=str(_PACKAGE)
    )

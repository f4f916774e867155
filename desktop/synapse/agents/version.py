"""Which version of the program this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def program_version() -> str:
    """The installed version, or `0+unknown` in a tree that was never installed."""
    try:
        return version("synapse-desktop")
    except PackageNotFoundError:
        return "0+unknown"

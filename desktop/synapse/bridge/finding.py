"""Which vault a bridge serves: the one that was named, or the only one that this user has."""

from __future__ import annotations

import json
import os

from synapse.bridge import discovery, places


class NoVault(Exception):
    """There is no vault to serve; the text says what to do."""


def known_vaults() -> list[str]:
    """The vaults that an owner serves now or that were opened in the window lately."""
    found: dict[str, str] = {}
    for vault in [*(owner.vault for owner in discovery.all_owners()), *_recent()]:
        if os.path.isdir(vault):
            found.setdefault(places.vault_key(vault), vault)
    return list(found.values())


def find(named: str | None) -> str:
    """The absolute path of the vault, whether it is there or not, if it was named. Raises NoVault."""
    if named is not None:
        return os.path.abspath(os.path.expanduser(named))
    known = known_vaults()
    if len(known) == 1:
        return known[0]
    if not known:
        raise NoVault(
            "No vault is known. Name one in the host's configuration, with --vault, or open one in Synapse."
        )
    listed = "".join(f"\n  {vault}" for vault in known)
    raise NoVault(f"There are several vaults; name one in the host's configuration, with --vault:{listed}")


def _recent() -> list[str]:
    path = os.path.join(places.configuration_folder(), "vaults.json")
    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
    except (OSError, ValueError, RecursionError):
        return []
    return [item for item in read if isinstance(item, str)] if isinstance(read, list) else []

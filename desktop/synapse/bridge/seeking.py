"""The vault that a bridge is for, and who owns it now or can be made to."""

from __future__ import annotations

import os

from synapse.bridge import discovery, stopped
from synapse.bridge.discovery import Discovery
from synapse.bridge.finding import find
from synapse.bridge.starting import HINT, Starter


class Seeker:
    """Looks for a vault's owner. named: the vault, or None for the only one that is known.

    An unnamed vault is settled on when its owner is reached or started, and kept from then on.
    """

    def __init__(self, named: str | None) -> None:
        self._named = named
        self._vault: str | None = None
        self._starter: Starter | None = None

    @property
    def hint(self) -> str:
        """What a person can do where there is no owner."""
        return HINT.format(vault=self.name or "VAULT")

    @property
    def name(self) -> str:
        """The vault as it is called in messages."""
        return self._vault or self._named or ""

    def look(self) -> tuple[str, Discovery | None]:
        """The vault and its owner, if one is written down and may live. Raises NoVault."""
        vault = self._vault or find(self._named)
        owner = discovery.read(vault)
        return vault, owner if owner is not None and discovery.may_live(owner) else None

    def settle(self, vault: str) -> Starter:
        """This vault it is."""
        if self._vault is None or self._starter is None:
            self._vault, self._starter = vault, Starter(vault)
        return self._starter

    def start(self, vault: str, now: float) -> str | None:
        """See to it that there will be an owner; returns why there will be none, or None to wait on.

        now: seconds of a clock that only goes forward.
        """
        if not os.path.isdir(vault):
            return f"There is no folder {vault}. Check --vault in the configuration, or mount the disk."
        if stopped.is_stopped(vault):
            said = f"Synapse was told to stop serving {vault} when its window was closed."
            return f"{said} {HINT.format(vault=vault)}"
        problem = self.settle(vault).wanted(now)
        return None if problem is None else f"{problem} {HINT.format(vault=vault)}"

    def answered(self) -> None:
        """An owner answers: what its process does from now on is no failure to start."""
        if self._starter is not None:
            self._starter.answered()

    def reap(self) -> None:
        """Let the system forget an owner that was started here and ended."""
        if self._starter is not None:
            self._starter.reap()

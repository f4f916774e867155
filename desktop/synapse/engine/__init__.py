"""Everything Synapse knows how to do, without Qt, sockets or MCP.

    from synapse.engine import open_vault

    with open_vault("~/notes") as engine:
        engine.index()
        for item in engine.impact("modules/payments").items:
            print(item.depth, item.entity.id)

`open_vault` gives an Engine; what it answers is in `questions.results`, what it raises in `errors`.
Each name is imported when it is first used: a command that an owner answers needs no engine here.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from synapse.engine.changes import ChangeSet, Delta, GraphChange, Revision
    from synapse.engine.engine import Engine, open_vault
    from synapse.engine.errors import SynapseError
    from synapse.engine.record import Agent, WrittenFact
    from synapse.engine.vaults import create_sample_vault, create_vault

__all__ = [
    "Agent",
    "ChangeSet",
    "Delta",
    "Engine",
    "GraphChange",
    "Revision",
    "SynapseError",
    "WrittenFact",
    "create_sample_vault",
    "create_vault",
    "open_vault",
]

_MODULES = {
    "changes": ("ChangeSet", "Delta", "GraphChange", "Revision"),
    "engine": ("Engine", "open_vault"),
    "errors": ("SynapseError",),
    "record": ("Agent", "WrittenFact"),
    "vaults": ("create_sample_vault", "create_vault"),
}

if not TYPE_CHECKING:  # a type checker reads the imports above and finds misspelt names

    def __getattr__(name: str) -> object:
        for module, names in _MODULES.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

"""Everything Synapse knows how to do, without Qt, sockets or MCP.

    from synapse.engine import open_vault

    with open_vault("~/notes") as engine:
        engine.index()
        for item in engine.impact("modules/payments").items:
            print(item.depth, item.entity.id)

`open_vault` gives an Engine; what it answers is in `questions.results`, what it raises in `errors`.
"""

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

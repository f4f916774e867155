"""What the panel shows: registry, owner and journal put together, agent by agent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from synapse.agents.owner import Owner
from synapse.agents.registry import Access, KnownAgent, Registry
from synapse.agents.session import Attached
from synapse.engine import Engine
from synapse.engine.questions.results import AgentActivity


@dataclass(frozen=True, slots=True)
class AgentState:
    """One agent. access: what it may do now, None for one that only the journal knows.

    attached: its connections now. activity: what it did in this vault, if anything.
    """

    name: str
    access: Access | None
    has_token: bool
    attached: tuple[Attached, ...]
    activity: AgentActivity | None
    last_seen: str | None

    @property
    def wants_to_write(self) -> bool:
        """It tried to write and may not yet."""
        return any(one.wants_to_write for one in self.attached)

    @property
    def is_proven(self) -> bool:
        """Its name is proven where it is attached, or can only be had with a token."""
        return self.has_token and all(one.proven for one in self.attached)


@dataclass(frozen=True, slots=True)
class AgentsState:
    """All agents that are attached, known or in the journal; the attached ones first, then by name."""

    agents: tuple[AgentState, ...] = ()

    @property
    def connections(self) -> int:
        """How many agents' connections there are; commands of the command line are not counted."""
        return sum(len(agent.attached) for agent in self.agents)

    def agent(self, name: str) -> AgentState | None:
        return next((agent for agent in self.agents if agent.name == name), None)


def gather(engine: Engine, owner: Owner | None, registry: Registry) -> AgentsState:
    """Ask all three; reads files, so not on the interface thread."""
    known: dict[str, KnownAgent] = {agent.name: agent for agent in registry.known()}
    activity = {one.name: one for one in engine.agent_activity() if one.kind != "person"}
    attached: dict[str, list[Attached]] = {}
    for one in owner.attached() if owner is not None else ():
        if one.protocol == "mcp":
            attached.setdefault(one.name, []).append(one)
    agents = [
        AgentState(
            name,
            entry.access if (entry := known.get(name)) else None,
            entry is not None and entry.has_token,
            tuple(attached.get(name, ())),
            activity.get(name),
            entry.last_seen if entry else None,
        )
        for name in known.keys() | activity.keys() | attached.keys()
    ]
    agents.sort(key=lambda agent: (not agent.attached, agent.name.casefold(), agent.name))
    return AgentsState(tuple(agents))


def local_time(utc: str, now: datetime | None = None) -> str:
    """A UTC time of the journal as a person here writes it: the time today, else with the date."""
    try:
        moment = datetime.fromisoformat(utc)
    except ValueError:
        return utc
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    here = moment.astimezone()
    today = (now or datetime.now(UTC)).astimezone().date()
    return f"{here:%H:%M}" if here.date() == today else f"{here:%Y-%m-%d %H:%M}"

"""What agents did in a vault, as the journal tells it."""

from __future__ import annotations

from synapse.engine.questions.reader import GraphReader
from synapse.engine.questions.results import AgentActivity, AssertionSummary
from synapse.engine.record import Event, Projection
from synapse.engine.record.events import ASSERT, RETRACT


def agent_activity(projection: Projection) -> tuple[AgentActivity, ...]:
    """Everybody who stated or withdrew something, who did so last first."""
    acts: dict[str, list[Event]] = {}
    for event in projection.events():
        if event.kind in (ASSERT, RETRACT):
            acts.setdefault(event.who.name, []).append(event)
    found = [_activity(projection, name, events) for name, events in acts.items()]
    return tuple(sorted(found, key=lambda one: (one.last, one.name), reverse=True))


def _activity(projection: Projection, name: str, events: list[Event]) -> AgentActivity:
    made = [projection.assertion(event.id) for event in events if event.kind == ASSERT]
    return AgentActivity(
        name,
        events[-1].who.kind,
        events[-1].who.client,
        len(made),
        len(events) - len(made),
        sum(len(assertion.standing) for assertion in made if assertion is not None),
        events[0].time,
        events[-1].time,
    )


def assertions_of(
    projection: Projection, reader: GraphReader, name: str, since: str | None, limit: int
) -> tuple[AssertionSummary, ...]:
    """What an agent stated, the last first. since: UTC time, from then on."""
    events = [event for event in projection.events(name, since) if event.kind == ASSERT]
    return tuple(_summary(projection, reader, event) for event in reversed(events[-limit:]))


def _summary(projection: Projection, reader: GraphReader, event: Event) -> AssertionSummary:
    assertion = projection.assertion(event.id)
    assert assertion is not None
    facts = [reader.fact(fact.triple) for fact in assertion.facts]
    return AssertionSummary(
        event.id,
        event.time,
        event.who.name,
        event.why,
        assertion.source,
        tuple(fact.sentence for fact in facts),
        tuple(fact.subject.id for fact in facts),
        len(assertion.standing),
    )

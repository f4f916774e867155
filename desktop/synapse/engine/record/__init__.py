"""What was done, by whom, when and why: journal, history, provenance and assertions."""

from synapse.engine.record.assertions import AssertedFact, Assertion, Projection, project
from synapse.engine.record.events import Agent, Event, utc_now
from synapse.engine.record.facts import (
    Projector,
    Withdrawal,
    WrittenFact,
    assertion_data,
    is_schema_axiom,
    parse_fact,
    retraction_data,
    superseded,
    undo_data,
)
from synapse.engine.record.history import Entry, History
from synapse.engine.record.journal import Appended, Journal, JournalWarning, Reading, device_id

__all__ = [
    "Agent",
    "Appended",
    "AssertedFact",
    "Assertion",
    "Entry",
    "Event",
    "History",
    "Journal",
    "JournalWarning",
    "Projection",
    "Projector",
    "Reading",
    "Withdrawal",
    "WrittenFact",
    "assertion_data",
    "device_id",
    "is_schema_axiom",
    "parse_fact",
    "project",
    "retraction_data",
    "superseded",
    "undo_data",
    "utc_now",
]

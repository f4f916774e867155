"""The shapes in which the engine answers (data-model.md section 7).

All are frozen and plain: the command line prints them as JSON (`as_json`), the window draws them.
Lists are ordered deterministically; `total` counts everything, `cursor` reaches the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Literal as OneOf

EntityKind = OneOf["note", "unwritten", "attachment", "tag", "memory", "value", "other"]
SourceKind = OneOf["note", "file", "ontology", "agent", "memory"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A node of the graph as people meet it.

    id: the vault id (`people/bob`), or the IRI where the node is no vault entity.
    label: never an IRI where a label exists. path: the file, where there is one.
    kind: `value` is a node of a nested mapping, `other` a class, property or outside IRI.
    """

    id: str
    iri: str
    label: str
    kind: EntityKind = "other"
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A literal: its text in the store's form, its datatype IRI, its language tag or None."""

    text: str
    datatype: str
    language: str | None = None

    @property
    def label(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Source:
    """What states a fact.

    graph: IRI of the named graph. label: the note's path, the ontology's name or the agent's name.
    path, line, column, snippet: where it is written, for files. since: UTC time when this machine
    learned it, ISO 8601, or None where that is not known. reason, stated_source: for agents.
    """

    kind: SourceKind
    graph: str
    label: str
    path: str | None = None
    line: int | None = None
    column: int | None = None
    snippet: str | None = None
    since: str | None = None
    agent: str | None = None
    reason: str | None = None
    stated_source: str | None = None
    assertion: str | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A triple with its sources; an inferred one has none."""

    subject: Entity
    predicate: Entity
    object: Entity | Value
    inferred: bool = False
    sources: tuple[Source, ...] = ()

    @property
    def sentence(self) -> str:
        return f"{self.subject.label} {self.predicate.label} {self.object.label}"


@dataclass(frozen=True, slots=True)
class Dossier:
    """All that is known of an entity.

    types, attributes, outgoing, incoming: facts; attributes have literals or tags as objects.
    total: facts in the four lists before paging. cursor: pass it on to get the next page.
    """

    entity: Entity
    types: tuple[Fact, ...]
    attributes: tuple[Fact, ...]
    outgoing: tuple[Fact, ...]
    incoming: tuple[Fact, ...]
    total: int
    cursor: str | None = None
    note: str | None = None
    """What to tell the asker about how the id was understood."""


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of a neighbourhood. depth: steps from the centre. degree: relations it has in the
    whole graph. types: labels of its classes."""

    entity: Entity
    depth: int
    degree: int
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The subgraph around an entity, breadth first. cut: nodes reached but left out."""

    centre: Entity
    nodes: tuple[GraphNode, ...]
    edges: tuple[Fact, ...]
    total: int
    cut: int = 0


@dataclass(frozen=True, slots=True)
class Impacted:
    """One entity that depends on the one asked for: how many steps, and one shortest path of facts
    from it to the one asked for."""

    entity: Entity
    depth: int
    path: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Impact:
    entity: Entity
    items: tuple[Impacted, ...]
    total: int
    cursor: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """Why a fact holds: the rule that gave it and the proofs of its premises.

    rule: the rule's id, or None for a stated fact, which then has sources and no premises.
    """

    fact: Fact
    sentence: str
    rule: str | None = None
    reference: str | None = None
    premises: tuple[Proof, ...] = ()

    def leaves(self) -> Iterator[Proof]:
        """The stated facts it rests on, in order, each once; does not recurse."""
        seen: set[int] = set()
        waiting = [self]
        while waiting:
            proof = waiting.pop()
            if id(proof) in seen:
                continue
            seen.add(id(proof))
            if proof.rule is None:
                yield proof
            waiting.extend(reversed(proof.premises))


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a fact comes from. proof: for an inferred one."""

    fact: Fact
    activities: tuple[Activity, ...] = ()
    proof: Proof | None = None


@dataclass(frozen=True, slots=True)
class Activity:
    """A PROV-O activity that made a source: when it began and ended (UTC), who did it and why."""

    graph: str
    started: str | None
    ended: str | None
    agent: str | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A full-text hit. snippet: text around it, the found words between U+E000 and U+E001.
    score: higher is better."""

    entity: Entity
    snippet: str
    score: float
    line: int | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    text: str
    hits: tuple[Hit, ...]
    total: int
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class NoteDiagnostic:
    """A problem in a file. line and column count from 1. severity: error, warning or info."""

    path: str
    line: int | None
    column: int | None
    severity: str
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class IndexReport:
    """What an index run did. notes: notes in the vault. facts: distinct stated facts without
    meta. seconds: wall time."""

    notes: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    restated: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    facts: int
    inferred: int
    diagnostics: int
    revision: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Asserted:
    """What a statement did. facts: of this assertion that stand. inferred: facts that newly follow.

    repeated: the same call was answered before and stated nothing now. dry_run: nothing was written,
    and `assertion` is empty where it would be a new one.
    """

    assertion: str
    revision: str
    facts: int
    inferred: int
    repeated: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class StillHolds:
    """A fact that was withdrawn but still stands, and what states or derives it."""

    fact: Fact
    because: str


@dataclass(frozen=True, slots=True)
class Retracted:
    """What a retraction did. no_longer_holds: facts, stated and inferred, that are gone."""

    withdrawn: tuple[Fact, ...]
    still_holds: tuple[StillHolds, ...]
    no_longer_holds: tuple[Fact, ...]
    revision: str


@dataclass(frozen=True, slots=True)
class Undone:
    """What was taken back of an agent's writes.

    events: its statements and retractions that were undone. withdrawn: facts that it stated and that
    it states no more. restored: facts that it had withdrawn or superseded and that are stated again.
    no_longer_inferred: facts that followed only from them. Before it is done the last two are 0.
    """

    agent: str
    events: int
    withdrawn: int
    restored: int
    no_longer_inferred: int
    revision: str


@dataclass(frozen=True, slots=True)
class AgentActivity:
    """What one agent did in this vault. facts: those of its statements that stand.

    first, last: UTC times of its first and last act. client: the program it came through last.
    """

    name: str
    kind: str
    client: str
    assertions: int
    retractions: int
    facts: int
    first: str
    last: str


@dataclass(frozen=True, slots=True)
class AssertionSummary:
    """One statement of an agent. facts: as sentences. entities: ids of their subjects, in the same
    order. standing: how many of them still hold."""

    id: str
    time: str
    name: str
    reason: str
    source: str
    facts: tuple[str, ...]
    entities: tuple[str, ...]
    standing: int


@dataclass(frozen=True, slots=True)
class Finding:
    """A broken invariant. kind: one word for the fault. where: graph, path or table."""

    kind: str
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class CheckReport:
    ok: bool
    findings: tuple[Finding, ...]
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Skipped:
    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class BacklinksReport:
    """written: paths whose section was (or, in a preview, would be) changed."""

    policy: str
    written: tuple[str, ...]
    unchanged: int
    skipped: tuple[Skipped, ...]
    links: int = 0


@dataclass(frozen=True, slots=True)
class ScenarioState:
    name: str
    version: str
    description: str
    triples: int
    state: OneOf["installed", "available", "outdated"]


@dataclass(frozen=True, slots=True)
class Status:
    """The numbers of the status bar."""

    revision: str
    notes: int
    facts: int
    inferred: int
    diagnostics: int
    incomplete: tuple[str, ...] = ()


def as_json(result: object) -> object:
    """A result as JSON values: dataclasses as objects, tuples as lists, nothing left out.

    A proof becomes the list of its steps, each after its premises, which it names by position: as a
    tree it could be exponentially larger than it is.
    """
    if isinstance(result, Proof):
        return {"steps": _steps(result)}
    if is_dataclass(result) and not isinstance(result, type):
        return {field.name: as_json(getattr(result, field.name)) for field in fields(result)}
    if isinstance(result, (list, tuple)):
        return [as_json(item) for item in result]
    if isinstance(result, dict):
        return {str(key): as_json(value) for key, value in result.items()}
    return result


def _steps(proof: Proof) -> list[object]:
    position: dict[int, int] = {}
    steps: list[object] = []
    waiting = [proof]
    while waiting:
        step = waiting[-1]
        missing = [premise for premise in step.premises if id(premise) not in position]
        if id(step) in position or missing:
            waiting += reversed(missing)
            if not missing:
                waiting.pop()
            continue
        waiting.pop()
        position[id(step)] = len(steps)
        steps.append(
            {
                "fact": as_json(step.fact),
                "sentence": step.sentence,
                "rule": step.rule,
                "reference": step.reference,
                "premises": [position[id(premise)] for premise in step.premises],
            }
        )
    return steps

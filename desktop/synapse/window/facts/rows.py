"""What the rows of a facts view say: plain data made from the engine's answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal as OneOf

from PySide6.QtCore import QCoreApplication

from synapse.engine.questions.results import Dossier, Entity, Fact, Impact, Source, Value
from synapse.window.panel import counted, grouped

RowKind = OneOf["section", "group", "fact", "more", "hint"]
MarkKind = OneOf["inferred", "agent", "ontology", "memory"]
FILE_KINDS = ("note", "file")

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file that can be opened."""

    path: str
    line: int | None = None

    @property
    def text(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path

    @property
    def short(self) -> str:
        """Without the folders, for where room is scarce."""
        name = self.path.rpartition("/")[2]
        return f"{name}:{self.line}" if self.line else name


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a fact comes from when it is not simply a note: said in words, drawn with a line."""

    kind: MarkKind
    text: str


@dataclass(frozen=True, slots=True)
class Row:
    """One row. text: what it is about; detail: a second, muted line; place: a link beside it.

    opens: entity id or path, and line, that activating the row opens. fact: what Why? asks about.
    inside: makes the rows below it, when they are first wanted; `hollow`: about an unwritten note.
    """

    kind: RowKind
    text: str
    detail: str = ""
    count: int | None = None
    place: Place | None = None
    mark: Mark | None = None
    fact: Fact | None = None
    opens: tuple[str, int | None] | None = None
    hollow: bool = False
    open_at_first: bool = True
    inside: Callable[[], tuple[Row, ...]] | None = None

    def below(self) -> tuple[Row, ...]:
        return self.inside() if self.inside is not None else ()

    @property
    def spoken(self) -> str:
        """The whole row in words, for screen readers and copying."""
        parts = [self.text if self.count is None else f"{self.text} ({grouped(self.count)})"]
        if self.mark is not None:
            parts.append(self.mark.text)
        parts += [part for part in (self.detail, self.place.text if self.place else "") if part]
        return ", ".join(parts)


def place_of(source: Source) -> Place | None:
    """The file and line of a source, if it is one."""
    return Place(source.path, source.line) if source.path else None


def mark_of(fact: Fact) -> Mark | None:
    """How a fact is marked: not at all where a note or file of the vault states it."""
    if fact.inferred:
        return Mark("inferred", translate("Facts", "inferred"))
    if not fact.sources or any(source.kind in FILE_KINDS for source in fact.sources):
        return None
    source = fact.sources[0]
    if source.kind == "agent":
        name = source.agent or source.label
        return Mark("agent", translate("Facts", "by {name}").format(name=name))
    if source.kind == "memory":
        return Mark("memory", translate("Facts", "memory"))
    return Mark("ontology", source.label)


def first_place(fact: Fact) -> tuple[Place | None, str]:
    """The first file that states a fact, and the line there."""
    for source in fact.sources:
        place = place_of(source)
        if place is not None:
            return place, " ".join((source.snippet or "").split())
    return None, ""


def reason_of(fact: Fact) -> str:
    """The reason an agent gave, where only agents state the fact."""
    return next((source.reason for source in fact.sources if source.kind == "agent" and source.reason), "")


def is_address(text: str) -> bool:
    """Whether a label is a path or web address, which is told apart by its end as much as by its
    beginning."""
    return "/" in text and " " not in text


def opening(entity: Entity) -> tuple[str, int | None] | None:
    """How an entity is opened; None for what is no note (a class, an outside address)."""
    if entity.kind in ("note", "attachment"):
        return (entity.path or entity.id, None)
    return (entity.id, None) if entity.kind == "unwritten" else None


def fact_row(fact: Fact, other: Entity | Value, *, incoming: bool, text: str | None = None) -> Row:
    """A row for a fact as seen from one of its ends; `other` is the other end."""
    place, snippet = first_place(fact)
    opens = opening(other) if isinstance(other, Entity) else None
    if place is not None and (incoming or opens is None):
        opens = (place.path, place.line)
    return Row(
        "fact",
        text or " ".join(other.label.split()) or "“”",
        detail=snippet or reason_of(fact),
        place=place,
        mark=mark_of(fact),
        fact=fact,
        opens=opens,
        hollow=isinstance(other, Entity) and other.kind == "unwritten",
    )


def relation_rows(dossier: Dossier) -> tuple[Row, ...]:
    """Backlinks first, then what the note itself relates to, each grouped by relation."""
    sections = (
        (translate("Facts", "Backlinks"), dossier.incoming, True),
        (translate("Facts", "Outgoing"), dossier.outgoing, False),
    )
    rows = [
        Row("section", title, count=len(facts), inside=_made(_groups(facts, incoming=incoming)))
        for title, facts, incoming in sections
        if facts
    ]
    return (*rows, *property_rows(dossier))


def property_rows(dossier: Dossier) -> tuple[Row, ...]:
    """Types and attributes as `name: value` rows, each name once."""
    facts = [*dossier.types, *dossier.attributes]
    if not facts:
        return ()
    rows = [
        fact_row(
            fact,
            fact.object,
            incoming=False,
            text=f"{fact.predicate.label}: {' '.join(fact.object.label.split())}",
        )
        for fact in facts
    ]
    title = translate("Facts", "Types and properties")
    return (Row("section", title, count=len(rows), open_at_first=False, inside=_made(rows)),)


def _groups(facts: Sequence[Fact], *, incoming: bool) -> list[Row]:
    def relation(fact: Fact) -> tuple[str, str]:
        return fact.predicate.label.casefold(), fact.predicate.iri

    groups = []
    for _, found in groupby(sorted(facts, key=relation), key=relation):
        group = list(found)
        # Stated facts before inferred ones; the engine's order within.
        group.sort(key=lambda fact: fact.inferred)
        rows = [
            fact_row(fact, fact.subject if incoming else fact.object, incoming=incoming) for fact in group
        ]
        groups.append(Row("group", group[0].predicate.label, count=len(group), inside=_made(rows)))
    return groups


def fact_rows(facts: Iterable[Fact], about: Entity | None = None) -> tuple[Row, ...]:
    """Facts as sentences; those about an entity with the relation first (`depends on Payments`)."""
    rows = []
    for fact in facts:
        incoming = about is not None and fact.subject.iri != about.iri
        other = fact.subject if incoming else fact.object
        label = " ".join(other.label.split())
        if about is None or incoming:
            text = " ".join(fact.sentence.split())
        else:
            text = f"{fact.predicate.label} {label}"
        rows.append(fact_row(fact, other, incoming=incoming, text=text))
    return tuple(rows)


def impact_rows(impact: Impact) -> tuple[Row, ...]:
    """What depends on an entity, grouped by how many steps away; the path is below each."""
    rows = []
    for depth, items in groupby(impact.items, key=lambda item: item.depth):
        found = list(items)
        inside = []
        for item in found:
            steps = fact_rows(item.path)
            chain = [" ".join(item.entity.label.split())]
            for fact in item.path:
                near = fact.object if _is(fact.subject, chain[-1]) else fact.subject
                chain.append(" ".join(near.label.split()))
            single = steps[0] if len(steps) == 1 else None
            inside.append(
                Row(
                    "fact",
                    chain[0],
                    detail=single.detail if single is not None else " → ".join(chain),
                    place=single.place if single is not None else None,
                    mark=next((row.mark for row in steps if row.mark is not None), None),
                    fact=single.fact if single is not None else None,
                    opens=opening(item.entity),
                    hollow=item.entity.kind == "unwritten",
                    open_at_first=False,
                    inside=None if single is not None else _made(steps),
                )
            )
        title = counted(depth, translate("Facts", "step away"), translate("Facts", "steps away"))
        rows.append(Row("section", title, count=len(found), inside=_made(inside)))
    return tuple(rows)


def _is(entity: Entity, label: str) -> bool:
    return " ".join(entity.label.split()) == label


def rows_of(answer: Dossier | Impact, text: str = "") -> tuple[Row, ...]:
    """All rows of an answer that `text` leaves, and how to get the rest of it. Knows no widget and
    may run in any thread."""
    if isinstance(answer, Impact):
        shown, rows = len(answer.items), impact_rows(answer)
    else:
        facts = (answer.types, answer.attributes, answer.outgoing, answer.incoming)
        shown, rows = sum(map(len, facts)), relation_rows(answer)
    found = filtered(rows, text)
    if text.strip() and not found:
        found = (Row("hint", translate("Facts", "Nothing here has “{text}”.").format(text=text.strip())),)
    if answer.cursor is not None:
        more = translate("Facts", "Showing {shown} of {total}. Show more")
        found = (*found, Row("more", more.format(shown=grouped(shown), total=grouped(answer.total))))
    return found


def filtered(rows: Iterable[Row], text: str) -> tuple[Row, ...]:
    """The rows that have every word of `text`, with what they stand in; counts follow.

    A relation that itself matches keeps all its rows; what sections are called does not count.
    """
    words = text.casefold().split()
    if not words:
        return tuple(rows)
    kept = []
    for row in rows:
        spoken = (row.text if row.kind == "group" else row.spoken).casefold()
        if row.kind != "section" and all(word in spoken for word in words):
            kept.append(replace(row, open_at_first=True) if row.kind != "fact" else row)
        elif row.kind in ("section", "group"):
            inside = filtered(row.below(), text)
            if inside:
                total = sum(len(below.below()) if below.kind == "group" else 1 for below in inside)
                kept.append(replace(row, count=total, inside=_made(inside), open_at_first=True))
    return tuple(kept)


def _made(rows: Iterable[Row]) -> Callable[[], tuple[Row, ...]]:
    made = tuple(rows)
    return lambda: made

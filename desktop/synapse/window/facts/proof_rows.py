"""Rows of a proof: each inferred fact over its premises, down to what is written somewhere."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QDateTime, QLocale, Qt

from synapse.engine.questions.results import Fact, Proof, Source
from synapse.window.facts.rows import Row, first_place, mark_of, place_of, reason_of

translate = QCoreApplication.translate


def proof_rows(proof: Proof) -> tuple[Row, ...]:
    """The premises of a proof as trees. Rows below a row are made when it is unfolded: a premise
    that many steps share would otherwise be written out once for each way to it."""
    return tuple(_step(premise) for premise in proof.premises)


def _step(proof: Proof) -> Row:
    fact = proof.fact
    if proof.rule is None:
        return stated_row(fact, " ".join(proof.sentence.split()))
    return Row(
        "fact",
        " ".join(fact.sentence.split()),
        detail=because(proof),
        mark=mark_of(fact),
        inside=lambda: tuple(_step(premise) for premise in proof.premises),
    )


def because(proof: Proof) -> str:
    """The reason alone, where a step's sentence says the fact first."""
    said, fact = " ".join(proof.sentence.split()), " ".join(proof.fact.sentence.split())
    return said.removeprefix(fact).strip() or said


def stated_row(fact: Fact, text: str) -> Row:
    """A stated fact with the first place where it is written; all its sources below if there are
    several."""
    place, snippet = first_place(fact)
    sources = fact.sources
    return Row(
        "fact",
        text,
        detail=snippet or reason_of(fact),
        place=place,
        mark=mark_of(fact),
        opens=(place.path, place.line) if place is not None else None,
        inside=(lambda: source_rows(fact)) if len(sources) > 1 else None,
        open_at_first=False,
    )


def source_rows(fact: Fact) -> tuple[Row, ...]:
    """One row for each note, ontology or agent that states a fact."""
    return tuple(_source(source) for source in fact.sources)


def _source(source: Source) -> Row:
    place = place_of(source)
    when = spoken_time(source.since)
    known = translate("Facts", "known since {when}").format(when=when) if when else ""
    # What is written is short; a reason may be long, and its time must not be cut off.
    if place is not None:
        parts = (" ".join((source.snippet or "").split()), known)
    else:
        parts = (known, reason_in_full(source))
    return Row(
        "fact",
        said_of(source),
        detail=" · ".join(part for part in parts if part),
        place=place,
        opens=(place.path, place.line) if place is not None else None,
    )


def reason_in_full(source: Source) -> str:
    """An agent's reason, and the source it named."""
    given = ""
    if source.stated_source:
        given = translate("Facts", "(source: {text})").format(text=source.stated_source)
    return " ".join(part for part in (source.reason or "", given) if part)


def said_of(source: Source) -> str:
    """Who or what states a fact."""
    words = {
        "note": translate("Facts", "Written in {name}"),
        "file": translate("Facts", "Written in {name}"),
        "ontology": translate("Facts", "Part of the vocabulary {name}"),
        "agent": translate("Facts", "Stated by {name}"),
        "memory": translate("Facts", "Remembered as {name}"),
    }[source.kind]
    name = (source.agent or source.label) if source.kind == "agent" else source.label
    return words.format(name=name)


def spoken_time(iso: str | None) -> str:
    """A UTC time as the person's locale writes it, in their time zone; "" for none."""
    moment = QDateTime.fromString(iso or "", Qt.DateFormat.ISODateWithMs)
    if not moment.isValid():
        return ""
    return QLocale().toString(moment.toLocalTime(), QLocale.FormatType.ShortFormat)

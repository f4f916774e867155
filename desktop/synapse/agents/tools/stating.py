"""`assert_facts` and `retract_facts`: what agents state and take back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from synapse.agents.tools import shapes
from synapse.agents.tools.arguments import ArgumentError
from synapse.agents.tools.quoting import escaped, named
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, FACT, TEXT, Names, joined, listed, section
from synapse.agents.tools.tool import Answer, Call, Tool, fitted, one_line, plural, shortened
from synapse.engine import Engine
from synapse.engine.errors import UnknownEntity
from synapse.engine.operations import Argument
from synapse.engine.questions.results import Fact, Retracted
from synapse.engine.record import WrittenFact

_LOOKED_AT = 100
"""Objects of new facts of which it is looked up whether there is a note."""
_SHOWN = 20
_MOST = 200


# -- stating -------------------------------------------------------------------------------------


def _assert(call: Call) -> Answer:
    asked = call.values
    for number, fact in enumerate(asked["facts"], 1):
        _check_paths(number, fact)
    done = call.engine.assert_facts(
        asked["facts"],
        source=asked["source"],
        reason=asked["reason"],
        agent=call.agent,
        supersedes=asked["supersedes"],
        idempotency_key=asked["idempotency_key"],
        dry_run=asked["dry_run"],
    )
    data: dict[str, Any] = {
        "revision": done.revision,
        "facts": done.facts,
        "inferred": done.inferred,
        "dry_run": asked["dry_run"],
        "repeated": done.repeated,
    }
    if done.assertion:
        data["assertion"] = done.assertion
    follows = f"{plural(done.inferred, 'fact')} newly inferred"
    if asked["dry_run"]:
        text = (
            f"Nothing was stored: this was a dry run. It would state {plural(done.facts, 'fact')};"
            f" {follows.replace('newly', 'would be newly')}."
        )
    elif done.repeated:
        text = (
            "Nothing was stored anew: this idempotency key was used before, with the same facts, as assertion"
            f" {named(done.assertion)}."
        )
    else:
        text = (
            f"Stated {plural(done.facts, 'fact')} as assertion {named(done.assertion)}; {follows}."
            " To take it back, give the assertion to retract_facts."
        )
    unwritten = _unwritten(call.engine, asked["facts"])
    if unwritten:
        data["no_note"] = unwritten
        text += (
            f"\n\nThere is no note of {', '.join(map(named, unwritten[:_SHOWN]))}"
            f"{' and others' if len(unwritten) > _SHOWN else ''}. That is allowed. Where a text was meant and"
            ' not an id, retract it and state it with "object_kind": "literal".'
        )
    return shortened(Answer(text, data, wrote=not asked["dry_run"] and not done.repeated))


def _check_paths(number: int, fact: WrittenFact) -> None:
    """Refuse an id that is a path out of the vault once it is decoded; nobody means it as an id."""
    ids = [fact.subject, fact.object] if fact.object_kind == "entity" else [fact.subject]
    for id in ids:
        if any(segment in (".", "..") for segment in re.split(r"[/\\]", unquote(id))):
            raise ArgumentError(
                f"Fact {number}: {named(id)} is no id: it has '.' or '..' segments.",
                "Write a path from the vault's root, such as people/bob.",
            )


def _unwritten(engine: Engine, facts: Sequence[WrittenFact]) -> list[str]:
    """Objects that were given as ids and name nothing that has a note: often a text was meant."""
    found: dict[str, None] = {}
    for fact in facts[:_LOOKED_AT]:
        if fact.object_kind != "entity" or fact.object in found or ":" in fact.object:
            continue
        if fact.predicate in ("type", "a", "tag", "tags"):
            continue
        try:
            if engine.entity(fact.object).kind == "unwritten":
                found[fact.object] = None
        except UnknownEntity:  # a dry run states nothing
            found[fact.object] = None
    return list(found)


# -- taking back ---------------------------------------------------------------------------------


def _retract(call: Call) -> Answer:
    asked = call.values
    if (asked["assertion"] is None) == (asked["facts"] is None):
        raise ArgumentError(
            "retract_facts needs `assertion` or `facts`, one of the two.",
            "An assertion's id comes from assert_facts or fact_provenance.",
        )
    done = call.engine.retract_facts(
        assertion=asked["assertion"],
        facts=asked["facts"] or (),
        reason=asked["reason"],
        agent=call.agent,
    )
    names = Names(call.engine)
    return fitted(lambda most: _retracted(names, done, most), _MOST)


def _retracted(names: Names, done: Retracted, most: int) -> Answer:
    withdrawn, still, gone = done.withdrawn[:most], done.still_holds[:most], done.no_longer_holds[:most]
    data = {
        "withdrawn": _json(names, withdrawn),
        "withdrawn_total": len(done.withdrawn),
        "still_holds": [
            {"fact": names.fact(one.fact, sources=1), "because": one_line(one.because)} for one in still
        ],
        "still_holds_total": len(done.still_holds),
        "no_longer_holds": _json(names, gone),
        "no_longer_holds_total": len(done.no_longer_holds),
        "revision": done.revision,
    }
    lines = [f"Withdrew {plural(len(done.withdrawn), 'fact')}. The record of it stays.", ""]
    lines += section("Withdrawn", _texts(names, withdrawn, len(done.withdrawn)))
    held = [f"- {names.fact_text(one.fact)}: {escaped(one.because)}" for one in still]
    lines += section("Holds nevertheless", held + _more(len(still), len(done.still_holds)))
    lines += section("Holds no longer", _texts(names, gone, len(done.no_longer_holds)))
    return Answer(joined(lines), data, max(len(withdrawn), len(still), len(gone)), wrote=True)


def _json(names: Names, facts: Sequence[Fact]) -> list[shapes.Json]:
    return [names.fact(fact, sources=0) for fact in facts]


def _texts(names: Names, facts: Sequence[Fact], total: int) -> list[str]:
    return [f"- {names.fact_text(fact)}" for fact in facts] + _more(len(facts), total)


def _more(shown: int, total: int) -> list[str]:
    return [f"- and {total - shown:,} more"] if total > shown else []


# -- the tools -----------------------------------------------------------------------------------

_FACTS, _SOURCE, _REASON = taken("assert", "facts", "source", "reason")
_REASON = replace(_REASON, doc="why, in a few words, for the record")

ASSERT = Tool(
    "assert_facts",
    "Assert facts",
    "States facts in the vault's graph, all of them or none, with where they come from and why. Nothing "
    "else is changed: no note is edited and no other fact is retired. Subject and object are ids; a text, "
    'number or date as object needs "object_kind": "literal", a datatype or a language. Look with search or '
    "entity_dossier for the ids and relations already in use before you invent new ones. With an "
    "`idempotency_key` the same call may be sent again safely after a lost answer; with `dry_run` nothing is "
    "stored and you see what would be. A new agent is read-only until a person allows it to write.",
    {
        "facts": [
            {"subject": "people/ada", "predicate": "knows", "object": "people/esther"},
            {
                "subject": "people/ada",
                "predicate": "job_title",
                "object": "Lead engineer",
                "object_kind": "literal",
            },
        ],
        "source": "the meeting of 2 March",
        "reason": "they were introduced there",
    },
    (
        replace(_FACTS, doc="the facts to state", required=True),
        replace(_SOURCE, doc="where you have them from: a document, a person, a URL, a conversation"),
        _REASON,
        Argument(
            "supersedes",
            "ids of assertions that these facts replace: they are withdrawn in the same step",
            "texts",
            (),
        ),
        Argument(
            "idempotency_key",
            "a name of your choice for this call: sent again with it, the call states nothing twice",
        ),
        Argument("dry_run", "only say what would be stated; store nothing", "flag", False),
    ),
    shapes.schema(
        {
            "assertion": shapes.textual("the assertion's id; absent in a dry run"),
            "revision": TEXT,
            "facts": {**COUNT, "description": "facts stated"},
            "inferred": {**COUNT, "description": "facts newly inferred"},
            "dry_run": {"type": "boolean"},
            "repeated": {
                "type": "boolean",
                "description": "the key was used before; nothing was stored anew",
            },
            "no_note": {**listed(TEXT), "description": "objects without a note"},
        },
        "assertion",
        "no_note",
    ),
    _assert,
    reads=False,
    idempotent=False,
    may_only_try="dry_run",
)

RETRACT = Tool(
    "retract_facts",
    "Retract facts",
    "Takes back what agents stated: a whole assertion by its id, or single facts. What rested on it is no "
    "longer inferred; what another source still states goes on holding, and the answer says why. The record "
    "keeps that it was stated and withdrawn. What a note states cannot be retracted here: the error names "
    "the file and line where a person changes it.",
    {
        "facts": [{"subject": "people/ada", "predicate": "knows", "object": "people/esther"}],
        "reason": "it was another Esther",
    },
    (
        Argument("assertion", "an assertion's id, from assert_facts or fact_provenance"),
        replace(_FACTS, doc="single facts to withdraw, instead of an assertion"),
        _REASON,
    ),
    shapes.schema(
        {
            "withdrawn": listed(FACT),
            "withdrawn_total": COUNT,
            "still_holds": listed(shapes.schema({"fact": FACT, "because": TEXT})),
            "still_holds_total": COUNT,
            "no_longer_holds": {**listed(FACT), "description": "what is gone, inferred facts included"},
            "no_longer_holds_total": COUNT,
            "revision": TEXT,
        }
    ),
    _retract,
    reads=False,
    destructive=True,
)

"""`entity_dossier`: all that is known of an entity."""

from __future__ import annotations

from dataclasses import replace

from synapse.agents.tools import shapes
from synapse.agents.tools.quoting import escaped, named
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, CURSOR, ENTITY, FACT, Names, joined, listed, section
from synapse.agents.tools.tool import Answer, Call, Tool, fitted, plural
from synapse.engine.questions.results import Dossier, Entity, Fact, Value

_LISTS = ("types", "attributes", "outgoing", "incoming")


def _run(call: Call) -> Answer:
    asked = call.values

    def page(limit: int) -> Answer:
        return _answer(
            Names(call.engine), call.engine.dossier(asked["entity"], limit, asked["cursor"]), asked["cursor"]
        )

    return fitted(page, asked["limit"])


def _answer(names: Names, dossier: Dossier, cursor: str | None) -> Answer:
    lists = {name: getattr(dossier, name) for name in _LISTS}
    shown = sum(map(len, lists.values()))
    own = (dossier.entity.iri,)
    data = {
        "entity": names.entity_json(dossier.entity),
        **{name: [names.fact(fact, labelled=own) for fact in facts] for name, facts in lists.items()},
        "returned": shown,
        "total": dossier.total,
        "cursor": dossier.cursor,
    }
    if dossier.note:
        data["note"] = dossier.note
    lines = [f"# {names.entity_text(dossier.entity)}", "", _head(names, dossier), ""]
    if dossier.note:
        lines += [escaped(dossier.note), ""]
    lines += section("Types", (_line(names, fact, fact.object, "") for fact in lists["types"]))
    lines += section("Attributes", (_line(names, f, f.object, "") for f in lists["attributes"]))
    lines += section("Relations to others", (_line(names, f, f.object, "→ ") for f in lists["outgoing"]))
    lines += section("Relations from others", (_line(names, f, f.subject, "← ") for f in lists["incoming"]))
    if dossier.cursor is not None or cursor is not None:
        rest = "Call again with this `cursor` for the rest" if dossier.cursor else "This is the last page"
        token = f": {dossier.cursor}" if dossier.cursor else "."
        lines += [f"{plural(shown, 'fact')} of {dossier.total:,} on this page. {rest}{token}"]
    return Answer(joined(lines), data, shown)


def _head(names: Names, dossier: Dossier) -> str:
    entity = dossier.entity
    where = {"unwritten": "linked to, but there is no note of it yet"}.get(entity.kind, entity.kind)
    place = f" in {named(entity.path)}" if entity.path else ""
    return f"{where[:1].upper()}{where[1:]}{place}; {plural(dossier.total, 'fact')} in all."


def _line(names: Names, fact: Fact, other: Entity | Value, arrow: str) -> str:
    told = names.entity_text(other) if isinstance(other, Entity) else names.value_text(other)
    return (
        f"- {arrow}{named(names.predicate(fact.predicate))}{':' if not arrow else ''} {told}"
        f" — {shapes.sources_text(fact)}"
    )


_ENTITY_ARGUMENT, _LIMIT, _CURSOR = taken("dossier", "entity", "limit", "cursor")

TOOL = Tool(
    "entity_dossier",
    "Entity dossier",
    "Everything the vault knows of one thing (a person, project, module, note, topic): its types, its "
    "attributes, and its relations in both directions, each with the file and line, ontology or agent "
    "that states it; inferred facts are marked. Use it first when a question is about a named thing. "
    "Where you do not know the id, use search. Long answers come in pages: call again with `cursor`.",
    {"entity": "people/ada"},
    (_ENTITY_ARGUMENT, replace(_LIMIT, default=200), _CURSOR),
    shapes.schema(
        {
            "entity": ENTITY,
            **{name: listed(FACT) for name in _LISTS},
            "returned": COUNT,
            "total": {**COUNT, "description": "facts on all pages"},
            "cursor": CURSOR,
            "note": shapes.textual("how the id was understood"),
        },
        "note",
    ),
    _run,
)

"""`dependency_impact`: all that depends on an entity."""

from __future__ import annotations

from dataclasses import replace

from synapse.agents.tools import shapes
from synapse.agents.tools.quoting import escaped, named
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, CURSOR, ENTITY, FACT, TEXT, Names, joined, listed
from synapse.agents.tools.tool import Answer, Call, Tool, fitted, plural
from synapse.engine.questions.results import Entity, Fact, Impact, Impacted

_STEPS = 6
"""Steps of a path shown. The rest of a longer one is the path of the entity at which it is cut."""


def _run(call: Call) -> Answer:
    asked, names = call.values, Names(call.engine)

    def page(limit: int) -> Answer:
        found = call.engine.impact(asked["entity"], asked["depth"], limit, asked["cursor"])
        return _answer(names, found, asked["depth"])

    return fitted(page, asked["limit"])


def _answer(names: Names, found: Impact, depth: int | None) -> Answer:
    data = {
        "entity": names.entity_json(found.entity),
        "items": [_item(names, item) for item in found.items],
        "returned": len(found.items),
        "total": found.total,
        "cursor": found.cursor,
    }
    if found.note:
        data["note"] = found.note
    within = "" if depth is None else f" within {plural(depth, 'step')}"
    what = f"{plural(found.total, 'entity depends', 'entities depend')} on it{within}"
    lines = [f"# What depends on {names.entity_text(found.entity)}", ""]
    lines += [
        f"{what}, directly or through others." if found.total else f"Nothing depends on it{within}.",
        "",
    ]
    if found.note:
        lines += [escaped(found.note), ""]
    lines += [_line(names, item) for item in found.items]
    if found.cursor is not None:
        lines += [
            "",
            f"{plural(len(found.items), 'entity', 'entities')} of {found.total:,} on this page, the nearest"
            f" first. Call again with this `cursor` for the rest: {found.cursor}",
        ]
    return Answer(joined(lines), data, len(found.items))


def _item(names: Names, item: Impacted) -> shapes.Json:
    found: shapes.Json = {
        "id": names.entity(item.entity),
        **names.label(item.entity),
        "depth": item.depth,
        "path": [names.fact(step, sources=1) for step in item.path[:_STEPS]],
    }
    omitted = len(item.path) - _STEPS
    return {**found, "path_omitted": omitted} if omitted > 0 else found


def _line(names: Names, item: Impacted) -> str:
    """`- checkout: 1 step. checkout —depends_on→ payments (modules/checkout.md:7)`"""
    told = " → ".join(_step(names, step, at) for step, at in _walked(item)[:_STEPS])
    omitted = len(item.path) - _STEPS
    more = f" … and {plural(omitted, 'step')} more" if omitted > 0 else ""
    return f"- {names.entity_text(item.entity)}: {plural(item.depth, 'step')}, {told}{more}"


def _walked(item: Impacted) -> list[tuple[Fact, str]]:
    """Each step with the IRI that it leads to."""
    found, at = [], item.entity.iri
    for step in item.path:
        other = step.object if step.subject.iri == at else step.subject
        at = other.iri if isinstance(other, Entity) else at
        found.append((step, at))
    return found


def _step(names: Names, step: Fact, to: str) -> str:
    """One step; a relation that is stated from the other side is written as it is stated."""
    predicate, sources = named(names.predicate(step.predicate)), shapes.sources_text(step, 1)
    if isinstance(step.object, Entity) and step.object.iri == to:
        return f"{predicate} {named(names.entity(step.object))} ({sources})"
    return f"{named(names.entity(step.subject))} {predicate} it ({sources})"


_ENTITY_ARGUMENT, _DEPTH, _LIMIT, _CURSOR = taken("impact", "entity", "depth", "limit", "cursor")

TOOL = Tool(
    "dependency_impact",
    "Dependency impact",
    "Everything that depends on an entity, directly or through others: what may break or must be looked at "
    "when it changes. The set is complete, the nearest first, each with its distance and one shortest path "
    "of facts from it to the entity, with their sources. Follows depends_on, the relations that "
    "vocabularies declare to be kinds of it, and their inverses.",
    {"entity": "modules/payments"},
    (_ENTITY_ARGUMENT, replace(_DEPTH, doc="how many steps to walk; leave it out for all"), replace(
        _LIMIT, default=100), _CURSOR),
    shapes.schema(
        {
            "entity": ENTITY,
            "items": listed(
                shapes.schema(
                    {
                        "id": TEXT,
                        "label": TEXT,
                        "depth": {**COUNT, "description": "steps to the entity"},
                        "path": {**listed(FACT), "description": "from this item towards the entity"},
                        "path_omitted": {
                            **COUNT,
                            "description": "further steps: the path of the item at which it is cut",
                        },
                    },
                    "label", "path_omitted",
                )
            ),
            "returned": COUNT,
            "total": {**COUNT, "description": "entities on all pages"},
            "cursor": CURSOR,
            "note": shapes.textual("how the id was understood"),
        },
        "note",
    ),
    _run,
)  # fmt: skip

"""`fact_provenance`: who states a fact, or from what it follows."""

from __future__ import annotations

from typing import Any

from synapse.agents.tools import shapes
from synapse.agents.tools.quoting import quoted
from synapse.agents.tools.rows import taken
from synapse.agents.tools.shapes import COUNT, FACT, SOURCE, TEXT, Names, joined, listed, section
from synapse.agents.tools.tool import Answer, Call, Tool, fitted, one_line, plural
from synapse.engine.questions.results import Activity, Proof, Provenance, Source

_MOST = 100
"""Sources, activities and steps of a proof, each, at most."""


def _run(call: Call) -> Answer:
    asked, names = call.values, Names(call.engine)
    found = call.engine.provenance(asked["subject"], asked["predicate"], asked["object"])
    return fitted(lambda most: _answer(names, found, most), _MOST)


def _answer(names: Names, found: Provenance, most: int) -> Answer:
    fact, sources, activities = found.fact, found.fact.sources[:most], found.activities[:most]
    data: dict[str, Any] = {
        "fact": names.fact(fact, sources=0),
        "sources": [shapes.source_json(source, snippets=True) for source in sources],
        "sources_total": len(fact.sources),
        "activities": [_activity(activity) for activity in activities],
        "activities_total": len(found.activities),
    }
    lines = [f"# {names.fact_text(fact)}", ""]
    if fact.inferred:
        lines += ["Nobody states this; it follows from what is stated.", ""]
    elif len(sources) < len(fact.sources):
        lines += [f"The first {len(sources):,} of {plural(len(fact.sources), 'source')}.", ""]
    lines += section("Stated by", (_source_line(source) for source in sources))
    lines += section("Made by", (_activity_line(activity) for activity in activities))
    steps: list[tuple[int, Proof, list[int]]] = []
    if found.proof is not None:
        every = _steps(found.proof)
        steps = every[-most:]  # the conclusion is the last
        data["proof"] = {
            "steps": [_step(names, *step) for step in steps],
            "total": len(every),
        }
        lines += section("Proof", (_step_line(names, *step) for step in steps))
        if len(steps) < len(every):
            lines += [
                f"{plural(len(every) - len(steps), 'earlier step')} of {len(every):,} left out; ask for the"
                " provenance of a premise to see its own."
            ]
    return Answer(joined(lines), data, max(len(sources), len(activities), len(steps)))


def _source_line(source: Source) -> str:
    line = f"- {shapes.source_text(source)}"
    if source.snippet:
        line += f": {quoted(source.snippet, 300)}"
    if source.reason:
        line += f", because {quoted(source.reason, 300)}"
    if source.stated_source:
        line += f", from {quoted(source.stated_source, 300)}"
    return f"{line}, known since {source.since}" if source.since else line


def _activity(activity: Activity) -> dict[str, Any]:
    told = {
        "agent": activity.agent and one_line(activity.agent),
        "started": activity.started,
        "ended": activity.ended,
        "reason": activity.reason and one_line(activity.reason, 300),
    }
    return {key: value for key, value in told.items() if value}


def _activity_line(activity: Activity) -> str:
    who = quoted(activity.agent) if activity.agent else "somebody"
    when = f", {activity.ended or activity.started}" if activity.ended or activity.started else ""
    return f"- {who}{when}" + (f", because {quoted(activity.reason, 300)}" if activity.reason else "")


def _steps(proof: Proof) -> list[tuple[int, Proof, list[int]]]:
    """The steps, numbered from 1, each after its premises; each with the numbers of its premises."""
    numbers: dict[int, int] = {}
    found: list[tuple[int, Proof, list[int]]] = []
    waiting = [proof]
    while waiting:
        step = waiting[-1]
        missing = [premise for premise in step.premises if id(premise) not in numbers]
        if id(step) in numbers or not missing:
            waiting.pop()
            if id(step) not in numbers:
                numbers[id(step)] = len(found) + 1
                found.append((len(found) + 1, step, [numbers[id(premise)] for premise in step.premises]))
        else:
            waiting += reversed(missing)
    return found


def _step(names: Names, number: int, step: Proof, premises: list[int]) -> dict[str, Any]:
    found: dict[str, Any] = {"step": number, "fact": names.fact(step.fact), "premises": premises}
    return found if step.rule is None else {**found, "rule": step.rule}


def _step_line(names: Names, number: int, step: Proof, premises: list[int]) -> str:
    told = f"{number}. {names.fact_text(step.fact)}"
    if step.rule is None:
        return f"{told} — {shapes.sources_text(step.fact)}"
    return f"{told} — by rule {step.rule} from {' and '.join(map(str, premises)) or 'nothing'}"


TOOL = Tool(
    "fact_provenance",
    "Fact provenance",
    "Where one fact comes from: the files with line and text, the ontologies, the agents with their reasons "
    "that state it, when and by whom it was made; for an inferred fact its proof, step by step down to what "
    "is stated. Use it before you rely on a fact, and to cite it. Give the three parts as another tool "
    "returned them. To take an agent's fact back, give its `assertion` to retract_facts.",
    {"subject": "modules/checkout", "predicate": "depends_on", "object": "modules/payments"},
    taken("provenance"),
    shapes.schema(
        {
            "fact": FACT,
            "sources": listed(SOURCE),
            "sources_total": COUNT,
            "activities": listed(
                shapes.schema(
                    {"agent": TEXT, "started": TEXT, "ended": TEXT, "reason": TEXT},
                    "agent", "started", "ended", "reason",
                )
            ),
            "activities_total": COUNT,
            "proof": shapes.schema(
                {
                    "steps": listed(
                        shapes.schema(
                            {
                                "step": COUNT,
                                "fact": FACT,
                                "rule": shapes.textual("absent for a stated fact"),
                                "premises": {**listed(COUNT), "description": "numbers of steps"},
                            },
                            "rule",
                        )
                    ),
                    "total": {**COUNT, "description": "steps in all; the first may be left out"},
                }
            ),
        },
        "proof",
    ),
    _run,
    long=True,
)  # fmt: skip

"""What the rows of the table do that is more than one call to the engine.

`values` are a row's arguments by name, each with its default filled in. What only a run needs is
imported by the run: see operations.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from synapse.engine.errors import InvalidFact, NotFound, UsageError

if TYPE_CHECKING:
    from synapse.engine.engine import BacklinksMode, Engine
    from synapse.engine.graph.store import View
    from synapse.engine.record import WrittenFact

Values = Mapping[str, Any]


def query(engine: Engine, values: Values) -> object:
    """A SPARQL query over all, the stated or the inferred facts."""
    view: View = "stated" if values["stated"] else "inferred" if values["inferred"] else "all"
    if values["stated"] and values["inferred"]:
        raise UsageError("--stated and --inferred exclude each other.", "Leave both out for everything.")
    return engine.query(
        values["sparql"],
        view,
        limit=values["limit"],
        timeout=values["timeout"],
        cancel=values.get("cancel"),
    )


def state(engine: Engine, values: Values) -> object:
    """Facts from the arguments or, where there are several, from `facts`."""
    from synapse.engine.record import WrittenFact

    facts = values["facts"]
    if facts is None:
        parts = [values[name] for name in ("subject", "predicate", "object")]
        if None in parts:
            raise UsageError("A fact has a subject, a predicate and an object.", "Give all three, or --file.")
        facts = [
            WrittenFact(
                parts[0],
                parts[1],
                parts[2],
                object_kind="literal"
                if values["literal"] or values["datatype"] or values["lang"]
                else "entity",
                datatype=values["datatype"],
                language=values["lang"],
            )
        ]
    elif values["subject"] is not None:
        raise UsageError("Facts come from the arguments or from --file, not from both.", "Leave one out.")
    return engine.assert_facts(
        facts,
        source=values["source"],
        reason=values["reason"],
        supersedes=values["supersedes"],
        idempotency_key=values["idempotency_key"],
        dry_run=values["dry_run"],
    )


def given_facts(read: object) -> list[WrittenFact]:
    """Facts from JSON: a list of objects with subject, predicate, object, and datatype, language or
    object_kind where needed. Raises InvalidFact that names the item."""
    from synapse.engine.record import parse_fact

    if not isinstance(read, list) or not read:
        raise InvalidFact(
            "Facts are a list of objects.", 'Write [{"subject": …, "predicate": …, "object": …}].'
        )
    found = []
    for number, item in enumerate(read, 1):
        try:
            found.append(parse_fact(item))
        except InvalidFact as error:
            raise InvalidFact(f"Fact {number}: {error.message}", error.hint) from error
    return found


def diagnostics(engine: Engine, values: Values) -> object:
    """The problems of all files or of one, which must be there."""
    path = values["path"]
    found = engine.diagnostics(path)
    if path is not None and not found and path not in {note.path for note in engine.notes()}:
        raise NotFound(f"There is no note {path}.", "Write its path from the vault's root, with .md.")
    return found


def check(engine: Engine, values: Values) -> object:
    """The invariants, of a vault that was read at least once."""
    if engine.is_new:  # nothing was read yet: all would be missing, and nothing amiss
        engine.index(progress=values.get("progress"))
    return engine.check(repair=values["repair"])


def retract(engine: Engine, values: Values) -> object:
    """An assertion by its id, or one fact."""
    from synapse.engine.record import WrittenFact

    subject, predicate, object = (values[name] for name in ("subject", "predicate", "object"))
    if predicate is None and object is None:
        return engine.retract_facts(assertion=subject, reason=values["reason"])
    if predicate is None or object is None:
        raise UsageError(
            "A fact has a subject, a predicate and an object.", "Give all three, or an assertion."
        )
    fact = WrittenFact(subject, predicate, object)
    return engine.retract_facts(facts=[fact], reason=values["reason"])


def scenarios(engine: Engine, values: Values) -> object:
    """List, add or remove; the list as it is then."""
    if values["action"] == "list":
        return engine.scenarios()
    if values["name"] is None:
        raise UsageError("Which scenario?", "See `synapse scenarios list VAULT`.")
    return (
        engine.add_scenario(values["name"])
        if values["action"] == "add"
        else engine.remove_scenario(values["name"])
    )


def backlinks(engine: Engine, values: Values) -> object:
    """Preview unless something else is asked for; the policy is kept first."""
    modes: tuple[BacklinksMode, ...] = ("preview", "write", "remove")
    chosen = [mode for mode in modes if values[mode]]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other.", "Choose one.")
    if values["policy"] is not None:
        engine.set_backlinks_policy(values["policy"])
    return engine.backlinks(chosen[0] if chosen else "preview")

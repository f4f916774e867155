"""One table of what Synapse can be asked to do.

Each row names an operation, its arguments and what it returns. The command line and the owner's `ops`
protocol are made from it. It is read before it is known whether a vault is opened here, so what only
a run needs is imported by the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any
from typing import Literal as OneOf

from synapse.engine.errors import InvalidFact, NotFound, UsageError
from synapse.engine.graph.results import QueryResult
from synapse.engine.questions import results as r

if TYPE_CHECKING:
    from synapse.engine.engine import BacklinksMode, Engine
    from synapse.engine.graph.store import View
    from synapse.engine.record import WrittenFact

ArgumentType = OneOf["text", "integer", "number", "flag", "texts", "facts"]
Values = Mapping[str, Any]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument.

    positional: given without a name on the command line. required: must be given. local: concerns
    files of whoever asks, so an owner never gets it. type `facts`: a list of facts as objects; the
    command line reads them from a file.
    """

    name: str
    doc: str
    type: ArgumentType = "text"
    default: object = None
    positional: bool = False
    required: bool = False
    choices: tuple[str, ...] = ()
    local: bool = False


@dataclass(frozen=True, slots=True)
class Operation:
    """name: as on the command line. example: arguments after the vault. writes: changes something.

    result: the type of what it returns: a class, `tuple[X, ...]` of one, or a union of some.
    """

    name: str
    doc: str
    example: str
    result: object
    run: Callable[[Engine, Values], object]
    arguments: Sequence[Argument] = ()
    writes: bool = False
    indexes: bool = False
    """Whether the vault is indexed first: the command line has no owner watching it, and with an
    owner the answer is the same."""


def _positional(name: str, doc: str, *, required: bool = True, choices: tuple[str, ...] = ()) -> Argument:
    return Argument(name, doc, positional=True, required=required, choices=choices)


_ENTITY = _positional("entity", "an id such as people/bob, or an IRI")
_FACT = (
    _positional("subject", "the subject's id"),
    _positional("predicate", "the relation: a word, prefix:name or IRI"),
    _positional("object", "an id, or the text of a literal"),
)
_CURSOR = Argument("cursor", "where the previous answer ended")
_REASON = Argument("reason", "why, for the record", required=True)


def _limit(default: int, what: str) -> Argument:
    return Argument("limit", f"most {what} to return", "integer", default)


def _query(engine: Engine, values: Values) -> object:
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


def _assert(engine: Engine, values: Values) -> object:
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


def _diagnostics(engine: Engine, values: Values) -> object:
    path = values["path"]
    found = engine.diagnostics(path)
    if path is not None and not found and path not in {note.path for note in engine.notes()}:
        raise NotFound(f"There is no note {path}.", "Write its path from the vault's root, with .md.")
    return found


def _check(engine: Engine, values: Values) -> object:
    if engine.is_new:  # nothing was read yet: all would be missing, and nothing amiss
        engine.index(progress=values.get("progress"))
    return engine.check(repair=values["repair"])


def _retract(engine: Engine, values: Values) -> object:
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


def _scenarios(engine: Engine, values: Values) -> object:
    if values["action"] == "list":
        return engine.scenarios()
    if values["name"] is None:
        raise UsageError("Which scenario?", "See `synapse scenarios list VAULT`.")
    return (
        engine.add_scenario(values["name"])
        if values["action"] == "add"
        else engine.remove_scenario(values["name"])
    )


def _backlinks(engine: Engine, values: Values) -> object:
    modes: tuple[BacklinksMode, ...] = ("preview", "write", "remove")
    chosen = [mode for mode in modes if values[mode]]
    if len(chosen) > 1:
        raise UsageError(f"--{chosen[0]} and --{chosen[1]} exclude each other.", "Choose one.")
    if values["policy"] is not None:
        engine.set_backlinks_policy(values["policy"])
    return engine.backlinks(chosen[0] if chosen else "preview")


OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "index",
        "Read what changed and bring the graph up to date.",
        "",
        r.IndexReport,
        lambda e, v: e.index(
            accept_deletions=v["accept_deletions"], dry_run=v["dry_run"], progress=v.get("progress")
        ),
        (
            Argument("dry_run", "only say what would be done", "flag", False),
            Argument("accept_deletions", "believe that most files are really gone", "flag", False),
        ),
        writes=True,
    ),
    Operation(
        "query",
        "Ask the graph in SPARQL: SELECT, ASK, CONSTRUCT or DESCRIBE.",
        "'SELECT ?who { ?who prop:depends_on <modules/payments> }'",
        QueryResult,
        _query,
        (
            _positional("sparql", "the query; relative IRIs are entity ids"),
            Argument("stated", "only what is stated", "flag", False),
            Argument("inferred", "only what was inferred", "flag", False),
            Argument("timeout", "seconds after which to stop", "number", 30.0),
            Argument("limit", "most rows to return", "integer"),
        ),
        indexes=True,
    ),
    Operation(
        "dossier",
        "All that is known of an entity, with sources.",
        "people/ada",
        r.Dossier,
        lambda e, v: e.dossier(v["entity"], v["limit"], v["cursor"]),
        (_ENTITY, _limit(500, "facts"), _CURSOR),
        indexes=True,
    ),
    Operation(
        "neighbourhood",
        "The entities around one, and how they are related.",
        "modules/payments --depth 2",
        r.Neighbourhood,
        lambda e, v: e.neighbourhood(
            v["entity"], v["depth"], v["direction"], v["predicates"], v["types"], v["limit"]
        ),
        (
            _ENTITY,
            Argument("depth", "how many relations away", "integer", 1),
            Argument(
                "direction", "which way to follow relations", default="both", choices=("both", "out", "in")
            ),
            Argument("predicates", "only these relations", "texts", ()),
            Argument("types", "only entities of these types", "texts", ()),
            _limit(200, "entities"),
        ),
        indexes=True,
    ),
    Operation(
        "impact",
        "Everything that depends on an entity, with depth and path.",
        "modules/payments",
        r.Impact,
        lambda e, v: e.impact(v["entity"], v["depth"], v["limit"], v["cursor"]),
        (_ENTITY, Argument("depth", "how many steps to walk", "integer"), _limit(1000, "entities"), _CURSOR),
        indexes=True,
    ),
    Operation(
        "provenance",
        "Where a fact comes from: file and line, ontology or agent.",
        "modules/checkout depends_on modules/payments",
        r.Provenance,
        lambda e, v: e.provenance(v["subject"], v["predicate"], v["object"]),
        _FACT,
        indexes=True,
    ),
    Operation(
        "explain",
        "Why a fact holds: the proof, down to what is stated.",
        "modules/checkout depends_on modules/payments",
        r.Proof,
        lambda e, v: e.explain(v["subject"], v["predicate"], v["object"]),
        _FACT,
        indexes=True,
    ),
    Operation(
        "search",
        "Find notes by their words.",
        "'payment provider'",
        r.SearchResult,
        lambda e, v: e.search(v["text"], v["limit"], v["cursor"], v["kinds"], v["type"], v["tag"]),
        (
            _positional("text", 'words to find; "…" is a phrase'),
            Argument("kinds", "note (where none is given), unwritten, attachment, tag, other", "texts", ()),
            Argument("type", "only what is of this class, also by inference"),
            Argument("tag", "only what has this tag"),
            _limit(50, "notes"),
            _CURSOR,
        ),
        indexes=True,
    ),
    Operation(
        "digest", "The state of the vault on one page.", "", str, lambda e, v: e.digest(), indexes=True
    ),
    Operation(
        "diagnostics",
        "What could not be read as it was meant, and how to mend it.",
        "rough-edges.md",
        tuple[r.NoteDiagnostic, ...],
        _diagnostics,
        (_positional("path", "only this file", required=False),),
        indexes=True,
    ),
    Operation(
        "assert",
        "State facts as an agent does: with a source and a reason.",
        "people/ada knows people/esther --source 'a meeting' --reason 'they met today'",
        r.Asserted,
        _assert,
        (
            *(Argument(a.name, a.doc, positional=True) for a in _FACT),
            Argument("file", "a JSON file with a list of facts", local=True),
            Argument("facts", "the facts, where there are several", "facts"),
            Argument("literal", "the object is a text, not an id", "flag", False),
            Argument("datatype", "the object's datatype: prefix:name or IRI"),
            Argument("lang", "the object's language tag"),
            Argument("source", "where the facts come from", required=True),
            _REASON,
            Argument("supersedes", "an assertion that this one replaces", "texts", ()),
            Argument("idempotency_key", "names the call: sent again, it states nothing new"),
            Argument("dry_run", "only say what would be stated and follow", "flag", False),
        ),
        writes=True,
        indexes=True,
    ),
    Operation(
        "retract",
        "Withdraw an assertion, or one fact that agents stated.",
        "people/ada knows people/esther --reason 'it was another Esther'",
        r.Retracted,
        _retract,
        (
            _positional("subject", "an assertion's id, or the fact's subject"),
            _positional("predicate", "the fact's relation", required=False),
            _positional("object", "the fact's object", required=False),
            _REASON,
        ),
        writes=True,
        indexes=True,
    ),
    Operation(
        "backlinks",
        "Preview, write or remove the generated sections of the notes.",
        "--write",
        r.BacklinksReport,
        _backlinks,
        (
            Argument("preview", "only say what would be written (the default)", "flag", False),
            Argument("write", "write the sections", "flag", False),
            Argument("remove", "take all sections out again", "flag", False),
            Argument("policy", "from now on: write, ask or off", choices=("write", "ask", "off")),
        ),
        writes=True,
        indexes=True,
    ),
    Operation(
        "check",
        "Prove that graph, catalogue, journal and files agree.",
        "",
        r.CheckReport,
        _check,
        (Argument("repair", "mend what is found", "flag", False),),
        writes=True,
    ),
    Operation(
        "rebuild",
        "Make graph and catalogue anew from vault and journal.",
        "",
        r.IndexReport,
        lambda e, v: e.rebuild(progress=v.get("progress")),
        writes=True,
    ),
    Operation(
        "scenarios",
        "The vocabularies: list, add or remove them.",
        "list",
        tuple[r.ScenarioState, ...],
        _scenarios,
        (
            _positional("action", "what to do", choices=("list", "add", "remove")),
            _positional("name", "the scenario", required=False),
        ),
        writes=True,
        indexes=True,
    ),
    Operation(
        "export",
        "Write the stated facts as RDF, to a file or to the terminal.",
        "graph.trig --format trig",
        bytes,
        lambda e, v: e.export(v["format"], with_meta=v["with_meta"], with_inferred=v["with_inferred"]),
        (
            Argument("out", "the file; - or nothing for the terminal", positional=True, local=True),
            Argument(
                "format",
                "the RDF format",
                default="nquads",
                choices=("nquads", "trig", "turtle", "ntriples", "jsonld", "rdfxml"),
            ),
            Argument("with_meta", "with the provenance", "flag", False),
            Argument("with_inferred", "with what was inferred", "flag", False),
        ),
        indexes=True,
    ),
    Operation("status", "Revision and numbers.", "", r.Status, lambda e, v: e.status(), indexes=True),
)
"""In the order in which the help lists them."""


def operation(name: str) -> Operation:
    """The operation of that name. Raises UsageError."""
    for found in OPERATIONS:
        if found.name == name:
            return found
    near = get_close_matches(name, [each.name for each in OPERATIONS], 1)
    guess = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(f"There is no command {name!r}.{guess}", "See `synapse --help`.")


def carry_out(
    engine: Engine,
    operation: Operation,
    values: Values,
    progress: Progress | None = None,
    cancel: threading.Event | None = None,
) -> object:
    """Do what a row says and return what its `result` names; first index, where the row says so.

    values: each argument of the row that is not local, the defaults included. progress: told files
    done and files in all. cancel: ends a query once it is set. Raises what the engine raises.
    """
    if operation.indexes:
        engine.index(progress=progress)
    return operation.run(engine, {**values, "progress": progress, "cancel": cancel})

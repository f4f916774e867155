"""One table of what Synapse can be asked to do.

Each row names an operation, its arguments and what it returns. The command line and the owner's `ops`
protocol are made from it. It is read before it is known whether a vault is opened here, so what only
a run needs is imported by the run.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING
from typing import Literal as OneOf

from synapse.engine import operating
from synapse.engine.errors import UsageError
from synapse.engine.graph.results import QueryResult
from synapse.engine.operating import Values
from synapse.engine.questions import results as r

if TYPE_CHECKING:
    from synapse.engine.engine import Engine

ArgumentType = OneOf["text", "integer", "number", "flag", "texts", "facts"]
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
        operating.query,
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
        operating.diagnostics,
        (_positional("path", "only this file", required=False),),
        indexes=True,
    ),
    Operation(
        "assert",
        "State facts as an agent does: with a source and a reason.",
        "people/ada knows people/esther --source 'a meeting' --reason 'they met today'",
        r.Asserted,
        operating.state,
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
        operating.retract,
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
        operating.backlinks,
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
        operating.check,
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
        operating.scenarios,
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

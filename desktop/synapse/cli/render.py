"""Answers as text for a terminal 80 wide, and as the one JSON document of `--json`."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Sequence

from synapse.engine import Engine
from synapse.engine.errors import UsageError
from synapse.engine.graph.formats import serialize_graph, serialize_results
from synapse.engine.graph.results import AskResult, GraphResult, SelectResult
from synapse.engine.questions import results as r

_WIDEST = 60
"""Characters of a table's cell."""
_COLUMN = 44
"""Characters of a column that others follow."""


class Renderer:
    """Prints the results of one engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def json(self, result: object, format: str | None = None) -> str:
        """One JSON document; SPARQL 1.1 JSON results for a query, N-Triples for its graphs."""
        if isinstance(result, (SelectResult, AskResult)):
            return serialize_results(result, "json").decode("utf-8").rstrip("\n")
        if isinstance(result, GraphResult):
            return serialize_graph(result, "ntriples").decode("utf-8").rstrip("\n")
        return json.dumps(r.as_json(result), ensure_ascii=False, indent=2)

    def text(self, result: object, format: str | None = None) -> str:
        """Plain text, ending in a newline."""
        if isinstance(result, (SelectResult, AskResult, GraphResult)):
            return self._query(result, format)
        if isinstance(result, str):
            return result.rstrip("\n") + "\n"
        if isinstance(result, tuple):
            return _block(self._rows(result))
        for kind, render in _RENDERERS.items():
            if isinstance(result, kind):
                return _block(render(result))
        raise TypeError(f"no text for a {type(result).__name__}")

    # -- queries -------------------------------------------------------------------------------

    def _query(self, result: SelectResult | AskResult | GraphResult, format: str | None) -> str:
        if isinstance(result, GraphResult):
            if format in ("csv", "tsv", "xml", "json"):
                raise UsageError(f"A graph cannot be printed as {format}.", "Use turtle or ntriples.")
            graph_format = "ntriples" if format == "ntriples" else "turtle"
            return serialize_graph(result, graph_format).decode("utf-8")
        if format in ("turtle", "ntriples"):
            raise UsageError(f"Rows cannot be printed as {format}.", "Use table, json, csv, tsv or xml.")
        if format in ("csv", "tsv", "xml", "json"):
            return serialize_results(result, format).decode("utf-8")
        if isinstance(result, AskResult):
            return "yes\n" if result.value else "no\n"
        rows = [
            ["" if cell is None else _short(cell) for cell in self._engine.describe(row)]
            for row in result.rows
        ]
        lines = _table([f"?{name}" for name in result.variables], rows)
        count = f"{len(rows):,} row{'' if len(rows) == 1 else 's'}"
        lines += ["", f"at least {count}; there are more" if result.truncated else count]
        return _block(lines)

    def _rows(self, items: Sequence[object]) -> list[str]:
        if not items:
            return ["Nothing."]
        first = items[0]
        if isinstance(first, r.NoteDiagnostic):
            return [_diagnostic(item) for item in items if isinstance(item, r.NoteDiagnostic)]
        if isinstance(first, r.ScenarioState):
            return _table(
                ["scenario", "version", "state", "triples", ""],
                [
                    [item.name, item.version, item.state, f"{item.triples:,}", item.description]
                    for item in items
                    if isinstance(item, r.ScenarioState)
                ],
            )
        raise TypeError(f"no text for a list of {type(first).__name__}")


def _block(lines: Iterable[str]) -> str:
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _short(cell: r.Entity | r.Value) -> str:
    return cell.text if isinstance(cell, r.Value) else cell.id if cell.kind != "other" else cell.label


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


def _cell(text: str, widest: int = _WIDEST) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= widest else flat[: widest - 1] + "…"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    cells = [list(header), *([_cell(text) for text in row] for row in rows)]
    widths = [max(_width(row[column]) for row in cells) for column in range(len(header))]

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            text + " " * (width - _width(text)) for text, width in zip(row, widths, strict=True)
        ).rstrip()

    return [line(cells[0]), line(["-" * width for width in widths]), *map(line, cells[1:])]


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _named(entity: r.Entity) -> str:
    """Label and id, the id alone where it says the same."""
    if entity.kind in ("note", "unwritten", "attachment") and entity.label != entity.id:
        return f"{entity.label} ({entity.id})"
    return entity.label


def _place(source: r.Source) -> str:
    if source.path is not None:
        return source.path if source.line is None else f"{source.path}:{source.line}"
    if source.kind == "agent":
        return f"{source.label}: {source.reason}" if source.reason else source.label
    return source.label


def _mark(fact: r.Fact) -> str:
    return "inferred" if fact.inferred else ", ".join(map(_place, fact.sources))


def _diagnostic(d: r.NoteDiagnostic) -> str:
    place = f"{d.path}:{d.line}:{d.column}" if d.line is not None else d.path
    return f"{place}: {d.severity}: {d.message} {d.hint}".rstrip()


# -- one function a result -----------------------------------------------------------------------


def _index(report: r.IndexReport) -> list[str]:
    parts = [
        f"{len(paths):,} {what}"
        for paths, what in (
            (report.added, "added"),
            (report.changed, "changed"),
            (report.restated, "restated"),
            (report.removed, "removed"),
        )
        if paths
    ]
    lines = [
        f"{_number(report.notes, 'note')}: {', '.join(parts) if parts else 'all unchanged'}.",
        f"{_number(report.facts, 'fact')}, {_number(report.inferred, 'inferred fact')},"
        f" revision {report.revision}, {report.seconds:.2f} s.",
    ]
    if report.diagnostics:
        lines.append(f"{_number(report.diagnostics, 'diagnostic')}: see `synapse diagnostics`.")
    return lines


def _dossier(found: r.Dossier) -> list[str]:
    lines = [found.note, ""] if found.note else []
    lines.append(_named(found.entity))
    if found.types:
        lines.append("  is a " + ", ".join(dict.fromkeys(fact.object.label for fact in found.types)))
    if found.attributes:
        lines += ["", *_facts(found.attributes, lambda f: (f.predicate.label, f.object.label))]
    if found.outgoing:
        lines += ["", "Outgoing", *_facts(found.outgoing, lambda f: (f.predicate.label, _object(f)))]
    if found.incoming:
        lines += ["", "Incoming", *_facts(found.incoming, lambda f: (_named(f.subject), f.predicate.label))]
    shown = sum(map(len, (found.types, found.attributes, found.outgoing, found.incoming)))
    return lines + _more(shown, found.total, "fact", found.cursor)


def _facts(facts: Sequence[r.Fact], columns: Callable[[r.Fact], tuple[str, str]]) -> list[str]:
    rows = [[*(_cell(text, _COLUMN) for text in columns(fact)), _mark(fact)] for fact in facts]
    first, second = (max(_width(row[column]) for row in rows) for column in (0, 1))
    return [f"  {_padded(row[0], first)}  {_padded(row[1], second)}  {row[2]}" for row in rows]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - _width(text))


def _object(fact: r.Fact) -> str:
    return _named(fact.object) if isinstance(fact.object, r.Entity) else fact.object.label


def _more(shown: int, total: int, noun: str, cursor: str | None) -> list[str]:
    if cursor is None:
        return ["", _number(total, noun)]
    return ["", f"{shown:,} of {_number(total, noun)}; go on with --cursor {cursor}"]


def _neighbourhood(found: r.Neighbourhood) -> list[str]:
    lines = [_named(found.centre)]
    lines += [
        f"  {fact.subject.label} --{fact.predicate.label}--> {fact.object.label}"
        + ("  (inferred)" if fact.inferred else "")
        for fact in found.edges
    ]
    cut = (
        f"; {_number(found.cut, 'entity').replace('entitys', 'entities')} left out, see --limit"
        if found.cut
        else ""
    )
    return [
        *lines,
        "",
        f"{len(found.nodes):,} of {found.total:,} entities, {_number(len(found.edges), 'relation')}{cut}",
    ]


def _impact(found: r.Impact) -> list[str]:
    lines = [found.note, ""] if found.note else []
    if not found.items:
        return [*lines, f"Nothing depends on {_named(found.entity)}."]
    lines += [f"What depends on {_named(found.entity)}:", ""]
    for item in found.items:
        path = " → ".join([item.entity.id, *(_further(fact, item) for fact in item.path)])
        lines.append(f"  {item.depth}  {path}")
    return (
        lines
        + _more(len(found.items), found.total, "entity", found.cursor)[:1]
        + [
            f"{found.total:,} in all"
            if found.cursor is None
            else f"{len(found.items):,} of {found.total:,}; go on with --cursor {found.cursor}"
        ]
    )


def _further(fact: r.Fact, item: r.Impacted) -> str:
    """The end of a path's step that is nearer to what was asked for."""
    if not isinstance(fact.object, r.Entity):
        return fact.object.label
    index = item.path.index(fact)
    before = item.entity.id if index == 0 else _further(item.path[index - 1], item)
    return fact.object.id if fact.subject.id == before else fact.subject.id


def _provenance(found: r.Provenance) -> list[str]:
    lines = [found.fact.sentence, ""]
    for source in found.fact.sources:
        lines.append(f"  stated in {_place(source)}")
        if source.snippet:
            lines.append(f"      {source.snippet}")
        for name, value in (("source", source.stated_source), ("known since", source.since)):
            if value:
                lines.append(f"      {name}: {value}")
    if found.proof is not None:
        lines += ["inferred:", "", *_proof(found.proof)]
    return lines


def _proof(proof: r.Proof) -> list[str]:
    """The proof as an indented tree; what was shown before is not shown again."""
    lines: list[str] = []
    seen: set[int] = set()
    waiting = [(proof, 0)]
    while waiting:
        step, level = waiting.pop()
        indent = "  " * level
        sources = ", ".join(map(_place, step.fact.sources))
        stated = f"  [{sources}]" if sources else ""
        lines.append(f"{indent}{step.sentence}{stated}" + (f"  ({step.rule})" if step.rule else ""))
        if id(step) in seen:
            if step.premises:
                lines[-1] += "  (as above)"
            continue
        seen.add(id(step))
        waiting += [(premise, level + 1) for premise in reversed(step.premises)]
    return lines


def _explain(proof: r.Proof) -> list[str]:
    return [proof.fact.sentence, "", *_proof(proof)]


def _search(found: r.SearchResult) -> list[str]:
    if not found.hits:
        return [f"No note holds {found.text!r}.", "Try fewer words, or the beginning of one."]
    lines = []
    for hit in found.hits:
        lines += [_named(hit.entity), "    " + hit.snippet.replace("\ue000", "").replace("\ue001", "")]
    return lines + _more(len(found.hits), found.total, "note", found.cursor)


def _asserted(found: r.Asserted) -> list[str]:
    return [
        f"Stated {_number(found.facts, 'fact')} as {found.assertion};"
        f" {_number(found.inferred, 'fact')} newly inferred; revision {found.revision}."
    ]


def _retracted(found: r.Retracted) -> list[str]:
    lines = [f"Withdrawn: {fact.sentence}" for fact in found.withdrawn]
    lines += [f"Still holds: {item.fact.sentence}, because {item.because}" for item in found.still_holds]
    lines += [f"No longer holds: {fact.sentence}" for fact in found.no_longer_holds]
    return [*lines, f"revision {found.revision}"]


def _check(found: r.CheckReport) -> list[str]:
    if not found.findings:
        return ["Graph, catalogue, journal and files agree."]
    lines = [f"{finding.kind}: {finding.where}: {finding.what}" for finding in found.findings]
    end = "All mended." if found.repaired else "`synapse check --repair` mends this."
    return [*lines, "", f"{_number(len(found.findings), 'finding')}. {end}"]


def _backlinks(found: r.BacklinksReport) -> list[str]:
    lines = [*found.written, *(f"{item.path}: skipped: {item.reason}" for item in found.skipped)]
    summary = (
        f"{_number(found.links, 'backlink')}; {_number(len(found.written), 'note')} changed or to change,"
        f" {found.unchanged:,} in line, {len(found.skipped):,} skipped; policy: {found.policy}"
    )
    return [*lines, *([""] if lines else []), summary]


def _status(found: r.Status) -> list[str]:
    return [
        f"revision {found.revision}",
        f"{_number(found.notes, 'note')}, {_number(found.facts, 'fact')},"
        f" {_number(found.inferred, 'inferred fact')}, {_number(found.diagnostics, 'diagnostic')}",
        *found.incomplete,
    ]


_RENDERERS: dict[type, Callable[..., list[str]]] = {
    r.IndexReport: _index,
    r.Dossier: _dossier,
    r.Neighbourhood: _neighbourhood,
    r.Impact: _impact,
    r.Provenance: _provenance,
    r.Proof: _explain,
    r.SearchResult: _search,
    r.Asserted: _asserted,
    r.Retracted: _retracted,
    r.CheckReport: _check,
    r.BacklinksReport: _backlinks,
    r.Status: _status,
}

"""Answers as text for a terminal, and as the one JSON document of `--json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from synapse.cli.tables import columns, hanging, paragraph, table, wrapped
from synapse.cli.terminal import is_utf8, visible
from synapse.engine.errors import UsageError
from synapse.engine.graph.formats import serialize_graph, serialize_results
from synapse.engine.graph.results import AskResult, GraphResult, SelectResult, Term
from synapse.engine.questions import results as r

Describe = Callable[[Iterable[Term | None]], Sequence[r.Entity | r.Value | None]]

_FEW = 20
"""Paths that a report names one by one."""


class Renderer:
    """Prints results, whoever gave them.

    describe: gives a query's terms their labels. width: columns that people's output may take.
    given: the arguments of the command, where the words depend on what was asked for.
    """

    def __init__(self, describe: Describe, width: int, given: Mapping[str, Any] | None = None) -> None:
        self._describe = describe
        self._width = width
        self._given = given or {}

    # -- JSON ----------------------------------------------------------------------------------

    def json(self, result: object) -> str | bytes:
        """One JSON document; SPARQL 1.1 JSON results for a query, N-Triples for its graphs."""
        if isinstance(result, GraphResult):
            return serialize_graph(result, "ntriples")
        if isinstance(result, (SelectResult, AskResult)):
            text = serialize_results(result, "json").decode("utf-8")
            return text.rstrip("\n") + "\n" if is_utf8() else json.dumps(json.loads(text)) + "\n"
        return json.dumps(r.as_json(result), ensure_ascii=not is_utf8(), indent=2) + "\n"

    # -- text ----------------------------------------------------------------------------------

    def text(self, result: object, format: str | None = None) -> str | bytes:
        """Plain text ending in a newline; bytes where a format has its own encoding."""
        if isinstance(result, (SelectResult, AskResult, GraphResult)):
            return self._query(result, format)
        if isinstance(result, str):
            return _block(self._markdown(result))
        if isinstance(result, tuple):
            return _block(self._rows(result))
        for kind, render in _RENDERERS.items():
            if isinstance(result, kind):
                return _block(render(self, result))
        raise TypeError(f"no text for a {type(result).__name__}")

    def _query(self, result: SelectResult | AskResult | GraphResult, format: str | None) -> str | bytes:
        if isinstance(result, GraphResult):
            if format in ("table", "csv", "tsv", "xml", "json"):
                raise UsageError(f"A graph cannot be printed as {format}.", "Use turtle or ntriples.")
            return serialize_graph(result, "ntriples" if format == "ntriples" else "turtle")
        if format in ("turtle", "ntriples"):
            raise UsageError(f"Rows cannot be printed as {format}.", "Use table, json, csv, tsv or xml.")
        if format in ("csv", "tsv", "xml", "json"):
            return serialize_results(result, format)
        if isinstance(result, AskResult):
            return "yes\n" if result.value else "no\n"
        # All at once, which is one question to an owner.
        cells = [
            "" if cell is None else _short(cell)
            for cell in self._describe(cell for row in result.rows for cell in row)
        ]
        columns = len(result.variables)
        rows = [cells[columns * number : columns * (number + 1)] for number in range(len(result.rows))]
        lines = table([f"?{name}" for name in result.variables], rows, self._width) if rows else []
        count = f"{len(rows):,} {_noun(len(rows), 'row')}"
        lines += [*([""] if rows else []), f"{count}; there are more" if result.truncated else count]
        return _block(lines)

    def _markdown(self, text: str) -> list[str]:
        """Markdown whose list items go on below where they are too long."""
        lines = []
        for line in text.rstrip("\n").split("\n"):
            first, *rest = wrapped(line, self._width)
            lines += [first, *(part for more in rest for part in wrapped("  " + more, self._width))]
        return lines

    def _rows(self, items: Sequence[object]) -> list[str]:
        if not items:
            return ["Nothing to mend."]
        if all(isinstance(item, r.ScenarioState) for item in items):
            return self._scenarios([item for item in items if isinstance(item, r.ScenarioState)])
        return [
            line
            for item in items
            if isinstance(item, r.NoteDiagnostic)
            for line in self._diagnostic(item)
        ]  # fmt: skip

    def _scenarios(self, items: Sequence[r.ScenarioState]) -> list[str]:
        rows = [
            [i.name, i.version, i.state, f"{i.triples:,}" if i.triples else "", i.description] for i in items
        ]
        return table(["scenario", "version", "state", "triples", "about"], rows, self._width)

    def _diagnostic(self, d: r.NoteDiagnostic) -> list[str]:
        place = f"{d.path}:{d.line}:{d.column}" if d.line is not None else d.path
        text = f"{d.message} {d.hint}".rstrip()
        return [f"{place}: {d.severity}", *paragraph(text, self._width, 4)]

    def _index(self, report: r.IndexReport) -> list[str]:
        would = "would be " if self._given.get("dry_run") else ""
        lines = []
        for paths, what in (
            (report.added, "added"),
            (report.changed, "changed"),
            (report.restated, "stated anew, because links in it mean something else now"),
            (report.removed, "removed"),
        ):
            if paths:
                lines.append(f"{_files(paths)} {would}{what}")
                if what != "added" or len(paths) <= _FEW:
                    lines += [f"  {path}" for path in paths[:_FEW]]
                    if len(paths) > _FEW:
                        lines.append(f"  and {len(paths) - _FEW:,} more")
        if report.unchanged:
            lines.append(f"{_count(report.unchanged, 'file')} unchanged")
        lines += [
            "",
            f"{_count(report.notes, 'note')}, {_count(report.facts, 'fact')},"
            f" {_count(report.inferred, 'inferred fact')} in {report.seconds:.2f} s;"
            f" revision {report.revision}",
        ]
        if report.diagnostics:
            lines.append(f"{_count(report.diagnostics, 'problem')} to mend: see `synapse diagnostics VAULT`")
        return lines

    def _dossier(self, found: r.Dossier) -> list[str]:
        lines = [*_note(found.note), _named(found.entity)]
        if found.types:
            names = list(dict.fromkeys(fact.object.label for fact in found.types))
            lines += hanging("  is a ", _listed(names), self._width)
        for title, facts, cells in (
            ("", found.attributes, lambda f: (f.predicate.label, f.object.label)),
            ("Outgoing", found.outgoing, lambda f: (f.predicate.label, _short(f.object))),
            ("Incoming", found.incoming, lambda f: (_short(f.subject), f.predicate.label)),
        ):
            if facts:
                rows = [[*cells(fact), _mark(fact)] for fact in facts]
                lines += ["", *([title] if title else []), *columns(rows, self._width, 2)]
        shown = sum(map(len, (found.types, found.attributes, found.outgoing, found.incoming)))
        return lines + _more(shown, found.total, "fact", found.cursor)

    def _neighbourhood(self, found: r.Neighbourhood) -> list[str]:
        groups: dict[str, list[list[str]]] = {}
        for f in found.edges:
            row = [f.predicate.label, _short(f.object), "inferred" if f.inferred else ""]
            groups.setdefault(_named(f.subject), []).append(row)
        lines: list[str] = []
        everything = [row for rows in groups.values() for row in rows]
        for subject, rows in groups.items():
            lines += [subject, *columns(rows, self._width, 2, everything)]
        summary = f"{_count(len(found.nodes), 'entity')}, {_count(len(found.edges), 'relation')}"
        if found.cut:
            summary += f"; {_count(found.cut, 'entity')} more left out, see --limit"
        return [f"Around {_named(found.centre)}:", "", *lines, *([""] if groups else []), summary]

    def _impact(self, found: r.Impact) -> list[str]:
        lines = _note(found.note)
        if not found.items:
            return [*lines, f"Nothing depends on {_named(found.entity)}."]
        lines += [f"What depends on {_named(found.entity)}:", ""]
        digits = len(str(max(item.depth for item in found.items)))
        for item in found.items:
            steps = [item.entity.id, *(_further(fact, item) for fact in item.path)]
            pieces = [f"{steps[0]} ", *(f"→ {step} " for step in steps[1:])]
            lines += hanging(f"  {item.depth:>{digits}}  ", pieces, self._width)
        return lines + _more(len(found.items), found.total, "entity", found.cursor)

    def _provenance(self, found: r.Provenance) -> list[str]:
        lines = [found.fact.sentence]
        for source in found.fact.sources:
            lines += ["", *self._source(source)]
        if found.proof is not None:
            lines += ["", "Inferred:", *self._tree(found.proof, 1)]
        return lines

    def _source(self, source: r.Source) -> list[str]:
        lines = [f"stated {'by' if source.kind == 'agent' else 'in'} {_place(source)}"]
        details = [
            ("", source.snippet),
            ("source", source.stated_source),
            ("reason", source.reason),
            ("assertion", source.assertion),
            ("known since", source.since),
        ]
        for name, value in details:
            if value:
                lines += paragraph(f"{name}: {value}" if name else value, self._width, 4)
        return lines

    def _explain(self, proof: r.Proof) -> list[str]:
        return self._tree(proof, 0)

    def _tree(self, proof: r.Proof, level: int) -> list[str]:
        """The proof indented, premises below what they prove; what was shown is not shown again."""
        lines: list[str] = []
        seen: set[int] = set()
        waiting = [(proof, level)]
        while waiting:
            step, level = waiting.pop()
            text = step.sentence
            if step.rule is not None:
                text += f" ({step.rule})"
            if id(step) in seen and step.premises:
                text += " (as above)"
            if step.fact.sources:
                text += f" [{_mark(step.fact)}]"
            first, *rest = paragraph(text, self._width - 2 * level)
            lines += ["  " * level + first, *("  " * level + "    " + line for line in rest)]
            if id(step) not in seen:
                seen.add(id(step))
                waiting += [(premise, level + 1) for premise in reversed(step.premises)]
        return lines

    def _search(self, found: r.SearchResult) -> list[str]:
        noun = "entity" if self._given.get("kinds") else "note"
        if not found.hits:
            narrowed = self._given.get("type") or self._given.get("tag")
            such = "such " if narrowed else ""
            what = f"No {such}{noun} holds {found.text!r}."
            return [what, "Try fewer words, or the beginning of one."]
        lines = []
        for hit in found.hits:
            snippet = hit.snippet.replace("\ue000", "").replace("\ue001", "")
            lines.append(_named(hit.entity))
            if snippet != hit.entity.label:  # of what is no note, that is all there is
                lines += paragraph(snippet, self._width, 4)
        return lines + _more(len(found.hits), found.total, noun, found.cursor)

    def _asserted(self, found: r.Asserted) -> list[str]:
        facts = _count(found.facts, "fact")
        follow = f"{_count(found.inferred, 'fact')} newly inferred"
        if found.repeated:
            now = "nothing would be stated" if found.dry_run else "nothing was stated"
            lines = [f"This was stated before, {facts} of it standing; {now} now"]
        elif found.dry_run:
            return [f"Would state {facts}; {follow}; nothing was written"]
        else:
            lines = [f"Stated {facts}; {follow}; revision {found.revision}"]
        return [*lines, f"To take it back: synapse retract VAULT {found.assertion} --reason WHY"]

    def _retracted(self, found: r.Retracted) -> list[str]:
        width = self._width
        lines = [
            line
            for lead, sentences in (
                ("Withdrawn: ", [f.sentence for f in found.withdrawn]),
                ("Still holds: ", [f"{i.fact.sentence}, because {i.because}" for i in found.still_holds]),
                ("No longer holds: ", [f.sentence for f in found.no_longer_holds]),
            )
            for sentence in sentences
            for line in hanging(lead, [word + " " for word in sentence.split()], width)
        ]
        return [*lines, f"revision {found.revision}"]

    def _check(self, found: r.CheckReport) -> list[str]:
        if not found.findings:
            return ["Graph, catalogue, journal and files agree."]
        lines = []
        for finding in found.findings:
            lines += [f"{finding.kind}: {finding.where}", *paragraph(finding.what, self._width, 4)]
        if found.repaired:
            end = "All mended."
        elif self._given.get("repair"):
            end = "This could not be mended; `synapse rebuild VAULT` makes graph and catalogue anew."
        else:
            end = "`synapse check VAULT --repair` mends what can be mended."
        return [*lines, "", f"{_count(len(found.findings), 'finding')}. {end}"]

    def _backlinks(self, found: r.BacklinksReport) -> list[str]:
        written, count = found.written, _count(len(found.written), "note")
        if self._given.get("remove"):
            summary = f"The section was taken out of {count}"
        elif self._given.get("write"):
            summary = f"{_count(found.links, 'backlink')}; {count} written"
        else:
            summary = f"{_count(found.links, 'backlink')}; {count} would be written with --write"
        lines = list(written)
        for item in found.skipped:
            lines += [f"{item.path}: skipped", *paragraph(item.reason, self._width, 4)]
        summary += f", {found.unchanged:,} as they should be, {len(found.skipped):,} skipped"
        policy = f"policy: {found.policy}"
        return [*lines, *([""] if lines else []), *paragraph(f"{summary}; {policy}", self._width)]

    def _status(self, found: r.Status) -> list[str]:
        return [
            f"{_count(found.notes, 'note')}, {_count(found.facts, 'fact')},"
            f" {_count(found.inferred, 'inferred fact')}, {_count(found.diagnostics, 'problem')} to mend",
            f"revision {found.revision}",
            *found.incomplete,
        ]


_RENDERERS: dict[type, Callable[[Renderer, Any], list[str]]] = {
    r.IndexReport: Renderer._index,
    r.Dossier: Renderer._dossier,
    r.Neighbourhood: Renderer._neighbourhood,
    r.Impact: Renderer._impact,
    r.Provenance: Renderer._provenance,
    r.Proof: Renderer._explain,
    r.SearchResult: Renderer._search,
    r.Asserted: Renderer._asserted,
    r.Retracted: Renderer._retracted,
    r.CheckReport: Renderer._check,
    r.BacklinksReport: Renderer._backlinks,
    r.Status: Renderer._status,
}


def _block(lines: Iterable[str]) -> str:
    return visible("\n".join(line.rstrip() for line in lines) + "\n")


def _noun(count: int, noun: str) -> str:
    if count == 1:
        return noun
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {_noun(count, noun)}"


def _files(paths: Sequence[str]) -> str:
    """How many notes and other files these are."""
    notes = sum(path.lower().endswith(".md") for path in paths)
    others = len(paths) - notes
    parts = [_count(number, noun) for number, noun in ((notes, "note"), (others, "other file")) if number]
    return " and ".join(parts)


def _listed(names: Sequence[str]) -> list[str]:
    return [f"{name}, " for name in names[:-1]] + list(names[-1:])


def _short(cell: r.Entity | r.Value) -> str:
    """The id, as it can be given to the next command; a label where there is none."""
    return cell.text if isinstance(cell, r.Value) else cell.id if cell.kind != "other" else cell.label


def _named(entity: r.Entity) -> str:
    """Label and id, the id alone where it says the same."""
    if entity.kind in ("note", "unwritten", "attachment") and entity.label != entity.id:
        return f"{entity.label} ({entity.id})"
    return entity.label


def _place(source: r.Source) -> str:
    if source.path is not None:
        return source.path if source.line is None else f"{source.path}:{source.line}"
    return source.label


def _mark(fact: r.Fact) -> str:
    return "inferred" if fact.inferred else ", ".join(map(_place, fact.sources))


def _note(note: str | None) -> list[str]:
    return [note, ""] if note else []


def _further(fact: r.Fact, item: r.Impacted) -> str:
    """The end of a path's step that is nearer to what was asked for."""
    if not isinstance(fact.object, r.Entity):
        return fact.object.label
    index = item.path.index(fact)
    before = item.entity.id if index == 0 else _further(item.path[index - 1], item)
    return fact.object.id if fact.subject.id == before else fact.subject.id


def _more(shown: int, total: int, noun: str, cursor: str | None) -> list[str]:
    if cursor is None:
        return ["", _count(total, noun)]
    return ["", f"{shown:,} of {_count(total, noun)}; for the next ones add", f"--cursor {cursor}"]

"""The sample vault and the starter queries, read with nothing of ours.

The small reader in here is an oracle on purpose: regular expressions that are good enough for these
notes, so that the golden list is not simply what the engine happens to answer.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
import yaml
from pyoxigraph import Store

ROOT = Path(__file__).resolve().parents[2]
VAULT = ROOT / "resources" / "sample-vault"
QUERIES = sorted((ROOT / "resources" / "queries").glob("*.rq"))
GOLDEN = Path(__file__).parent / "payments_impact.json"

NOTES = {
    path.relative_to(VAULT).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(VAULT.rglob("*.md"))
}
UNWRITTEN = "modules/loyalty"
SLIP = "rough-edges"
AMBIGUOUS = "2026-03-02"

NOT_TEXT = re.compile(
    r"^```.*?^```|^(?: {4}|\t).*?$|`[^`\n]*`|<!--.*?-->|\$\$.*?\$\$|\$[^$\n]+\$", re.MULTILINE | re.DOTALL
)
WIKILINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
MARKDOWN_LINK = re.compile(r"\]\(([^()\s]+)(?: \"[^\"]*\")?\)|^\[[^\]^]+\]: (\S+)$", re.MULTILINE)
RELATION = re.compile(r"(?:schema:)?[A-Za-z_][\w-]*::?(?=[^\s/])")


def frontmatter(note: str) -> str:
    match = re.match(r"---\n(.*?)^---\n", NOTES[note], re.DOTALL | re.MULTILINE)
    return match.group(1) if match else ""


def body(note: str) -> str:
    """The note's text below its frontmatter, without code, comments that are not read, and formulas."""
    whole = NOTES[note]
    block = frontmatter(note)
    return NOT_TEXT.sub("", whole[len(block) + 8 :] if block else whole)


def properties(note: str) -> dict[str, Any]:
    read = yaml.safe_load(frontmatter(note))
    assert isinstance(read, dict)
    return read


def targets(text: str) -> Iterator[str]:
    """What wikilinks point to: without relation, alias, heading and the backslash of a table."""
    for inner in WIKILINK.findall(text):
        yield RELATION.sub("", re.split(r"[|#]", inner)[0].rstrip("\\"), count=1)


def resolve(target: str, note: str) -> str | None:
    """The id of the note meant, or None where none is written."""
    target = target.removesuffix(".md")
    if target in NOTES:
        return target
    if (VAULT / target).is_file():
        return target
    beside = f"{note.rpartition('/')[0]}/{target}"
    if beside in NOTES:
        return beside
    found = sorted(id for id in NOTES if id.endswith(f"/{target}"))
    assert len(found) < 2 or target == AMBIGUOUS, f"{note}: [[{target}]] could be {found}"
    return found[0] if found else None


def test_the_vault_has_about_forty_notes_and_a_tour_of_five_steps() -> None:
    assert 38 <= len(NOTES) <= 48
    steps = re.findall(r"^## (\d)\. ", NOTES["welcome"], re.MULTILINE)
    assert steps == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("note", NOTES)
def test_a_note_is_clean_text_without_a_generated_section(note: str) -> None:
    data = (VAULT / f"{note}.md").read_bytes()
    assert data.endswith(b"\n") and not data.endswith(b"\n\n")
    assert b"\r" not in data and b"\t" not in data
    assert b"synapse:backlinks" not in data
    assert not re.search(rb" +$", data, re.MULTILINE)


@pytest.mark.parametrize("note", [note for note in NOTES if note != SLIP])
def test_the_frontmatter_is_a_yaml_mapping(note: str) -> None:
    assert properties(note)


def test_exactly_one_note_holds_the_intended_yaml_slip_and_explains_it() -> None:
    with pytest.raises(yaml.YAMLError, match="mapping values are not allowed"):
        yaml.safe_load(frontmatter(SLIP))
    assert "A colon too many" in NOTES[SLIP]


def test_the_ambiguous_link_stands_only_where_it_is_explained() -> None:
    candidates = [note for note in NOTES if note.endswith(f"/{AMBIGUOUS}")]
    assert candidates == [f"meetings/{AMBIGUOUS}", f"standups/{AMBIGUOUS}"]
    assert [note for note in NOTES if AMBIGUOUS in targets(NOTES[note])] == [SLIP]


def test_every_link_leads_to_a_note_but_those_to_the_unwritten_one() -> None:
    waiting = defaultdict(list)
    for note in NOTES:
        for target in targets(frontmatter(note) + body(note)):
            if resolve(target, note) is None:
                waiting[target].append(note)
    assert dict(waiting) == {UNWRITTEN: ["meetings/2026-03-02", "modules/gift-cards", "welcome"]}


def test_markdown_links_lead_to_files_or_out_of_the_vault() -> None:
    local = []
    for note in NOTES:
        for inline, reference in MARKDOWN_LINK.findall(body(note)):
            link = unquote(inline or reference)
            if not link.startswith("https://"):
                start = VAULT if link.startswith("/") else (VAULT / note).parent
                path = (start / link.lstrip("/")).resolve()
                assert path.is_file(), f"{note}: {link}"
                local.append(path.relative_to(VAULT).as_posix())
    assert "books/A Philosophy of Software Design.md" in local
    assert "modules/payments.md" in local


def test_links_in_code_and_in_html_comments_would_lead_nowhere() -> None:
    """They are there to be ignored: reading one of them by mistake shows up as an unwritten note."""
    hidden = {
        target
        for note in NOTES
        for target in targets(NOTES[note])
        if target not in targets(frontmatter(note) + body(note)) and resolve(target, note) is None
    }
    assert {"order-7f3a", "modules/nothing", "people/nobody", "decisions/the-old-one"} <= hidden


def test_headings_and_blocks_that_links_name_exist() -> None:
    checked = 0
    for note in NOTES:
        for inner in WIKILINK.findall(frontmatter(note) + body(note)):
            target, hash, anchor = inner.split("|")[0].rstrip("\\").partition("#")
            if hash:
                text = NOTES[str(resolve(RELATION.sub("", target), note))]
                ending = f" {anchor}\n" if anchor.startswith("^") else f"# {anchor}\n"
                assert ending in text, f"{note}: [[{inner}]]"
                checked += 1
    assert checked >= 4


# One row for each way of writing something that the reader knows, and a note that shows it.
SHOWN = {
    "type as a word": ("modules/payments", r"^type: Module$"),
    "type as a list": ("modules/market-day", r"^type: \[App, "),
    "title": ("projects/spring-launch", r"^title: "),
    "aliases": ("people/ada", r"^aliases: \["),
    "nested tags": ("modules/payments", r"^tags: \[area/money, tier/critical\]$"),
    "tag in the body": ("specs/payment-flow", r" #area/money/fees$"),
    "address of its own": ("company/quince-works", r"^uri: https://"),
    "date": ("modules/payments", r"^live_since: 2020-03-23$"),
    "date and time": ("meetings/2026-03-02", r"T10:00:00\+01:00$"),
    "time that stays text": ("modules/payouts", r"^payout_at: 12:30$"),
    "integer": ("company/quince-works", r"^headcount: 6$"),
    "decimal": ("modules/payments", r"^availability: 99\.95$"),
    "double": ("company/quince-works", r": 1\.5e-3$"),
    "boolean": ("modules/payments", r": false$"),
    "null": ("company/quince-works", r": null$"),
    "quoted number": ("company/quince-works", r': "0042"$'),
    "nested mapping": ("company/quince-works", r"^  coordinates:\n    latitude: "),
    "IRI as a value": ("people/ada", r"^email: mailto:"),
    "prefixed property": ("company/quince-works", r"^schema:slogan: "),
    "relation in the frontmatter": ("modules/checkout", r'^depends_on:\n  - "\[\['),
    "relation without quotation marks": ("projects/spring-launch", r"^depends_on: \[\["),
    "relation as a path": ("modules/mobile-app", r"^depends_on: modules/storefront$"),
    "relation as a path with .md": ("projects/pocket-shop", r"^depends_on: modules/mobile-app\.md$"),
    "relationships": ("modules/payouts", r"^relationships:\n  - to: .*\n    type: "),
    "links": ("modules/reporting", r"^links:\n  - target: .*\n    rel: "),
    "field on a line": ("modules/subscriptions", r"^depends_on:: \[\["),
    "field in brackets": ("modules/subscriptions", r"\[stable:: true\]"),
    "field in parentheses": ("modules/market-day", r"\(calls:: \[\[modules/payments\]\]\)"),
    "relation in a link": ("modules/refunds", r"\[\[depends_on:modules/payments\]\]"),
    "relation with two colons": ("modules/storefront", r"\[\[depends_on::modules/checkout\]\]"),
    "relation with a prefix": ("people/chiara", r"\[\[schema:knows:people/dmitri\]\]"),
    "relations section": ("modules/invoicing", r"^## Relations\n\n- depends on \[\[payments\]\]$"),
    "relation in a title": ("modules/gift-cards", r'\(/modules/payments\.md "rel:depends_on"\)'),
    "Markdown link": ("modules/ledger", r"\]\(\.\./topics/double-entry\.md\)"),
    "reference link": ("modules/gift-cards", r"\[ledger\]\[book\]"),
    "link to the web": ("topics/double-entry", r"\]\(https://"),
    "embedded note": ("specs/payment-flow", r"^!\[\[decisions/two-payment-providers\]\]$"),
    "embedded section": ("books/reading-list", r"^!\[\[.*#What Ada says\]\]$"),
    "embedded picture": ("company/quince-works", r"^!\[\[attachments/quince\.svg\]\]$"),
    "block reference": ("decisions/two-payment-providers", r"\[\[specs/payment-flow#\^retry-rule\]\]"),
    "link with a text": ("meetings/2026-03-02", r"\|portal\]\]"),
    "link in a table": ("specs/payment-flow", r"^\| .*\\\|double entry\]\]"),
    "link in a comment that counts": ("company/handbook", r"%% .*\[\[people/dmitri\]\].* %%"),
    "link in a comment that does not": ("company/handbook", r"<!-- .*\[\[people/nobody\]\].* -->"),
    "tasks": ("company/handbook", r"^- \[ \] .*\n"),
    "footnote": ("company/handbook", r"^\[\^1\]: "),
    "callout": ("specs/payment-flow", r"^> \[!warning\] "),
    "diagram": ("specs/payment-flow", r"^```mermaid$"),
    "formula": ("specs/payment-flow", r"^\$\$$"),
    "vocabulary in the frontmatter": ("vocabulary", r"^transitive:\n  - part of\n"),
    "vocabulary in the body": ("vocabulary", r"^- subclass_of: App -> Module$"),
}


@pytest.mark.parametrize("feature", SHOWN)
def test_the_vault_shows(feature: str) -> None:
    note, written = SHOWN[feature]
    assert re.search(written, NOTES[note], re.MULTILINE)


def dependencies() -> set[tuple[str, str]]:
    """(dependent, needed) as the notes state it, `calls` and `used_by` read as the vocabulary note says."""
    assert "- sub_property_of: calls -> depends on\n" in NOTES["vocabulary"]
    assert "- inverse_of: used by -> depends on\n" in NOTES["vocabulary"]
    edges: set[tuple[str, str]] = set()

    def add(note: str, target: str) -> None:
        needed = resolve(next(targets(target), target), note)
        assert needed, f"{note} depends on {target}, which is not written"
        edges.add((note, needed))

    def flat(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        for inner in value if isinstance(value, list) else []:
            yield from flat(inner)

    for note in NOTES:
        read = {} if note == SLIP else properties(note)
        for value in flat(read.get("depends_on")):
            add(note, value)
        for one in read.get("relationships", []):
            if one["type"] == "depends_on":
                add(note, one["to"])
        for one in read.get("links", []):
            if one["rel"] == "depends_on":
                add(note, one["target"])
        text = body(note)
        for found in re.findall(r"\[\[depends_on::?([^\[\]]+)\]\]", text):
            add(note, found)
        for found in re.findall(r"(?:depends_on|calls):: (\[\[[^\]]+\]\])", text):
            add(note, found)
        for found in re.findall(r"^- depends on (\[\[[^\]]+\]\])", text, re.MULTILINE):
            add(note, found)
        for found in re.findall(r"\]\(/([^()\s]+)\.md \"rel:depends_on\"\)", text):
            add(note, found)
        for found in re.findall(r"^used_by:: \[\[([^\]]+)\]\]", text, re.MULTILINE):
            edges.add((found, note))
    return edges


def test_the_golden_list_of_what_depends_on_payments_is_what_the_notes_say() -> None:
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    needing = defaultdict(set)
    for dependent, needed in dependencies():
        needing[needed].add(dependent)
    paths: dict[str, list[list[str]]] = {golden["entity"]: [[golden["entity"]]]}
    frontier = [golden["entity"]]
    while frontier:
        found: dict[str, list[list[str]]] = defaultdict(list)
        for node in frontier:
            for dependent in needing[node] - set(paths):
                found[dependent] += [[dependent, *path] for path in paths[node]]
        paths |= found
        frontier = list(found)
    del paths[golden["entity"]]
    assert all(len(shortest) == 1 for shortest in paths.values()), "a golden path must be the only shortest"
    expected = [
        {"id": id, "depth": len(path) - 1, "path": path}
        for id, (path,) in sorted(paths.items(), key=lambda item: (len(item[1][0]), item[0]))
    ]
    assert golden["dependents"] == expected
    assert golden["total"] == len(expected) == 14


def test_some_modules_link_to_payments_or_are_needed_by_it_and_are_not_dependents() -> None:
    dependents = {one["id"] for one in json.loads(GOLDEN.read_text(encoding="utf-8"))["dependents"]}
    modules = {note for note in NOTES if note.startswith("modules/")} - {"modules/payments"}
    others = {f"modules/{name}" for name in ("accounts", "catalogue", "ledger", "notifications")}
    assert modules - dependents == others
    assert "payments" in targets(body("modules/notifications"))


def test_the_step_that_deletes_a_line_takes_away_exactly_what_it_promises() -> None:
    assert [edge for edge in dependencies() if edge == ("modules/subscriptions", "modules/payments")]
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))["dependents"]
    resting = {one["id"] for one in golden if "modules/subscriptions" in one["path"]}
    assert resting == {"modules/subscriptions", "modules/customer-portal", "projects/spring-launch"}
    assert NOTES["modules/subscriptions"].count("modules/payments") == 1


def test_every_person_and_module_of_the_company_has_what_the_tour_relies_on() -> None:
    for note in NOTES:
        if note.startswith("people/"):
            assert properties(note)["works_for"] == "[[company/quince-works]]"
        if note.startswith("modules/"):
            read = properties(note)
            assert resolve(next(targets(read["owner"])), note), note
            assert read["part_of"], note
    assert "type" not in properties("people/farid")
    assert "type" not in properties("books/A Philosophy of Software Design")


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.stem)
def test_a_starter_query_has_a_title_and_is_valid(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert re.match(r"# \S.*\n", text)
    Store().query(text, base_iri="vault:/")


def test_there_are_as_many_starter_queries_as_fit_a_menu() -> None:
    assert 6 <= len(QUERIES) <= 10


def test_the_queries_of_the_tour_are_valid_and_first_time_readable() -> None:
    queries = re.findall(r"^```sparql\n(.*?)^```", NOTES["welcome"], re.MULTILINE | re.DOTALL)
    assert len(queries) == 3
    for query in queries:
        Store().query(query, base_iri="vault:/")

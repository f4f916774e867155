"""Each command's answer, as text and as JSON, on the sample vault."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from synapse.cli.tables import display_width

Command = Callable[..., Any]
IMPACT = Path(__file__).parents[1] / "sample_vault" / "payments_impact.json"
FOAF_KNOWS = ("people/ada", "knows", "people/esther")
WHY = ("--source", "a meeting", "--reason", "they met")


@pytest.fixture
def ask(synapse: Command, vault: Path) -> Command:
    """A command on a vault of this test's own that succeeds and says nothing on standard error."""
    return asking(synapse, vault)


@pytest.fixture
def look(synapse: Command, sample: Path) -> Command:
    """As `ask`, on the vault that all tests share."""
    return asking(synapse, sample)


def asking(synapse: Command, vault: Path) -> Command:
    def call(name: str, *arguments: str, status: int = 0) -> Any:
        found = synapse(name, vault, *arguments)
        assert (found.status, found.err) == (status, ""), arguments
        if "--json" not in arguments and "--format" not in arguments:
            for line in found.out.splitlines():
                assert display_width(line) <= 80 or line.startswith("--cursor "), found.out
        return found

    return call


# -- index ---------------------------------------------------------------------------------------


def test_index_says_what_it_read(ask: Command, vault: Path) -> None:
    first = ask("index").out.splitlines()
    assert first[:2] == ["44 notes and 1 other file added", ""]
    assert first[2].startswith("44 notes, 1,448 facts, ") and " inferred facts in " in first[2]
    assert first[3:] == ["2 problems to mend: see `synapse diagnostics VAULT`"]
    assert ask("index").out.startswith("45 files unchanged\n\n44 notes")
    (vault / "people" / "zoe.md").write_text("# Zoe\n\nknows:: [[people/ada]]\n", encoding="utf-8")
    (vault / "modules" / "loyalty.md").write_text("# Loyalty\n", encoding="utf-8")
    (vault / "topics" / "accounting.md").unlink()
    planned = ask("index", "--dry-run").out
    assert planned.startswith("2 notes would be added\n  modules/loyalty.md\n  people/zoe.md\n")
    assert "1 note would be removed\n  topics/accounting.md\n" in planned
    done = ask("index").out
    assert done.startswith("2 notes added\n  modules/loyalty.md\n  people/zoe.md\n")
    assert "stated anew, because links in it mean something else now\n" in done


def test_index_as_json_has_each_number(ask: Command) -> None:
    found = ask("index", "--json").json
    assert list(found) == [
        "notes", "added", "changed", "restated", "removed", "unchanged", "facts", "inferred", "diagnostics",
        "revision", "seconds",
    ]  # fmt: skip
    assert len(found["added"]) == 45
    assert found["added"][:2] == ["attachments/quince.svg", "authors/fred-brooks.md"]
    assert (found["notes"], found["facts"], found["diagnostics"], found["unchanged"]) == (44, 1448, 2, 0)
    again = ask("index", "--json").json
    assert (again["added"], again["changed"], again["restated"], again["removed"]) == ([], [], [], [])
    assert (again["unchanged"], again["revision"]) == (45, found["revision"])


def test_a_vault_that_vanished_is_kept_and_says_so(synapse: Command, vault: Path) -> None:
    synapse("index", vault)
    kept = vault.rename(vault.with_name("elsewhere"))
    gone = synapse("status", vault, "--json")
    assert gone.status == 1 and gone.json["error"]["kind"] == "vault-unavailable"
    vault.mkdir()
    empty = synapse("index", vault)
    assert empty.status == 1
    assert empty.err == (
        "synapse: All 45 files of the vault are gone."
        " If that is meant, index with --accept-deletions; nothing was changed.\n"
    )
    assert synapse("index", vault, "--accept-deletions", "--json").json["facts"] > 0, "the vocabularies stay"
    assert kept.is_dir()


def test_status_and_digest_agree_with_index(look: Command) -> None:
    indexed = look("index", "--json").json
    status = look("status", "--json").json
    assert {key: status[key] for key in ("notes", "facts", "inferred", "diagnostics", "revision")} == {
        key: indexed[key] for key in ("notes", "facts", "inferred", "diagnostics", "revision")
    }
    numbers = f"44 notes, {indexed['facts']:,} facts, {indexed['inferred']:,} inferred facts"
    assert look("status").out == f"{numbers}, 2 problems to mend\nrevision {indexed['revision']}\n"
    assert look("digest").out.startswith(f"# vault\n\n{numbers}.\n\n## Types\n\n- Module: 17\n")
    assert look("digest", "--json").json.startswith("# vault\n")


# -- queries -------------------------------------------------------------------------------------

DEPENDENTS = "SELECT ?who { ?who prop:depends_on <modules/payments> } ORDER BY ?who LIMIT 3"


def test_a_query_is_printed_as_a_table_with_ids(look: Command) -> None:
    assert look("query", DEPENDENTS).out == (
        "?who\n"
        "---------------------\n"
        "modules/admin-console\n"
        "modules/checkout\n"
        "modules/gift-cards\n"
        "\n"
        "3 rows\n"
    )
    assert look("query", "SELECT ?x { ?x ?y <nobody> }").out == "0 rows\n"


def test_a_query_as_json_is_in_the_sparql_results_format(look: Command) -> None:
    found = look("query", DEPENDENTS, "--json").json
    assert found["head"] == {"vars": ["who"]}
    assert found["results"]["bindings"][0] == {
        "who": {"type": "uri", "value": "vault:/modules/admin-console"}
    }
    assert look("query", DEPENDENTS, "--format", "json").json == found
    assert look("query", "ASK { <people/ada> ?p ?o }", "--json").json == {"head": {}, "boolean": True}


def test_constructed_graphs_are_n_triples_or_turtle(look: Command) -> None:
    asked = "CONSTRUCT { ?a prop:needs ?b } WHERE { ?a prop:depends_on ?b . ?b rdfs:label 'Ledger' }"
    lines = look("query", asked, "--json").out.splitlines()
    assert "<vault:/modules/payments> <urn:synapse:prop:needs> <vault:/modules/ledger> ." in lines
    assert all(line.endswith(" .") for line in lines)
    assert "needs" in look("query", asked, "--format", "turtle").out


@pytest.mark.parametrize(
    ("format", "begin"),
    [("csv", "who\r\nvault:/modules/admin-console\r\n"), ("tsv", "?who\n<vault:/modules/admin-console>\n")],
)
def test_rows_in_other_formats(look: Command, format: str, begin: str) -> None:
    assert look("query", DEPENDENTS, "--format", format).out.startswith(begin)


def test_views_and_limits_of_queries(synapse: Command, sample: Path, look: Command) -> None:
    asked = "ASK { <modules/market-day> prop:depends_on <modules/payments> }"
    answers = [look("query", asked, *option).out for option in ([], ["--stated"], ["--inferred"])]
    assert answers == ["yes\n", "no\n", "yes\n"], "a sub-property of depends_on is stated there"
    found = synapse("query", sample, "SELECT * { ?s ?p ?o }", "--limit", "2", "--json")
    assert found.status == 0 and len(found.json["results"]["bindings"]) == 2
    assert found.err == "synapse: there is more than the 2 of --limit.\n"


# -- questions -----------------------------------------------------------------------------------


def test_impact_is_exactly_the_list_with_depth_and_path(look: Command) -> None:
    expected = json.loads(IMPACT.read_text(encoding="utf-8"))
    found = look("impact", "modules/payments", "--json").json
    assert found["total"] == expected["total"] and found["cursor"] is None
    assert {(item["entity"]["id"], item["depth"]) for item in found["items"]} == {
        (item["id"], item["depth"]) for item in expected["dependents"]
    }
    lines = look("impact", "modules/payments").out.splitlines()
    assert lines[0] == "What depends on Payments (modules/payments):"
    shown = " ".join(" ".join(lines).split())
    for item in expected["dependents"]:
        assert f"{item['depth']} {' → '.join(item['path'])}" in shown
    assert lines[-1] == f"{expected['total']} entities"
    near = look("impact", "modules/payments", "--depth", "1", "--json").json
    assert {item["entity"]["id"] for item in near["items"]} == {
        item["id"] for item in expected["dependents"] if item["depth"] == 1
    }
    assert look("impact", "people/ada").out == "Nothing depends on Ada (people/ada).\n"


@pytest.mark.parametrize(
    ("command", "items"), [("impact", "items"), ("dossier", "outgoing"), ("search", "hits")]
)
def test_pages_add_up_to_the_whole(look: Command, command: str, items: str) -> None:
    asked = "payment" if command == "search" else "modules/payments"
    whole = look(command, asked, "--json").json
    found: list[object] = []
    counted, cursor = 0, None
    for _ in range(100):
        page = look(command, asked, "--limit", "4", "--json", *(["--cursor", cursor] if cursor else [])).json
        assert page["total"] == whole["total"]
        found += page[items]
        counted += 1
        cursor = page["cursor"]
        if cursor is None:
            break
    assert found == whole[items]
    assert counted == -(-whole["total"] // 4)
    assert f"4 of {whole['total']} " in look(command, asked, "--limit", "4").out


def test_a_dossier_names_each_fact_with_its_place(look: Command) -> None:
    text = look("dossier", "people/ada").out
    assert text.startswith("Ada (people/ada)\n  is a Person\n\n")
    assert "  job title      Lead engineer  people/ada.md:5\n" in text
    assert "  owns        modules/payments           inferred\n" in text
    assert text.endswith("\n43 facts\n")
    found = look("dossier", "people/ada", "--json").json
    assert found["total"] == 43 == sum(len(found[k]) for k in ("types", "attributes", "outgoing", "incoming"))
    assert found["entity"] == {
        "id": "people/ada",
        "iri": "vault:/people/ada",
        "label": "Ada",
        "kind": "note",
        "path": "people/ada.md",
    }


@pytest.mark.parametrize(
    "asked", ["people/ada.md", "/people/ada", "[[people/ada]]", "vault:/people/ada", "<vault:/people/ada>"]
)
def test_an_id_may_be_written_in_several_ways(look: Command, asked: str) -> None:
    assert look("dossier", asked, "--json").json["entity"]["id"] == "people/ada"


def test_an_id_in_other_case_is_taken_and_named(look: Command) -> None:
    text = look("dossier", "People/ADA").out
    assert text.startswith("Read People/ADA as people/ada.\n\nAda (people/ada)\n")


def test_a_neighbourhood_is_grouped_by_subject(look: Command) -> None:
    text = look("neighbourhood", "people/farid", "--predicates", "owns", "--predicates", "owned_by").out
    assert text == (
        "Around Farid (people/farid):\n"
        "\n"
        "Admin console (modules/admin-console)\n"
        "  owned by  people/farid\n"
        "Refunds (modules/refunds)\n"
        "  owned by  people/farid\n"
        "Farid (people/farid)\n"
        "  owns      modules/admin-console  inferred\n"
        "  owns      modules/refunds        inferred\n"
        "\n"
        "3 entities, 4 relations\n"
    )
    found = look("neighbourhood", "people/farid", "--limit", "3", "--json").json
    assert len(found["nodes"]) == 3 and found["cut"] == found["total"] - 3 > 0
    assert "more left out, see --limit" in look("neighbourhood", "people/farid", "--limit", "3").out


def test_provenance_ends_in_a_line_of_a_note(look: Command) -> None:
    fact = ("modules/checkout", "depends_on", "modules/payments")
    source = look("provenance", *fact, "--json").json["fact"]["sources"][0]
    text = look("provenance", *fact).out
    assert source["path"] == "modules/checkout.md"
    assert f"stated in modules/checkout.md:{source['line']}\n" in text and source["snippet"] in text


def test_an_explanation_is_a_tree_down_to_what_is_stated(look: Command) -> None:
    fact = ("people/ada", "owns", "modules/payments")
    assert look("explain", *fact).out == (
        "Ada owns Payments because Payments owned by Ada, and “owns” is “owned by” the\n"
        "    other way round (prp-inv2)\n"
        "  “owns” is “owned by” the other way round [core/schema/schema.ttl]\n"
        "  Payments owned by Ada [modules/payments.md:5]\n"
    )
    steps = look("explain", *fact, "--json").json["steps"]
    assert steps[-1]["premises"] == [0, 1] and steps[-1]["rule"] == "prp-inv2"
    assert steps[1]["fact"]["sources"][0]["path"] == "modules/payments.md"


def test_search_finds_notes_and_says_where_nothing_is(look: Command) -> None:
    hits = look("search", "'double entry'", "--json").json["hits"]
    assert "topics/double-entry" in [hit["entity"]["id"] for hit in hits]
    assert look("search", "xyzzy").out == (
        "No note holds 'xyzzy'.\nTry fewer words, or the beginning of one.\n"
    )


def test_diagnostics_name_place_and_remedy(look: Command, sample: Path) -> None:
    text = look("diagnostics", status=1).out
    assert text.startswith("rough-edges.md:3:8: warning\n    The value of 'title' is not valid YAML")
    found = look("diagnostics", "rough-edges.md", "--json", status=1).json
    lines = (sample / "rough-edges.md").read_text(encoding="utf-8").splitlines()
    for item, said in zip(found, ("Rough edges: two", "[[2026-03-02"), strict=True):
        assert lines[item["line"] - 1][item["column"] - 1 :].startswith(said)
    assert look("diagnostics", "people/ada.md").out == "Nothing to mend.\n"
    assert look("diagnostics", "people/ada.md", "--json").json == []


# -- writes --------------------------------------------------------------------------------------


def test_what_is_asserted_holds_and_what_is_retracted_is_gone(ask: Command, vault: Path) -> None:
    asserted = ask("assert", *FOAF_KNOWS, *WHY, "--json").json
    assert list(asserted) == ["assertion", "revision", "facts", "inferred", "repeated", "dry_run"]
    assert asserted["facts"] == 1
    text = ask("provenance", *FOAF_KNOWS).out
    for line in ("source: a meeting", "reason: they met", f"assertion: {asserted['assertion']}"):
        assert f"    {line}\n" in text
    assert ask("query", "ASK { <people/esther> schema:knows <people/ada> }", "--inferred").out == "yes\n"
    taken = ask("retract", asserted["assertion"], "--reason", "they did not", "--json").json
    assert list(taken) == ["withdrawn", "still_holds", "no_longer_holds", "revision"]
    assert [fact["object"]["id"] for fact in taken["withdrawn"]] == ["people/esther"]
    assert len(taken["no_longer_holds"]) >= 2, "what was inferred from it went with it"
    assert ask("query", "ASK { <people/ada> schema:knows <people/esther> }").out == "no\n"
    (journal,) = (vault / ".synapse" / "journal").iterdir()
    kinds = [json.loads(line)["kind"] for line in journal.read_text(encoding="utf-8").splitlines()]
    assert kinds == ["assert", "retract"]


def test_asserting_says_how_to_take_it_back(ask: Command) -> None:
    _, hint = ask("assert", *FOAF_KNOWS, *WHY).out.splitlines()
    assertion = hint.split()[-3]
    assert hint == f"To take it back: synapse retract VAULT {assertion} --reason WHY"
    assert "Withdrawn: Ada knows Esther\n" in ask("retract", assertion, "--reason", "no").out


def test_asserting_says_what_would_be_stated_and_what_was_before(ask: Command, vault: Path) -> None:
    once = (*FOAF_KNOWS, *WHY, "--idempotency-key", "k")
    planned = ask("assert", *once, "--dry-run").out
    assert planned.startswith("Would state 1 fact; ") and planned.endswith("; nothing was written\n")
    assert not (vault / ".synapse").exists()
    first, hint = ask("assert", *once).out.splitlines()
    assert first.startswith("Stated 1 fact; ")
    assert ask("assert", *once).out.splitlines() == [
        "This was stated before, 1 fact of it standing; nothing was stated now",
        hint,
    ]
    assert ask("assert", *once, "--dry-run").out.splitlines() == [
        "This was stated before, 1 fact of it standing; nothing would be stated now",
        hint,
    ]


def test_literals_and_facts_from_a_file(ask: Command, tmp_path: Path) -> None:
    ask("assert", "people/ada", "born", "1990-05-01", "--datatype", "xsd:date", *WHY)
    ask("assert", "people/ada", "motto", "people/bruno", "--literal", *WHY)
    ask("assert", "people/ada", "motto", "Eerst meten", "--lang", "nl", *WHY)
    file = tmp_path / "facts.json"
    fact = {"subject": "people/ada", "predicate": "plays", "object": "viola", "object_kind": "literal"}
    file.write_text(json.dumps([fact, {**fact, "object": "chess"}]), encoding="utf-8")
    assert ask("assert", "--file", str(file), *WHY, "--json").json["facts"] == 2
    rows = ask("query", "SELECT ?o { <people/ada> prop:born|prop:motto|prop:plays ?o }", "--json").json
    assert {tuple(sorted(row["o"].items())) for row in rows["results"]["bindings"]} == {
        (("datatype", "http://www.w3.org/2001/XMLSchema#date"), ("type", "literal"), ("value", "1990-05-01")),
        (("type", "literal"), ("value", "people/bruno")),
        (("type", "literal"), ("value", "Eerst meten"), ("xml:lang", "nl")),
        (("type", "literal"), ("value", "viola")),
        (("type", "literal"), ("value", "chess")),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{", "facts.json:1:3: This is not valid JSON"),
        ("{}", "Facts are a list of objects."),
        ("[]", "Facts are a list of objects."),
        ('[{"subject": "a", "predicate": "b"}]', "Fact 1: "),
        ('[{"subject": "a", "predicate": "b", "object": "c", "colour": 1}]', "Fact 1: "),
    ],
)
def test_a_file_of_facts_that_is_wrong_states_nothing(
    synapse: Command, vault: Path, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "facts.json"
    file.write_text(content, encoding="utf-8")
    found = synapse("assert", vault, "--file", file, *WHY)
    assert found.status in (1, 2) and found.out == ""
    assert message in found.err and found.err.count("\n") == 1
    assert not (vault / ".synapse").exists()


def test_what_a_note_or_a_rule_says_cannot_be_retracted_and_the_answer_says_where(
    synapse: Command, sample: Path
) -> None:
    lines = (sample / "people" / "ada.md").read_text(encoding="utf-8").splitlines()
    found = synapse("retract", sample, "people/ada", "knows", "people/bruno", "--reason", "no", "--json")
    assert found.status == 1
    assert found.json["error"] == {
        "kind": "retraction-refused",
        "message": "Ada knows Bruno: no agent states this, a file does.",
        "hint": "Edit it there.",
        "path": "people/ada.md",
        "line": 1 + lines.index("- knows [[people/bruno]]"),
    }
    assert "it follows from other facts" in (
        synapse("retract", sample, "people/ada", "owns", "modules/payments", "--reason", "no").err
    )


def test_backlinks_are_previewed_written_once_and_removed_without_trace(ask: Command, vault: Path) -> None:
    before = {file: file.read_bytes() for file in vault.rglob("*.md")}
    planned = " ".join(ask("backlinks").out.split())
    assert "43 notes would be written with --write, 1 as they should be, 0 skipped;" in planned
    assert {file: file.read_bytes() for file in before} == before
    written = ask("backlinks", "--write", "--json").json
    assert list(written)[1:4] == ["written", "unchanged", "skipped"]
    assert (len(written["written"]), written["unchanged"], written["skipped"]) == (43, 1, [])
    assert ask("backlinks", "--write", "--json").json["written"] == []
    assert ask("check").out == "Graph, catalogue, journal and files agree.\n"
    assert "The section was taken out of 43 notes" in ask("backlinks", "--remove").out
    assert {file: file.read_bytes() for file in before} == before


def test_the_backlinks_policy_is_kept(ask: Command) -> None:
    assert ask("backlinks", "--json").json["policy"] == "ask"
    for policy in ("off", "write", "ask"):
        assert ask("backlinks", "--policy", policy, "--json").json["policy"] == policy
        assert ask("backlinks", "--json").json["policy"] == policy


def test_check_finds_and_repairs(ask: Command, vault: Path) -> None:
    assert ask("check", "--json").json == {"ok": True, "findings": [], "repaired": False}
    note = vault / "people" / "ada.md"
    note.write_bytes(note.read_bytes() + b"\nlikes:: [[people/bruno]]\n")
    found = ask("check", "--json", status=1).json
    assert not found["ok"] and [f["where"] for f in found["findings"]] == ["people/ada.md"]
    assert "not-indexed: people/ada.md\n" in ask("check", status=1).out
    assert ask("check", "--repair").out.endswith("1 finding. All mended.\n")
    assert ask("check").status == 0


def test_rebuilding_gives_the_same_facts_in_a_new_epoch(ask: Command) -> None:
    ask("assert", *FOAF_KNOWS, *WHY)
    before = ask("status", "--json").json
    rebuilt = ask("rebuild", "--json").json
    assert {key: rebuilt[key] for key in ("notes", "facts", "inferred")} == {
        key: before[key] for key in ("notes", "facts", "inferred")
    }
    assert rebuilt["revision"].split("-")[0] != before["revision"].split("-")[0]


def test_scenarios_are_listed_added_and_removed(synapse: Command, vault: Path) -> None:
    def states(*arguments: str | Path) -> dict[str, str]:
        found = synapse("scenarios", *arguments, "--json")
        assert (found.status, found.err) == (0, "")
        assert all({"name", "version", "triples", "state"} <= item.keys() for item in found.json)
        return {item["name"]: item["state"] for item in found.json}

    core = {"core": "installed", "kthulu": "available", "research-assistant": "available"}
    assert states("list", vault) == core
    assert states("add", vault, "kthulu") == {**core, "kthulu": "installed"}
    assert states("add", vault, "kthulu") == {**core, "kthulu": "installed"}
    assert states("remove", vault, "kthulu") == core
    assert synapse("check", vault).status == 0
    text = synapse("scenarios", "list", vault).out
    assert text.startswith("scenario            version  state      triples  about\n")
    assert max(map(len, text.splitlines())) <= 80
    unknown = synapse("scenarios", "add", vault, "xyzzy")
    assert unknown.status == 1
    assert unknown.err == (
        "synapse: There is no scenario 'xyzzy'. Known are core, kthulu, research-assistant.\n"
    )


@pytest.mark.parametrize("format", ["nquads", "trig", "turtle", "ntriples", "jsonld", "rdfxml"])
def test_an_export_says_how_many_quads_it_holds(
    synapse: Command, sample: Path, tmp_path: Path, format: str
) -> None:
    out = tmp_path / "out"
    found = synapse("export", sample, out, "--format", format, "--json")
    assert (found.status, found.err) == (0, "")
    assert found.json["quads"] >= 1448
    again = synapse("export", sample, out, "--format", format)
    assert again.out == f"{found.json['quads']:,} quads written to {out}.\n"
    printed = synapse("export", sample, "--format", format)
    assert printed.status == 0 and printed.out.encode() == out.read_bytes()


def test_an_export_to_a_place_that_is_not_there_says_so(synapse: Command, sample: Path) -> None:
    found = synapse("export", sample, sample / "no" / "such" / "out.nq")
    assert found.status == 1 and found.out == ""
    assert "out.nq" in found.err and found.err.count("\n") == 1


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "kind", "line"),
    [
        (["dossier", "people/zoe"], "unknown-entity", "There is no people/zoe. Search for it by its name."),
        (["dossier", "people/adda"], "unknown-entity", "There is no people/adda. Did you mean people/ada?"),
        (["impact", "payments"], "unknown-entity", "There is no payments. Did you mean modules/payments?"),
        (["impact", "modules/../x"], "invalid-id", "An id cannot have empty, '.' or '..' segments."),
        (["dossier", ""], "invalid-id", "The id is empty."),
        (["explain", "people/ada", "knows", "modules/ledger"], "not-holding", "Ada knows modules/ledger:"),
        (["query", "SELECT ?x { ?x }"], "invalid-query", "line 1, column 16: "),
        (["query", "SELECT ?x {\n SERVICE <http://a> {} }"], "refused-query", "line 2, column 2: SERVICE"),
        (["query", "LOAD <file:///etc/passwd>"], "refused-query", "line 1, column 1: LOAD"),
        (["query", "INSERT DATA { <a> <b> <c> }"], "refused-query", "line 1, column 1: "),
        (["retract", "01XYZ", "--reason", "r"], "not-found", "There is no assertion 01XYZ."),
        (["diagnostics", "no.md"], "not-found", "There is no note no.md."),
    ],
)
def test_an_error_is_one_line_and_in_json_one_object(
    synapse: Command, sample: Path, arguments: list[str], kind: str, line: str
) -> None:
    name, *rest = arguments
    found = synapse(name, sample, *rest)
    assert (found.status, found.out) == (1, "")
    assert found.err.startswith(f"synapse: {line}") and found.err.count("\n") == 1
    said = synapse(name, sample, *rest, "--json")
    assert said.status == 1 and said.err == found.err
    error = said.json["error"]
    assert error["kind"] == kind
    assert set(error) <= {"kind", "message", "hint", "path", "line", "column", "candidates"}
    assert ("candidates" in error) == (kind == "unknown-entity")
    assert (error.get("line") is not None) == line.startswith("line ")


def test_a_missing_vault_is_one_line(synapse: Command, tmp_path: Path) -> None:
    found = synapse("index", tmp_path / "nowhere")
    assert found.status == 1
    folder = tmp_path / "nowhere"
    assert found.err == f"synapse: There is no folder {folder}. Check the path, or mount the disk.\n"


def test_real_processes_answer_alike(process: Command, synapse: Command, vault: Path) -> None:
    asked = ("impact", vault, "modules/payments", "--json")
    assert process(*asked) == synapse(*asked)
    assert process("check", vault).status == 0
    assert process("dossier", vault, "people/zoe").status == 1
    assert process("dossier", vault).status == 2

"""What rows say about facts."""

from __future__ import annotations

from synapse.engine.questions.results import Dossier, Entity, Fact, Impact, Impacted, Source, Value
from synapse.window.facts import Mark, filtered, impact_rows, relation_rows
from synapse.window.facts.model import ROW_ROLE, RowsModel
from synapse.window.facts.rows import Row, fact_rows, mark_of


def entity(name, kind="note"):
    return Entity(name, f"vault:/{name}", name.title(), kind, f"{name}.md" if kind == "note" else None)


def relation(name):
    return Entity(f"urn:{name}", f"urn:{name}", name, "other")


def written(path, line, snippet="text"):
    return Source("note", f"vault:/{path}", path, path, line, 1, snippet)


def fact(subject, name, target, *sources, inferred=False):
    return Fact(subject, relation(name), target, inferred, sources)


ME = entity("me")


def test_a_fact_is_marked_by_who_alone_states_it():
    agent = Source("agent", "urn:a", "Claude", agent="Claude", reason="r")
    ontology = Source("ontology", "urn:o", "core/schema.ttl")
    note = written("x.md", 1)
    assert mark_of(fact(ME, "p", ME, inferred=True)) == Mark("inferred", "inferred")
    assert mark_of(fact(ME, "p", ME, agent)) == Mark("agent", "by Claude")
    assert mark_of(fact(ME, "p", ME, ontology)) == Mark("ontology", "core/schema.ttl")
    assert mark_of(fact(ME, "p", ME, note, agent)) is None


def test_within_a_relation_stated_facts_come_before_inferred_ones():
    facts = (
        fact(entity("a"), "knows", ME, inferred=True),
        fact(entity("b"), "knows", ME, written("b.md", 3)),
    )
    (section,) = relation_rows(Dossier(ME, (), (), (), facts, 2))
    (group,) = section.below()
    assert [row.text for row in group.below()] == ["B", "A"]


def test_a_backlink_opens_where_it_is_written_and_an_inferred_one_the_other_note():
    facts = (
        fact(entity("b"), "knows", ME, written("log/b.md", 3)),
        fact(entity("c"), "knows", ME, inferred=True),
    )
    rows = relation_rows(Dossier(ME, (), (), (), facts, 2))[0].below()[0].below()
    assert [row.opens for row in rows] == [("log/b.md", 3), ("c.md", None)]


def test_a_literal_opens_the_line_that_states_it_and_an_empty_one_is_visible():
    facts = (
        fact(ME, "age", Value("3", "xsd:integer"), written("me.md", 4)),
        fact(ME, "note", Value("", "xsd:string"), written("me.md", 5)),
    )
    rows = fact_rows(facts, ME)
    assert rows[0].opens == ("me.md", 4)
    (section,) = relation_rows(Dossier(ME, (), facts, (), (), 2))
    assert [row.text for row in section.below()] == ["age: 3", "note: "]


def test_labels_with_line_ends_and_directions_stay_one_line():
    (row,) = fact_rows([fact(Entity("a", "vault:/a", "two\nlines"), "knows", ME)], ME)
    assert row.text == "two lines knows Me"


def test_filtering_keeps_what_a_match_stands_in_and_counts_again():
    names = ("ann", "bob", "bert")
    facts = tuple(fact(entity(name), "knows", ME, written(f"{name}.md", 1)) for name in names)
    rows = filtered(relation_rows(Dossier(ME, (), (), (), facts, 3)), "B")
    assert [(row.text, row.count) for row in rows] == [("Backlinks", 2)]
    assert [row.text for row in rows[0].below()[0].below()] == ["Bob", "Bert"]
    assert filtered(rows, "  ") == tuple(rows)


def test_a_relation_that_matches_keeps_all_its_rows():
    facts = tuple(fact(entity(name), "knows", ME) for name in ("ann", "bob"))
    rows = filtered(relation_rows(Dossier(ME, (), (), (), facts, 2)), "knows")
    assert len(rows[0].below()[0].below()) == 2


def test_impact_shows_the_path_also_through_inverse_relations():
    near, far = entity("near"), entity("far")
    first = fact(ME, "used by", near, written("me.md", 2))
    second = fact(far, "depends on", near, inferred=True)
    rows = impact_rows(Impact(ME, (Impacted(near, 1, (first,)), Impacted(far, 2, (second, first))), 2))
    assert [row.text for row in rows] == ["1 step away", "2 steps away"]
    (there,) = rows[1].below()
    assert there.detail == "Far → Near → Me"
    assert there.mark == Mark("inferred", "inferred")
    assert rows[0].below()[0].fact == first


def test_the_model_makes_rows_only_when_asked(qtmodeltester):
    made = []

    def inside(depth: int) -> tuple[Row, ...]:
        made.append(depth)
        return tuple(Row("fact", f"{depth}.{n}", inside=lambda: inside(depth + 1)) for n in range(2))

    model = RowsModel()
    model.set_rows(inside(0))
    assert made == [0]
    first = model.index(0, 0)
    assert model.hasChildren(first)
    assert made == [0]
    assert model.rowCount(first) == 2
    assert made == [0, 1]
    assert model.index(1, 0, first).data(ROW_ROLE).text == "1.1"
    assert model.parent(model.index(1, 0, first)) == first


def test_the_model_keeps_qts_rules(qtmodeltester):
    model = RowsModel()
    leaf = Row("fact", "leaf")
    model.set_rows([Row("section", "s", count=2, inside=lambda: (leaf, leaf)), leaf])
    qtmodeltester.check(model)

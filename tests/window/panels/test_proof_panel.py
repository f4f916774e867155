"""From Why? to the line that a fact rests on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from synapse.engine import Agent, Engine, WrittenFact
from synapse.engine.questions.results import Fact
from synapse.window.facts import FactsView, Row
from synapse.window.facts.proof_rows import proof_rows
from synapse.window.proof_panel import ProofPanel
from synapse.window.session import Session
from synapse.window.theme import Theme

CHAIN = {
    "vocabulary.md": "---\ntype: ontology\n---\n# Vocabulary\n\n- transitive: part_of\n",
    **{
        f"n/{number}.md": f"# Part {number}\n\n[[part_of::n/{number + 1}]]\n"
        for number in range(8)
    },
    "n/8.md": "# Part 8\n",
}


@pytest.fixture
def panel(session: Session, theme: Theme, shown: Callable[..., ProofPanel]) -> ProofPanel:
    return shown(ProofPanel(session, theme))


def fact_of(engine: Engine, entity: str, wanted: Callable[[Fact], bool]) -> Fact:
    dossier = engine.dossier(entity)
    facts = (*dossier.incoming, *dossier.outgoing, *dossier.types, *dossier.attributes)
    return next(fact for fact in facts if wanted(fact))


def used_by_checkout(panel: ProofPanel) -> Fact:
    return fact_of(
        panel.session.engine,
        "modules/payments",
        lambda fact: fact.inferred and fact.object.label == "Checkout",
    )


def ask(panel: ProofPanel, qtbot: QtBot, fact: Fact) -> list[Row]:
    panel.session.proofRequested.emit(fact)
    qtbot.waitUntil(lambda: panel.sentence.text() == fact.sentence and not panel.showing_message)
    return panel.view.visible_rows()


def depth_of_view(view: FactsView) -> int:
    deepest, index = 0, view.model().index(0, 0)
    while index.isValid():
        level, above = 1, index.parent()
        while above.isValid():
            level, above = level + 1, above.parent()
        deepest = max(deepest, level)
        index = view.indexBelow(index)
    return deepest


def test_before_the_first_question_it_says_what_to_do(panel: ProofPanel) -> None:
    assert panel.showing_message == "Choose Why? beside a relation to see what it rests on."


def test_an_inferred_backlink_ends_in_notes_and_lines_that_open(panel: ProofPanel, qtbot: QtBot) -> None:
    rows = ask(panel, qtbot, used_by_checkout(panel))
    assert panel.verdict.text().startswith("Inferred because")
    places = {row.place.text for row in rows if row.place is not None}
    assert places == {"modules/checkout.md:6", "vocabulary.md:6"}
    leaf = next(row for row in rows if row.place and row.place.path == "modules/checkout.md")
    index = next(
        panel.view.model().index(n, 0)
        for n in range(panel.view.model().rowCount())
        if panel.view.row(panel.view.model().index(n, 0)) is leaf
    )
    with qtbot.waitSignal(panel.session.noteRequested) as asked:
        panel.view.act(index, "row")
    assert asked.args == ["modules/checkout.md", 6]


@pytest.mark.usefixtures("own_vault")
def test_a_stated_fact_shows_who_states_it_and_why(panel: ProofPanel, qtbot: QtBot) -> None:
    engine = panel.session.engine
    engine.assert_facts(
        [WrittenFact("people/ada", "maintains", "modules/payments")],
        source="standup of Monday",
        reason="She said so.",
        agent=Agent("Claude", "software", "claude-code", "2.0"),
    )
    rows = ask(panel, qtbot, fact_of(engine, "people/ada", lambda fact: fact.predicate.label == "maintains"))
    assert panel.verdict.text() == "Stated, by 2 sources."
    words = "\n".join(row.spoken for row in rows)
    assert "Written in people/ada.md, maintains: modules/payments · known since" in words
    assert "Stated by Claude" in words
    assert "She said so. (source: standup of Monday)" in words


@pytest.mark.usefixtures("own_vault")
def test_a_fact_that_has_gone_is_said_plainly_and_an_error_too(panel: ProofPanel, qtbot: QtBot) -> None:
    engine = panel.session.engine
    fact = fact_of(engine, "people/ada", lambda fact: fact.predicate.label == "maintains")
    ask(panel, qtbot, fact)
    (engine.vault / "people/ada.md").write_text("# Ada Lovelace\n", encoding="utf-8")
    panel.session.run(engine.index)
    qtbot.waitUntil(lambda: "holds no longer" in panel.showing_message)


def test_back_returns_to_the_fact_before(panel: ProofPanel, qtbot: QtBot) -> None:
    engine = panel.session.engine
    first = fact_of(engine, "people/ada", lambda fact: fact.predicate.label == "maintains")
    second = fact_of(engine, "modules/payments", lambda fact: fact.object.label == "Ledger")
    ask(panel, qtbot, first)
    assert not panel.back.isEnabled()
    ask(panel, qtbot, second)
    panel.back.click()
    qtbot.waitUntil(lambda: panel.sentence.text() == first.sentence)
    assert not panel.back.isEnabled()


def test_a_deep_proof_starts_folded_at_the_fourth_step_and_opens_to_the_leaves(
    make_engine: Callable[[dict[str, str]], Engine],
    make_session: Callable[[Engine], Session],
    theme: Theme,
    shown: Callable[..., ProofPanel],
    qtbot: QtBot,
) -> None:
    engine = make_engine(CHAIN)
    panel = shown(ProofPanel(make_session(engine), theme))
    fact = fact_of(engine, "n/0", lambda fact: fact.inferred and fact.object.label == "Part 8")
    ask(panel, qtbot, fact)
    assert depth_of_view(panel.view) <= 4
    panel.view.expandAll()
    leaves = {row.place.path for row in panel.view.visible_rows() if row.place is not None}
    assert leaves == {"vocabulary.md", *(f"n/{number}.md" for number in range(8))}


def test_a_premise_that_many_steps_share_is_not_written_out_at_once(
    make_engine: Callable[[dict[str, str]], Engine],
) -> None:
    engine = make_engine(CHAIN)
    fact = fact_of(engine, "n/0", lambda fact: fact.inferred and fact.object.label == "Part 8")
    proof = engine.explain(fact.subject, fact.predicate, fact.object)
    rows = proof_rows(proof)
    assert len(rows) == len(proof.premises)
    assert all(row.inside is None or callable(row.inside) for row in rows)


def test_the_proof_can_be_copied_as_text(panel: ProofPanel, qtbot: QtBot) -> None:
    ask(panel, qtbot, used_by_checkout(panel))
    panel.copy.click()
    text = QApplication.clipboard().text()
    assert text.startswith("Payments used by Checkout")
    assert "modules/checkout.md:6" in text

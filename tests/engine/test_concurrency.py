"""Questions beside writes: each answer is of one state of the vault, whatever the writer does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from synapse.engine import Engine, WrittenFact, answering
from synapse.engine.questions.results import Dossier

SECONDS = 3.0
NOTES = 12


def ring(number: int, other: str) -> str:
    """Each note says the same in two ways: `knows` (symmetric) and a plain relation."""
    relation = f"[[{other}]]"
    return f"---\ntype: Person\nknows: '{relation}'\n---\n# Note {number}\nsees:: {relation}\nword{number}\n"


class Readers:
    """Threads that ask until they are told to stop, and keep what went wrong."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.failures: list[BaseException] = []
        self.asked = 0
        self._threads: list[threading.Thread] = []

    def start(self, ask: Callable[[], None]) -> None:
        def run() -> None:
            while not self.stop.is_set():
                try:
                    ask()
                except BaseException as error:
                    self.failures.append(error)
                    self.stop.set()
                self.asked += 1

        self._threads.append(threading.Thread(target=run))
        self._threads[-1].start()

    def finish(self) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join(30)
            assert not thread.is_alive()
        if self.failures:
            raise self.failures[0]


def check_whole(answer: Dossier) -> None:
    """What the hub's dossier says is of one state: whoever knows it sees it, and is known by it."""
    relations = {
        word: {fact.subject.id for fact in answer.incoming if fact.predicate.label == word}
        for word in ("knows", "sees")
    }
    assert (
        relations["knows"]
        >= relations["sees"]
        == {fact.subject.id for fact in answer.incoming if fact.predicate.label == "sees" and fact.sources}
    )
    back = {fact.object.id for fact in answer.outgoing if fact.predicate.label == "knows"}
    assert back == relations["knows"]
    for fact in (*answer.types, *answer.attributes, *answer.outgoing, *answer.incoming):
        assert fact.inferred == (not fact.sources), "a fact without a source is an inferred one"
    total = len(answer.types) + len(answer.attributes) + len(answer.outgoing) + len(answer.incoming)
    assert total == answer.total


def write_for(engine: Engine, vault: Any, readers: Readers, seconds: float) -> int:
    """Writes of every kind until the time is up; how many."""
    count, until = 0, time.monotonic() + seconds
    while time.monotonic() < until and not readers.stop.is_set():
        number = count % NOTES
        path = f"people/{number}.md"
        if count % 4 == 0:
            vault.write(f"img {count % 8}.png", b"x" * count)
            vault.touch(path, ring(number, "people/hub" if count % 8 else "people/other"))
            engine.index()
        elif count % 4 == 1:
            content = ring(number, "people/hub").encode() + f"{count}\n".encode()
            engine.write_note(path, content, engine.read_file(path))
        elif count % 4 == 2:
            said = engine.assert_facts(
                [WrittenFact("agents/one", "knows", "people/hub")], source="test", reason="test"
            )
            engine.retract_facts(assertion=said.assertion, reason="over")
        else:
            (vault.folder / path).unlink()
            engine.index()
            vault.write(path, ring(number, "people/hub"))
            engine.index()
        count += 1
    return count


def test_answers_beside_writes_are_whole_and_none_fails(vault: Any) -> None:
    vault.write("people/hub.md", "---\ntype: Person\n---\n# Hub\n")
    for number in range(NOTES):
        vault.write(f"people/{number}.md", ring(number, "people/hub"))
    readers = Readers()
    with vault.open() as engine:
        engine.index()

        def dossiers() -> None:
            check_whole(engine.dossier("people/hub"))

        def walks() -> None:
            found = engine.neighbourhood("people/hub", depth=2)
            shown = {node.entity.iri for node in found.nodes}
            for edge in found.edges:
                assert {edge.subject.iri, edge.object.iri} <= shown  # type: ignore[union-attr]
                assert edge.inferred == (not edge.sources)

        def texts() -> None:
            for hit in engine.search("note").hits:
                assert hit.entity.kind == "note", hit
            text = engine.digest()
            assert f"# {engine.name}\n" in text
            both = engine.query(
                "SELECT ?a { ?a prop:sees <people/hub> FILTER NOT EXISTS { <people/hub> schema:knows ?a } }"
            )
            assert both.rows == ()  # type: ignore[union-attr]

        numbers: dict[str, set[tuple[int, int, int]]] = {}

        def statuses() -> None:
            found = engine.status()
            numbers.setdefault(found.revision, set()).add((found.notes, found.facts, found.inferred))
            engine.diagnostics()
            engine.resolve_link("people/hub", "people/1.md", "wikilink")
            engine.links_in("people/1.md", ring(1, "people/hub").encode())

        for ask in (dossiers, walks, texts, statuses):
            readers.start(ask)
        try:
            written = write_for(engine, vault, readers, SECONDS)
        finally:
            readers.finish()
        assert written > 4 and readers.asked > 8
        assert all(len(found) == 1 for found in numbers.values()), "one revision, one set of numbers"
        assert engine.check().ok


def test_questions_go_on_while_the_graph_is_made_anew(vault: Any) -> None:
    vault.write("people/hub.md", "# Hub\n")
    vault.write("people/1.md", ring(1, "people/hub"))
    readers = Readers()
    with vault.open() as engine:
        engine.index()
        readers.start(lambda: engine.query("SELECT ?s { ?s ?p ?o } LIMIT 5") and None)
        readers.start(lambda: engine.search("word1") and None)
        readers.start(lambda: engine.status() and None)
        try:
            for _ in range(3):
                engine.rebuild()
        finally:
            readers.finish()
        check_whole(engine.dossier("people/hub"))


def test_a_run_under_way_is_not_seen_before_it_is_written(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    with vault.open() as engine:
        before = engine.index()
        vault.write("b.md", "# Bee\n")
        vault.write("c.png", b"x")
        seen: list[Any] = []

        def progress(done: int, total: int) -> None:
            asked = threading.Thread(  # another thread, as the window's
                target=lambda: seen.append((engine.status(), engine.entity("b").kind, engine.identities))
            )
            asked.start()
            asked.join()

        engine.index(progress=progress)
        assert seen
        for status, kind, identities in seen:
            assert (status.revision, status.notes, kind) == (before.revision, 1, "unwritten")
            assert "c.png" not in identities.attachments
        assert (engine.status().notes, engine.entity("b").kind) == (2, "note")


def test_identities_once_taken_do_not_change(vault: Any) -> None:
    vault.write("img.png", b"x")
    with vault.open() as engine:
        engine.index()
        taken = engine.identities
        vault.delete("img.png")
        vault.write("a.md", "text\n")
        engine.index()
        assert taken.entity("img.png").value == "vault:/img%2Epng"
        assert engine.identities.entity("img.png").value == "vault:/img.png"


def test_a_line_is_found_again_when_the_link_on_it_means_another_file(vault: Any) -> None:
    vault.write("one.md", "text\n\n[[target]]\n")
    with vault.open() as engine:
        engine.index()
        (mention,) = engine.dossier("one").outgoing
        assert mention.sources[0].line == 3
        vault.write("deep/target.md", "here\n")
        engine.index()
        (mention,) = engine.dossier("one").outgoing
        assert (mention.object.id, mention.sources[0].line) == ("deep/target", 3)  # type: ignore[union-attr]


def test_a_question_on_the_writers_own_thread_is_answered(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    heard: list[Any] = []
    with vault.open() as engine:
        engine.subscribe(lambda changes: heard.append((engine.status().revision, str(changes.revision))))
        engine.index()
        assert heard and all(one == other for one, other in heard)


def test_a_digest_beside_writes_is_read_once_and_holds_none_of_them_up(
    vault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.write("people/hub.md", "# Hub\n")
    read = answering.digest
    readers: list[str] = []

    def slow(*arguments: Any) -> str:
        readers.append(threading.current_thread().name)
        fact = WrittenFact("people/p", "knows", "people/hub")
        said = threading.Thread(
            target=lambda: engine.assert_facts([fact], source="test", reason="test"), daemon=True
        )
        said.start()
        said.join(30)
        assert not said.is_alive(), "a write waits for the digest"
        return read(*arguments)

    monkeypatch.setattr(answering, "digest", slow)
    with vault.open() as engine:
        engine.index()
        assert f"# {engine.name}\n" in engine.digest()
        assert readers == [threading.current_thread().name]
        monkeypatch.undo()


def test_a_question_after_closing_says_so(vault: Any) -> None:
    from synapse.engine.errors import VaultUnavailable

    vault.write("a.md", "[[b]]\n")
    with vault.open() as engine:
        engine.index()
    for ask in (engine.status, engine.digest, lambda: engine.search("a"), lambda: engine.dossier("a")):
        with pytest.raises(VaultUnavailable):
            ask()

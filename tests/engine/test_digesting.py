"""The digest says what stands, and its file appears only where Synapse has a folder already."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from synapse.engine import Agent, WrittenFact, digesting
from synapse.engine.digesting import DigestWriter
from synapse.engine.errors import VaultUnavailable


def digest_file(vault: Any) -> Any:
    return vault.folder / ".synapse" / "DIGEST.md"


def test_a_vault_that_synapse_never_wrote_to_gets_no_digest(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    with vault.open() as engine:
        engine.index()
        assert engine.digest().startswith("# vault\n\n1 note, ")
    assert set(vault.bytes()) == {"a.md"}


def test_the_file_follows_the_graph_and_its_text_has_no_times(vault: Any) -> None:
    vault.write("a.md", "---\ntype: Person\n---\n[[b]] [[b]] [[c]]\n")
    with vault.open() as engine:
        engine.index()
        engine.assert_facts([WrittenFact("a", "knows", "b")], source="x", reason="x", agent=Agent("scout"))
        expected = engine.digest()
        assert "- b: 2 links\n- c: 1 link" in expected
        assert "- Person: 1" in expected
        assert "- a knows b" in expected
        assert "- b knows a" in expected
    assert digest_file(vault).read_text("utf-8") == expected
    before = digest_file(vault).stat().st_mtime_ns
    with vault.open() as engine:
        engine.index()
    assert digest_file(vault).stat().st_mtime_ns == before


def test_a_vault_that_closes_while_its_digest_is_made_still_gets_it_and_says_nothing(
    vault: Any, caplog: pytest.LogCaptureFixture
) -> None:
    (vault.folder / ".synapse").mkdir()
    begun, closing = threading.Event(), threading.Event()
    made: list[str] = []

    def make() -> str:
        made.append("")
        if len(made) == 1:
            begun.set()
            assert closing.wait(60)
            raise VaultUnavailable("The vault was closed.")
        return "# digest\n"

    writer = DigestWriter(vault.folder, make)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digesting, "EVERY", 0.0)
        writer.changed()
    assert begun.wait(60)
    ending = threading.Thread(target=writer.finish)
    ending.start()
    closing.set()
    ending.join(60)
    assert not ending.is_alive()
    assert digest_file(vault).read_text("utf-8") == "# digest\n"
    assert len(made) == 2 and not caplog.records


def test_text_of_others_forms_no_heading_or_link(vault: Any) -> None:
    vault.write("a.md", "---\ntitle: '# Not [[a]] heading'\n---\n[[x # y|z]] [[# h]]\n")
    with vault.open() as engine:
        engine.index()
        text = "\n# heading\n- [[link]] `code`"
        fact = WrittenFact("a", "says", text, "literal")
        engine.assert_facts([fact], source="x", reason="x", agent=Agent("scout"))
        lines = engine.digest().splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# vault", "## Learned", "## Linked and not yet written",
    ]  # fmt: skip
    assert '- \\# Not \\[\\[a\\]\\] heading says "\\# heading - \\[\\[link\\]\\] \\`code\\`"' in lines

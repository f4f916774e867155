"""The reader against Obsidian's own answers for the same notes.

`../shared/data/oracle` holds what Obsidian's metadata cache says about notes of the vault beside it.
Another dump of that form is scored with SYNAPSE_ORACLE=folder SYNAPSE_ORACLE_VAULT=folder. Each test
prints how many of Obsidian's answers are ours too; deliberate differences are listed with reasons.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from synapse.engine.notes.links import LinkResolver
from synapse.engine.notes.reading import Note, read_note
from synapse.engine.notes.stating import NoteFacts, state_note
from synapse.engine.terms import Identities, Words

DIFFERENCES = {
    (
        "How To/Find tasks in notes with particular tag.md",
        "extra ('Test Data/yaml_all_property_types_populated.md', 1)",
    ): "no dump of this note's text; a plain wikilink in a paragraph, written after the counts were taken",
}
"""(note, what) -> why it is read otherwise here."""


@dataclass(frozen=True)
class Answer:
    """Obsidian's answer for one note, and ours."""

    path: str
    cache: dict[str, Any]
    tags: list[str]
    destinations: dict[str, str | None]
    note: Note
    facts: NoteFacts


@dataclass(frozen=True)
class Oracle:
    folder: Path
    vault: Path
    resolver: LinkResolver
    answers: list[Answer]


@pytest.fixture(scope="module")
def oracle(shared_data: Callable[[str], Path]) -> Oracle:
    if "SYNAPSE_ORACLE" in os.environ:
        folder, vault = Path(os.environ["SYNAPSE_ORACLE"]), Path(os.environ["SYNAPSE_ORACLE_VAULT"])
    else:
        folder = shared_data("oracle")
        vault = shared_data("vaults/obsidian-tasks/resources/sample_vaults/Tasks-Demo")
    # A copy of the vault may lack the attachments that Obsidian saw and counted.
    seen = json.loads((folder / "resolvedLinks.json").read_text("utf-8")).values()
    attachments = {path for targets in seen for path in targets if not path.endswith(".md")}
    paths = sorted({*_vault_files(vault), *attachments})
    resolver = LinkResolver(paths)
    identities = Identities(attachments=frozenset(path for path in paths if not path.endswith(".md")))
    answers = []
    for file in sorted(folder.glob("*.json")):
        dump = json.loads(file.read_text("utf-8"))
        if "cachedMetadata" not in dump:
            continue
        path = dump["filePath"]
        # The dump's own text is what Obsidian read; the vault's file may have moved on since.
        note = read_note(path, dump["fileContents"].encode())
        facts = state_note(note, resolver, Words(), identities)
        tags = dump.get("getAllTags") or []
        answers.append(
            Answer(path, dump["cachedMetadata"], tags, dump.get("resolveLinkToPath") or {}, note, facts)
        )
    assert answers, f"no dumps in {folder}"
    return Oracle(folder, vault, resolver, answers)


def _vault_files(vault: Path) -> Iterator[str]:
    for file in vault.rglob("*"):
        relative = file.relative_to(vault)
        if file.is_file() and not any(part.startswith(".") for part in relative.parts):
            yield relative.as_posix()


class Score:
    """Compares two multisets per note and prints `n of m` for a kind."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.expected = self.agreed = 0
        self.different: list[str] = []

    def compare(self, path: str, theirs: list[Any], ours: list[Any]) -> None:
        left, right = Counter(map(repr, theirs)), Counter(map(repr, ours))
        self.expected += left.total()
        self.agreed += (left & right).total()
        for item in (left - right).elements():
            self._differ(path, f"missing {item}")
        for item in (right - left).elements():
            self._differ(path, f"extra {item}")

    def _differ(self, path: str, what: str) -> None:
        if (path, what) not in DIFFERENCES:
            self.different.append(f"{path}: {what}")

    def settle(self) -> None:
        print(f"\n{self.kind}: {self.agreed} of {self.expected}")
        assert self.expected, f"the dumps hold no {self.kind}"
        assert not self.different, "\n".join([f"{self.kind}, otherwise than Obsidian:", *self.different])


def _offsets(item: dict[str, Any]) -> tuple[int, int]:
    position = item["position"]
    return position["start"]["offset"], position["end"]["offset"]


def _utf_16(note: Note, start: int, end: int) -> tuple[int, int]:
    """Byte offsets as Obsidian's, which count UTF-16 units."""
    data = note.text.encode()
    return tuple(len(data[:offset].decode().encode("utf-16-le")) // 2 for offset in (start, end))  # type: ignore[return-value]


def _whole(target: str, anchor: str) -> str:
    return f"{target}#{anchor}" if anchor else target


def test_links_are_obsidians(oracle: Oracle) -> None:
    score = Score("links")
    for answer in oracle.answers:
        theirs = [(link["link"], *_offsets(link)) for link in answer.cache.get("links", ())]
        ours = [
            (_whole(link.target, link.anchor), *_utf_16(answer.note, link.span.start, link.span.end))
            for link in answer.note.links
            if link.kind in ("wikilink", "markdown")
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_what_links_show_is_obsidians(oracle: Oracle) -> None:
    score = Score("link texts")
    for answer in oracle.answers:
        theirs = [link["displayText"] for link in answer.cache.get("links", ()) if "displayText" in link]
        ours = [
            link.text or " > ".join(part for part in _whole(link.target, link.anchor).split("#") if part)
            for link in answer.note.links
            if link.kind in ("wikilink", "markdown")
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_embeds_are_obsidians(oracle: Oracle) -> None:
    score = Score("embeds")
    for answer in oracle.answers:
        theirs = [(link["link"], *_offsets(link)) for link in answer.cache.get("embeds", ())]
        ours = [
            (_whole(link.target, link.anchor), *_utf_16(answer.note, link.span.start, link.span.end))
            for link in answer.note.links
            if link.kind == "embed" and not link.target.startswith(("http:", "https:"))
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_frontmatter_links_are_obsidians(oracle: Oracle) -> None:
    score = Score("frontmatter links")
    for answer in oracle.answers:
        theirs = [(link["key"], link["link"]) for link in answer.cache.get("frontmatterLinks", ())]
        ours = [
            (link.relation, _whole(link.target, link.anchor))
            for link in answer.note.links
            if link.kind == "frontmatter"
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_tags_in_the_text_are_obsidians(oracle: Oracle) -> None:
    score = Score("tags in the text")
    for answer in oracle.answers:
        theirs = [(tag["tag"], *_offsets(tag)) for tag in answer.cache.get("tags", ())]
        ours = [
            (f"#{tag.name}", *_utf_16(answer.note, tag.span.start, tag.span.end))
            for tag in answer.note.tags
            if not tag.frontmatter
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_all_tags_are_obsidians(oracle: Oracle) -> None:
    score = Score("tags")
    for answer in oracle.answers:
        ours = sorted({f"#{tag.name}" for tag in answer.note.tags})
        score.compare(answer.path, sorted(set(answer.tags)), ours)
    score.settle()


def test_headings_are_obsidians(oracle: Oracle) -> None:
    score = Score("headings")
    for answer in oracle.answers:
        theirs = [
            (heading["level"], heading["heading"], *_offsets(heading))
            for heading in answer.cache.get("headings", ())
        ]
        ours = [
            (heading.level, heading.text, *_utf_16(answer.note, heading.span.start, heading.span.end))
            for heading in answer.note.headings
        ]
        score.compare(answer.path, theirs, ours)
    score.settle()


def test_block_ids_are_obsidians(oracle: Oracle) -> None:
    score = Score("block ids")
    for answer in oracle.answers:
        theirs = sorted(answer.cache.get("blocks", {}))
        score.compare(answer.path, theirs, sorted(block.id for block in answer.note.block_ids))
    score.settle()


def test_links_lead_where_obsidian_leads(oracle: Oracle) -> None:
    score = Score("destinations")
    for answer in oracle.answers:
        theirs = sorted((link, str(path)) for link, path in answer.destinations.items())
        ours = {
            (_whole(link.target_text, link.anchor), str(link.path))
            for link in answer.facts.links
            if link.kind in ("wikilink", "markdown", "frontmatter")
        }
        score.compare(answer.path, theirs, sorted(ours))
    score.settle()


def test_counts_of_resolved_and_unresolved_links_are_obsidians(oracle: Oracle) -> None:
    """Over every note that Obsidian counted, those without a dump read from the vault."""
    resolved, unresolved = (
        json.loads((oracle.folder / f"{name}.json").read_text("utf-8"))
        for name in ("resolvedLinks", "unresolvedLinks")
    )
    dumped = {answer.path: answer.facts for answer in oracle.answers}
    score, open_score = Score("resolved links"), Score("unresolved links")
    for path in sorted({*resolved, *unresolved}):
        facts = dumped.get(path)
        if facts is None:
            file = oracle.vault / path
            if not file.exists():
                continue
            facts = state_note(read_note(path, file.read_bytes()), oracle.resolver, Words(), Identities())
        links = [link for link in facts.links if link.kind != "url"]
        counts = Counter(link.path for link in links if link.path is not None)
        open_counts = Counter(link.target_text for link in links if link.path is None)
        score.compare(path, sorted(resolved.get(path, {}).items()), sorted(counts.items()))
        open_score.compare(path, sorted(unresolved.get(path, {}).items()), sorted(open_counts.items()))
    score.settle()
    open_score.settle()

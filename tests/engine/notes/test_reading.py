"""A note as read: title, headings, tags, links of every syntax, inline properties, places."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.notes.diagnostics import MOST
from synapse.engine.notes.reading import Note, read_note
from synapse.engine.notes.source import LARGEST_READ
from synapse.engine.notes.values import ScalarValue


def note(text: str, path: str = "people/bob.md") -> Note:
    return read_note(path, text.encode())


def tags(text: str) -> list[str]:
    return [tag.name for tag in note(text).tags]


def links(text: str) -> list[tuple[str, str, str, str]]:
    return [(link.kind, link.target, link.anchor, link.text) for link in note(text).links]


def related(text: str) -> list[tuple[str | None, str]]:
    return [(link.relation, link.target) for link in note(text).links]


def inline(text: str) -> list[tuple[str, str]]:
    return [
        (entry.key, entry.value.text) for entry in note(text).inline if isinstance(entry.value, ScalarValue)
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: Bob B.\n---\n# Heading\n", "Bob B."),
        ("---\ntitle: 2024\n---\n", "2024"),
        ("---\ntitle:\n---\n# Heading\n", "Heading"),
        ("## Two\n# **One** [[x|y]] `z`\n", "One y z"),
        ("Set\n===\n", "Set"),
        ("text\n", "bob"),
        ("```\n# code\n```\n", "bob"),
    ],
)
def test_the_title_is_the_property_else_the_first_heading_else_the_stem(text: str, title: str) -> None:
    assert note(text).title == title


def test_headings_keep_their_markup_and_place() -> None:
    text = "# A **b** #\n\ntext\n\n> ## In *quote*\n\nTwo\nlines\n---\n"
    found = note(text)
    assert [(item.level, item.text, item.plain, item.span.line) for item in found.headings] == [
        (1, "A **b**", "A b", 1),
        (2, "In *quote*", "In quote", 5),
        (2, "Two lines", "Two lines", 7),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#a #b/c #d-e_f", ["a", "b/c", "d-e_f"]),
        ("#1984 #y1984 #2024/05", ["y1984", "2024/05"]),
        ("a#b (#c) x/#d", []),
        ("# heading #tag", ["tag"]),
        ("**#bold** <br>#html", ["bold", "html"]),
        ("`#code` $#math$ <!-- #html --> [#text](x.md) [[x|#alias]]", []),
        ("```\n#fence\n```\n\n    #indented\n", []),
        ("#été #日本 #emoji😀", ["été", "日本", "emoji😀"]),
        (r"\#no \[#escaped \\#even", ["escaped", "even"]),
        ("#a,#b #c. #d!", ["a", "c", "d"]),
        ("| #cell | x |\n|---|---|\n| #row | y |", ["cell", "row"]),
        ("> #quoted\n\n- #item\n- [ ] #task", ["quoted", "item", "task"]),
        ("#\n\n##\n\n#/", []),
        ("---\ntags: [a, '#b', c/d, two words, 2024]\ntag: e\n---\n", ["a", "b", "c/d", "two words", "e"]),
        ("---\ntags: one\n---\n", ["one"]),
        ("---\ntags: a, b\n---\n", []),
    ],
)
def test_tags_are_read_where_obsidian_reads_them(text: str, expected: list[str]) -> None:
    assert tags(text) == expected


def test_a_list_of_tags_in_one_text_is_told_how_to_write_it() -> None:
    (problem,) = note("---\ntags: a, b\n---\n").diagnostics
    assert (problem.code, problem.line, problem.hint) == ("tag", 2, "Write a list of words: tags: [a, b].")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]]", [("wikilink", "a", "", "")]),
        ("[[ a b #h | t ]]", [("wikilink", "a b", "h", "t")]),
        ("[[a#h#s||t]]", [("wikilink", "a", "h#s", "|t")]),
        ("[[#^block]]", [("wikilink", "", "^block", "")]),
        ("| x |\n|---|\n| [[a\\|b]] |", [("wikilink", "a", "", "b")]),
        ("[[a [b] c]] [[[d]]]", [("wikilink", "a [b] c", "", ""), ("wikilink", "d", "", "")]),
        ("[t](b.md)", [("markdown", "b.md", "", "t")]),
        ("[t *u*](b%20c.md#d%20e)", [("markdown", "b c.md", "d e", "t u")]),
        ("[t](<b c.md>)", [("markdown", "b c.md", "", "t")]),
        ("[t](b%2523.md)", [("markdown", "b%23.md", "", "t")]),
        (
            "[t][r] [r] [r][]\n\n[r]: b.md",
            [("markdown", "b.md", "", "t")] + [("markdown", "b.md", "", "r")] * 2,
        ),
        ("![[i.png|100]] ![a](j.png)", [("embed", "i.png", "", "100"), ("embed", "j.png", "", "a")]),
        ("[![a](i.png)](b.md)", [("markdown", "b.md", "", "a"), ("embed", "i.png", "", "a")]),
        (
            "[t](https://x.y/z#f) <https://q.r>",
            [("url", "https://x.y/z#f", "", "t"), ("url", "https://q.r", "", "https://q.r")],
        ),
        ("<a@b.c> [[https://x.y]]", [("url", "mailto:a@b.c", "", "a@b.c"), ("url", "https://x.y", "", "")]),
        ("[t]() []() [[]] [[ ]]", []),
        ("`[[a]]` $[[b]]$ <!-- [[c]] -->\n\n```\n[[d]]\n```\n\n    [[e]]\n", []),
        ("<div>\n[[a]]\n</div>\n\n<!--\n[[b]]\n-->\n\n$$\n[[c]]\n$$\n", []),
        ("%% [[a]] %%\n\n%%\n[[b]]\n%%\n", [("wikilink", "a", "", ""), ("wikilink", "b", "", "")]),
        ("[[a\nb]]", []),
        ("\\[[a]] \\[\\[b\\]\\]", []),
        ("x[^1]\n\n[^1]: see [[a]]\n", [("wikilink", "a", "", "")]),
        ("> [!note] [[a]]\n> [[b]]", [("wikilink", "a", "", ""), ("wikilink", "b", "", "")]),
        ("[[\u00e4\u00a0b]]", [("wikilink", "\u00e4 b", "", "")]),
    ],
)
def test_links_are_read_and_what_only_looks_like_one_is_not(
    text: str, expected: list[tuple[str, str, str, str]]
) -> None:
    assert links(text) == expected


def test_spans_of_links_tags_and_blocks_are_what_stands_in_the_file() -> None:
    data = "\ufeff---\nk: [[ä]]\n---\r\n> ä [[b|c]] #dé\n\nend \U0001f600 [t](u.md) ^id\n".encode()
    found = read_note("a.md", data)
    spans = [item.span for item in (*found.links, *found.tags, *found.block_ids)]
    assert [data[span.start : span.end].decode() for span in spans] == [
        "[[ä]]",
        "[[b|c]]",
        "[t](u.md)",
        "#dé",
        "^id",
    ]
    assert [(span.line, span.column) for span in spans] == [(2, 4), (4, 5), (6, 7), (4, 13), (6, 17)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rel:: [[a]]", [("rel", "a")]),
        (
            "works for:: [[a]], [[b|c]] and [d](e.md)",
            [("works for", "a"), ("works for", "b"), ("works for", "e.md")],
        ),
        ("- rel:: [[a]]\n- [ ] rel2:: [[b]]\n> rel3:: [[c]]", [("rel", "a"), ("rel2", "b"), ("rel3", "c")]),
        ("See [rel:: [[a]]] and (rel2:: [[b]]).", [("rel", "a"), ("rel2", "b")]),
        ("**rel**:: [[a]]", [("rel", "a")]),
        ("schema:knows:: [[a]]", [("schema:knows", "a")]),
        ("rel:: see [[a]]", [(None, "a")]),
        ('[t](/x.md "rel:depends_on")', [("depends_on", "/x.md")]),
        ('[t](/x.md "a title")', [(None, "/x.md")]),
        ("[[rel::a]] [[rel:b]]", [(None, "rel::a"), (None, "rel:b")]),
        (
            "## Relations\n- depends on [[a]], [[b]]\n- [[c]]\n- uses: [t](d.md)",
            [("depends on", "a"), ("depends on", "b"), (None, "c"), ("uses", "d.md")],
        ),
        ("## Relations\n- knows [[a]] who knows [[b]]", [("knows", "a"), (None, "b")]),
        ("## Relations\n### More\n- rel [[a]]\n## Other\n- rel [[b]]", [("rel", "a"), (None, "b")]),
        ("## Relations\nrel [[a]]", [(None, "a")]),
        ("- rel [[a]]", [(None, "a")]),
    ],
)
def test_a_relation_is_read_from_each_syntax(text: str, expected: list[tuple[str | None, str]]) -> None:
    assert related(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("key:: value", [("key", "value")]),
        ("a [key:: value] b (other:: 2)", [("key", "value"), ("other", "2")]),
        ("- item\n  key:: value\n- [due:: 2024-01-02]", [("key", "value"), ("due", "2024-01-02")]),
        ("key:: a [b] (c) d", [("key", "a [b] (c) d")]),
        ('key:: "12"', [("key", "12")]),
        ("[key:: (a [b] c)]", [("key", "(a [b] c)")]),
        ("std::vector is nice, [std::map] too", []),
        ("`key:: value` and `[k:: v]`", []),
        ("```\nkey:: value\n```\n", []),
        ("$key:: value$", []),
        ("key::", []),
        ("12:: 13", []),
        ("über uns:: ja", [("über uns", "ja")]),
    ],
)
def test_inline_properties_are_dataviews(text: str, expected: list[tuple[str, str]]) -> None:
    assert inline(text) == expected


def test_block_ids_end_a_block() -> None:
    text = "para ^one\n\n- item ^two\n  - inner ^three\n\nnot ^here though\n\nx^y\n\n`^code`\n"
    assert [item.id for item in note(text).block_ids] == ["one", "two", "three"]


def test_axioms_are_read_in_ontology_notes_only() -> None:
    body = "- subclass_of: Dog -> Animal\ntransitive: part_of\n\nNo axiom: here\n"
    text = "---\ntype: ontology\ninverse_of: [a -> b]\n---\n" + body
    assert [(item.word, item.text) for item in note(text).axioms] == [
        ("inverse_of", "a -> b"),
        ("subclass_of", "Dog -> Animal"),
        ("transitive", "part_of"),
    ]
    assert note(body).axioms == ()


def test_the_generated_section_is_not_read_and_places_after_it_hold() -> None:
    section = "<!-- synapse:backlinks -->\n## Backlinks\n- [[x]] knows this\n<!-- /synapse:backlinks -->\n"
    data = f"# T\n\nsee [[a]]\n\n{section}\n[[b]] #tag\n".encode()
    found = read_note("a.md", data)
    assert [link.target for link in found.links] == ["a", "b"]
    assert "Backlinks" not in found.text
    assert [item.text for item in found.headings] == ["T"]
    span = found.links[1].span
    assert data[span.start : span.end] == b"[[b]]"
    assert span.line == data[: span.start].count(b"\n") + 1


def test_bytes_that_are_not_utf_8_are_replaced_and_places_hold() -> None:
    data = b"caf\xe9 \xff\xfe [[a\xe9b]] #t\n\0 [[c]]\n"
    found = read_note("a.md", data)
    assert [link.target for link in found.links] == ["a\ufffdb", "c"]
    assert [data[link.span.start : link.span.end] for link in found.links] == [b"[[a\xe9b]]", b"[[c]]"]
    assert {item.code for item in found.diagnostics} == {"not-utf-8", "nul"}


def test_a_utf_16_file_is_told_and_not_read() -> None:
    found = read_note("a.md", "# Title\n[[b]]".encode("utf-16"))
    assert (found.title, found.links) == ("a", ())
    assert [item.code for item in found.diagnostics] == ["utf-16"]


@pytest.mark.parametrize(
    ("uri", "kept"),
    [
        ("https://example.org/bob", True),
        ("urn:isbn:123", True),
        ("bob", False),
        ("vault:/x", False),
        ("urn:synapse:prop:x", False),
        ("http://[x", False),
        ("http://a b", False),
    ],
)
def test_a_uri_is_an_absolute_iri_that_is_not_ours(uri: str, kept: bool) -> None:
    found = note(f'---\nuri: "{uri}"\n---\n')
    assert found.uri == (uri if kept else None)
    assert [item.code for item in found.diagnostics] == ([] if kept else ["uri"])


def test_a_body_over_the_limit_keeps_its_frontmatter_and_text() -> None:
    found = note("---\ntitle: Big\n---\n" + "[[a]] " * (LARGEST_READ // 6 + 1))
    assert (found.title, found.links) == ("Big", ())
    assert [item.code for item in found.diagnostics] == ["body-too-large"]
    assert len(found.body) > LARGEST_READ


def test_a_note_with_countless_problems_lists_some_and_says_so() -> None:
    found = note("---\n" + "a: 1\n" * 2000 + "---\n").diagnostics
    assert len(found) == MOST + 1
    assert sum(item.code == "more" for item in found) == 1


@pytest.mark.parametrize("size", [1_000, LARGEST_READ + 1])
def test_bytes_that_are_not_text_are_replaced_at_any_size(size: int) -> None:
    found = read_note("a.md", b"---\nk: \xff\n---\n" + b"\0\xfea" * (size // 3))
    assert found.frontmatter[0].value.span[:2] == (7, 8)
    assert set(found.body) == {"\ufffd", "a"}


HOSTILE: dict[str, Callable[[int], str]] = {
    "brackets": lambda n: "[" * n,
    "wikilinks": lambda n: "[[a]] " * (n // 6),
    "open wikilinks": lambda n: "[[a|" * (n // 4),
    "wide links on one line": lambda n: "[[é]] " * (n // 7),
    "tags": lambda n: "#é " * (n // 4),
    "quotes": lambda n: ">" * n,
    "properties": lambda n: "[k:: [[é]]] " * (n // 13),
    "open properties": lambda n: "(a:: " * (n // 5),
    "colons": lambda n: "a:: " * (n // 4),
    "blanks": lambda n: "k:: [[a]]" + " " * n + "x",
    "backslashes": lambda n: "\\" * (n // 2) + "#a " * (n // 6),
    "carets": lambda n: "^a " * (n // 3),
    "key words": lambda n: "[" + "a " * (n // 2) + ":: b]",
    "relations": lambda n: "## Relations\n- " + "rel [[a]] " * (n // 10),
    "relation words": lambda n: "## Relations\n- " + "rel " * (n // 4) + "[[a]]",
    "yaml lines": lambda n: "---\n" + "a: b: c\n" * (n // 8) + "---\n",
    "yaml list": lambda n: "---\na:\n" + "  - b: c: d\n" * (n // 12) + "---\n",
    "yaml wide": lambda n: "---\n" + "é: [ü]\n" * (n // 9) + "---\n",
    "yaml depth": lambda n: (
        "---\n" + "".join(" " * i + "a: b: c\n" for i in range(int((2 * n) ** 0.5))) + "---\n"
    ),
    "dashes": lambda n: "---\n" + "--- x\n" * (n // 6),
    "headings": lambda n: "# a\n" * (n // 4),
    "table": lambda n: "|a" * (n // 6) + "\n" + "|-" * (n // 6) + "\n" + "|[[b]]" * (n // 18),
    "invalid": lambda n: "\udcff" * n,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_time_is_linear_in_hostile_text(name: str) -> None:
    def seconds(size: int) -> float:
        data = HOSTILE[name](size).encode("utf-8", "surrogateescape")
        best = 60.0
        for _ in range(4):
            start = time.thread_time()
            read_note("a.md", data)
            best = min(best, time.thread_time() - start)
        return best

    # Four times the text: linear takes 4 times as long, quadratic 16.
    small, large = seconds(20_000), seconds(80_000)
    assert large < 10 * small + 0.05


@given(st.binary(max_size=400))
def test_any_bytes_are_a_note(data: bytes) -> None:
    check_spans(data)


ALPHABET = st.sampled_from(
    [
        *"ab:[]()|#^!<>-*_`$%\\/\"'{}&,.~ \t\n\r\0é\u2028\U0001f600\ufeff0129",
        "---\n",
        "[[",
        "]]",
        "::",
        "\n- ",
    ]
)


@given(st.lists(ALPHABET, max_size=60).map("".join), st.booleans())
def test_any_text_is_a_note(text: str, frontmatter: bool) -> None:
    check_spans((f"---\n{text}" if frontmatter else text).encode())


@given(st.text(max_size=100))
def test_any_path_names_a_note(path: str) -> None:
    assert isinstance(read_note(path, b"x").title, str)


def check_spans(data: bytes) -> None:
    """Every span lies in the file, in order, and at the line that it gives."""
    found = read_note("a.md", data)
    found.text.encode()  # valid Unicode
    items = [*found.headings, *found.links, *found.tags, *found.block_ids, *found.inline, *found.frontmatter]
    lines = data.splitlines(keepends=True)
    for item in items:
        span = item.span
        assert 0 <= span.start <= span.end <= len(data)
        assert span.line >= 1 and span.column >= 1
        assert sum(map(len, lines[: span.line - 1])) <= max(span.start, 0)
    for link in found.links:
        if link.kind in ("wikilink", "embed") and link.syntax == "wikilink":
            raw = data[link.span.start : link.span.end]
            assert raw.startswith((b"[[", b"![[")) and raw.endswith(b"]]")


def test_every_vault_and_bundle_is_read(shared_data: Callable[[str], Path]) -> None:
    files = [file for name in ("vaults", "okf") for file in shared_data(name).rglob("*.md")]
    notes = [read_note(file.name, file.read_bytes()) for file in files]
    rejected = [
        found for found in notes if {item.code for item in found.diagnostics} & {"yaml", "yaml-placeholder"}
    ]
    assert len(rejected) == 37  # those that a strict parser rejects, each with a diagnostic
    assert all(found.frontmatter for found in rejected)

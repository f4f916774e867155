"""Links resolve as in Obsidian: by place, by the note's folder, by the shortest end, whatever the case."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.notes.links import LinkResolver, path_key, target_keys
from synapse.engine.notes.syntax import Syntax

VAULT = [
    "index.md",
    "people/bob.md",
    "people/alice.md",
    "team/people/bob.md",
    "projects/apollo/plan.md",
    "projects/apollo/notes/plan.md",
    "archive/plan.md",
    "Foo.md",
    "deep/er/foo.md",
    "deep/er/README.md",
    "img.png",
    "img.png.md",
    "assets/a b.png",
    "bob.md.md",
    "x/same.md",
    "y/same.md",
    "caf\u00e9.md",
    "dir/index.md",
]


@pytest.fixture(scope="module")
def vault() -> LinkResolver:
    return LinkResolver(VAULT)


@pytest.mark.parametrize(
    ("target", "origin", "expected"),
    [
        ("people/bob", "index.md", "people/bob.md"),
        ("people/bob.md", "index.md", "people/bob.md"),
        ("/people/bob", "x/same.md", "people/bob.md"),
        ("bob", "index.md", "people/bob.md"),
        ("bob", "team/people/other.md", "team/people/bob.md"),
        ("./bob", "team/people/other.md", "team/people/bob.md"),
        ("../people/bob", "projects/x.md", "people/bob.md"),
        ("../../../../people/bob", "projects/x.md", "people/bob.md"),
        ("plan", "index.md", "archive/plan.md"),
        ("plan", "projects/apollo/x.md", "projects/apollo/plan.md"),
        ("apollo/plan", "index.md", "projects/apollo/plan.md"),
        ("ollo/plan", "index.md", None),
        ("PEOPLE/BOB", "index.md", "people/bob.md"),
        ("foo", "index.md", "Foo.md"),
        ("readme", "index.md", "deep/er/README.md"),
        ("img.png", "x/same.md", "img.png"),
        ("img.png.md", "x/same.md", "img.png.md"),
        ("a b.png", "index.md", "assets/a b.png"),
        ("bob.md", "index.md", "people/bob.md"),
        ("bob.md.md", "index.md", "bob.md.md"),
        ("cafe\u0301", "index.md", "caf\u00e9.md"),
        ("", "people/bob.md", "people/bob.md"),
        ("nobody", "people/bob.md", None),
    ],
)
def test_a_wikilink_means(vault: LinkResolver, target: str, origin: str, expected: str | None) -> None:
    assert vault.resolve(target, origin).path == expected


@pytest.mark.parametrize(
    ("target", "origin", "expected"),
    [
        ("bob.md", "people/alice.md", "people/bob.md"),
        ("bob", "people/alice.md", "people/bob.md"),
        ("../people/bob.md", "projects/x.md", "people/bob.md"),
        ("people/bob.md", "people/alice.md", "people/bob.md"),
        ("people/bob.md", "team/x.md", "team/people/bob.md"),
        ("/people/bob.md", "team/x.md", "people/bob.md"),
        ("apollo/plan.md", "people/alice.md", "projects/apollo/plan.md"),
        ("/apollo/plan.md", "people/alice.md", "projects/apollo/plan.md"),
        ("../nowhere/bob.md", "people/alice.md", None),
        ("./plan.md", "people/alice.md", None),
        ("dir/", "index.md", "dir/index.md"),
        ("../dir/", "people/alice.md", "dir/index.md"),
    ],
)
def test_a_markdown_link_means(vault: LinkResolver, target: str, origin: str, expected: str | None) -> None:
    assert vault.resolve(target, origin, "markdown").path == expected


@pytest.mark.parametrize(
    ("target", "kind", "entity"),
    [
        ("new", "wikilink", "new"),
        ("a/new", "wikilink", "a/new"),
        ("./new", "wikilink", "people/new"),
        ("new.md", "markdown", "people/new"),
        ("../new.md", "markdown", "new"),
        ("/new.md", "markdown", "new"),
        ("a//b/./c/../new", "wikilink", "a/b/new"),
        ("cafe\u0301 x", "wikilink", "caf\u00e9 x"),
        ("/", "wikilink", ""),
    ],
)
def test_an_unwritten_note_has_an_id(vault: LinkResolver, target: str, kind: Syntax, entity: str) -> None:
    found = vault.resolve(target, "people/bob.md", kind)
    assert (found.path, found.entity_id) == (None, entity)


def test_equal_candidates_are_named_and_the_first_is_taken(vault: LinkResolver) -> None:
    found = vault.resolve("same", "index.md")
    assert (found.path, found.ambiguous) == ("x/same.md", ("y/same.md",))
    assert vault.resolve("same", "y/other.md").ambiguous == ()
    assert vault.resolve("bob", "index.md").ambiguous == ()  # one is shorter


def test_exact_case_is_preferred_among_places_of_one_kind() -> None:
    vault = LinkResolver(["a/foo.md", "bb/Foo.md", "c/FOO.md", "Bar.md", "bar.md"])
    assert vault.resolve("Foo", "x.md").path == "bb/Foo.md"
    assert vault.resolve("bar", "x.md").path == "bar.md"
    found = vault.resolve("BAR", "x.md")
    assert (found.path, found.ambiguous) == ("Bar.md", ("bar.md",))


def test_a_file_that_is_removed_is_no_longer_found() -> None:
    vault = LinkResolver(["a/x.md", "x.md"])
    vault.remove("x.md")
    vault.remove("never.md")
    assert vault.resolve("x", "b.md").path == "a/x.md"
    vault.remove("a/x.md")
    assert vault.resolve("x", "b.md").path is None
    assert len(vault) == 0


def test_a_path_from_the_root_is_exact(vault: LinkResolver) -> None:
    assert vault.from_root("people/bob") == vault.from_root("/people/bob.md") == "people/bob.md"
    assert vault.from_root("bob") is None
    assert vault.from_root("assets/a b.png") == "assets/a b.png"


NAMES = st.sampled_from(["a", "B", "b", "c.md", "img.png", "\u00e9", "e\u0301", "x y", ".", "..", ""])
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


def is_file(path: str) -> bool:
    return all(segment not in ("", ".", "..") for segment in path.split("/"))


@given(st.lists(PATHS.filter(is_file).map(lambda path: path + ".md"), max_size=8), PATHS, PATHS, st.data())
def test_the_order_of_adding_does_not_matter_and_keys_find_what_changes(
    paths: list[str], target: str, folder: str, data: st.DataObject
) -> None:
    paths = list({unicodedata.normalize("NFC", path): path for path in paths}.values())
    for kind in ("wikilink", "markdown"):
        syntax: Syntax = "wikilink" if kind == "wikilink" else "markdown"
        origin = f"{folder}/note.md"
        found = LinkResolver(paths).resolve(target, origin, syntax)
        shuffled = data.draw(st.permutations(paths))
        assert LinkResolver(shuffled).resolve(target, origin, syntax) == found
        if found.path is not None:
            assert found.path in paths
            if target.strip("/.") and not target.endswith("/"):
                # What the catalogue looks up when that file comes or goes.
                last = target.split("/")[-1]
                assert last in ("", ".", "..") or path_key(found.path) in target_keys(target)

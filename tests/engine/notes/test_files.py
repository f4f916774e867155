"""Scanning names every file once, says what it left out, and hashes see only what a reader sees."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from synapse.engine.errors import FileUnreadable, VaultUnavailable
from synapse.engine.notes.backlinks import section_problem, with_section
from synapse.engine.notes.files import (
    Ignore,
    content_hash,
    file_kind,
    look,
    read_bytes,
    remove_leftovers,
    scan,
)


def make(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"x")


def names(root: Path, *ignore: str) -> list[str]:
    return [entry.path for entry in scan(root, ignore).files]


def codes(root: Path) -> dict[str, str]:
    return {problem.path: problem.code for problem in scan(root).diagnostics}


def test_files_come_in_order_with_size_time_and_kind(tmp_path: Path) -> None:
    make(tmp_path, "b.md", "a/z.MD", "a.ttl", "img/p.png", "no suffix")
    found = scan(tmp_path)
    assert [(f.path, f.kind) for f in found.files] == [
        ("a.ttl", "rdf"),
        ("a/z.MD", "note"),
        ("b.md", "note"),
        ("img/p.png", "attachment"),
        ("no suffix", "attachment"),
    ]
    status = (tmp_path / "b.md").stat()
    assert (found.files[2].size, found.files[2].mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert found.diagnostics == () and found.unread == ()


@pytest.mark.parametrize("suffix", ["ttl", "nt", "nq", "trig", "rdf", "owl", "jsonld", "TTL"])
def test_rdf_files_are_told_by_their_suffix(suffix: str) -> None:
    assert file_kind(f"data/x.{suffix}") == "rdf"


def test_dot_folders_and_dot_files_are_no_part_of_the_vault(tmp_path: Path) -> None:
    make(
        tmp_path,
        ".git/a.md",
        ".obsidian/b.md",
        ".synapse/c.md",
        ".trash/d.md",
        "x/.hidden/e.md",
        ".f.md",
        "g.md",
    )
    assert names(tmp_path) == ["g.md"]


def test_ignore_patterns_name_files_folders_and_paths(tmp_path: Path) -> None:
    make(tmp_path, "templates/t.md", "deep/templates/t.md", "a.draft.md", "in/x.md", "in/y/z.md", "keep.md")
    assert names(tmp_path, "templates/", "*.draft.md", "in/**") == ["keep.md"]
    assert names(tmp_path, "/templates") == [
        "a.draft.md",
        "deep/templates/t.md",
        "in/x.md",
        "in/y/z.md",
        "keep.md",
    ]
    assert names(tmp_path, "in/*.md", "*/templates/", "templates", "keep.md/") == [
        "a.draft.md",
        "in/y/z.md",
        "keep.md",
    ]
    assert names(tmp_path, "", "  ", "/") == names(tmp_path)


def test_a_pattern_covers_what_is_below_an_ignored_folder() -> None:
    ignore = Ignore(["templates/", "**/old/*.md"])
    assert ignore.covers("a/templates/b/c.md")
    assert ignore.covers("a/b/old/c.md") and ignore.covers("old/c.md")
    assert not ignore.covers("templates") and not ignore.covers("a/old/b/c.md")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links_are_followed_only_to_files_of_the_vault(tmp_path: Path) -> None:
    vault, outside = tmp_path / "vault", tmp_path / "outside"
    make(vault, "a.md", "folder/b.md")
    make(outside, "secret.md")
    (vault / "link.md").symlink_to("a.md")
    (vault / "escape.md").symlink_to(outside / "secret.md")
    (vault / "escape").symlink_to(outside)
    (vault / "broken.md").symlink_to("nothing.md")
    (vault / "self.md").symlink_to("self.md")
    (vault / "folder" / "up").symlink_to("..")
    (vault / "folder" / "here").symlink_to(".")
    (vault / "again").symlink_to("folder")
    assert names(vault) == ["a.md", "folder/b.md", "link.md"]
    assert codes(vault) == {
        "again": "symlink-inside",
        "broken.md": "broken-link",
        "escape": "symlink-outside",
        "escape.md": "symlink-outside",
        "folder/here": "symlink-loop",
        "folder/up": "symlink-loop",
        "self.md": "symlink-loop",
    }


def test_a_vault_whose_own_name_is_a_link_is_read(tmp_path: Path) -> None:
    make(tmp_path / "real", "a.md", "folder/b.md")
    (tmp_path / "real" / "up").symlink_to(tmp_path / "link")
    (tmp_path / "link").symlink_to("real")
    assert names(tmp_path / "link") == ["a.md", "folder/b.md"]
    assert codes(tmp_path / "link") == {"up": "symlink-loop"}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such a name")
def test_a_name_that_is_not_utf8_is_named_and_left_out(tmp_path: Path) -> None:
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md"))).write_bytes(b"x")
    make(tmp_path, "ok.md")
    assert names(tmp_path) == ["ok.md"]
    assert codes(tmp_path) == {"caf\\xe9.md": "name-not-utf8"}


def test_of_two_unicode_forms_of_one_name_one_is_read(tmp_path: Path) -> None:
    composed, decomposed = "caf\u00e9.md", unicodedata.normalize("NFD", "caf\u00e9.md")
    make(tmp_path, composed, decomposed)
    if len(list(tmp_path.iterdir())) == 1:
        pytest.skip("this file system keeps one form of a name")
    assert names(tmp_path) == [composed]
    assert codes(tmp_path) == {decomposed: "name-twice"}
    (tmp_path / composed).unlink()
    assert names(tmp_path) == [decomposed], "a single name is kept as on disk"


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes in folders there")
def test_pipes_and_sockets_are_named_and_never_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.md")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.md")
        assert names(tmp_path) == []
        assert codes(tmp_path) == {"pipe.md": "not-a-file", "socket.md": "not-a-file"}
    with pytest.raises(FileUnreadable, match="not a regular file"):
        read_bytes(tmp_path / "pipe.md")


def test_a_missing_vault_is_unavailable_not_empty(tmp_path: Path) -> None:
    with pytest.raises(VaultUnavailable, match="no folder"):
        scan(tmp_path / "missing")
    make(tmp_path, "file")
    with pytest.raises(VaultUnavailable):
        scan(tmp_path / "file")


def test_a_very_deep_folder_is_no_problem(tmp_path: Path) -> None:
    folders = [str(tmp_path)]
    for _ in range(1200):  # deeper than Python's recursion limit
        folders.append(folders[-1] + "/d")
        os.mkdir(folders[-1])
    try:
        make(Path(folders[-1]), "note.md")
        assert names(tmp_path) == ["d/" * 1200 + "note.md"]
    finally:
        os.unlink(folders[-1] + "/note.md")
        for folder in reversed(folders[1:]):
            os.rmdir(folder)


CHILD = """
import sys
from pathlib import Path
from synapse.engine.errors import SynapseError
from synapse.engine.notes.files import read_bytes, scan
found = scan(Path(sys.argv[1]))
print([f.path for f in found.files], found.unread, [(d.path, d.code) for d in found.diagnostics])
try:
    read_bytes(Path(sys.argv[1]) / "closed.md")
except SynapseError as error:
    print(error)
try:
    scan(Path(sys.argv[1]) / "closed")
except SynapseError as error:
    print(error)
"""


def test_what_may_not_be_read_is_named_and_marked_as_unread(tmp_path: Path, ordinary_user: list[str]) -> None:
    vault = tmp_path / "vault"
    make(vault, "a.md", "closed/b.md", "closed.md")
    (vault / "closed.md").chmod(0)
    (vault / "closed").chmod(0)
    answer = subprocess.run(
        [*ordinary_user, sys.executable, "-c", CHILD, str(vault)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    (vault / "closed").chmod(0o755)
    assert answer[0] == "['a.md', 'closed.md'] ('closed',) [('closed', 'unreadable')]"
    assert "closed.md may not be read. Check its permissions." in answer[1]
    assert "cannot be read" in answer[2]


def test_leftovers_of_killed_writes_are_found_and_only_old_ones_removed(tmp_path: Path) -> None:
    make(tmp_path, "x/.synapse-old.tmp", "x/.synapse-new.tmp", "x/.synapse-note.md", "x/a.md")
    os.utime(tmp_path / "x/.synapse-old.tmp", (0, 0))
    os.utime(tmp_path / "x/a.md", (0, 0))
    leftovers = scan(tmp_path).leftovers
    assert sorted(leftovers) == ["x/.synapse-new.tmp", "x/.synapse-old.tmp"]
    assert remove_leftovers(tmp_path, [*leftovers, "x/a.md", "gone/.synapse-x.tmp"]) == 1
    assert sorted(p.name for p in (tmp_path / "x").iterdir()) == [
        ".synapse-new.tmp",
        ".synapse-note.md",
        "a.md",
    ]


def test_reading_gives_the_bytes_or_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"\xff\r\n")
    assert read_bytes(tmp_path / "a.md") == b"\xff\r\n"
    with pytest.raises(FileUnreadable, match="does not exist") as raised:
        read_bytes(tmp_path / "b.md")
    assert raised.value.path == str(tmp_path / "b.md")
    with pytest.raises(FileUnreadable):
        read_bytes(tmp_path)


def test_scanning_while_files_come_and_go_never_fails(tmp_path: Path) -> None:
    make(tmp_path, "stays.md")
    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            make(tmp_path, "comes/goes.md")
            (tmp_path / "comes/goes.md").unlink()
            (tmp_path / "comes").rmdir()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(200):
            assert "stays.md" in names(tmp_path)
    finally:
        stop.set()
        thread.join()


def test_looking_at_one_path_agrees_with_the_scan(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    make(vault, "a.md", "folder/b.md", "drafts/c.md", ".hidden/d.md", ".e.md")
    make(tmp_path, "outside.md")
    (vault / "link.md").symlink_to("a.md")
    (vault / "escape.md").symlink_to("../outside.md")
    (vault / "again").symlink_to("folder")
    found = scan(vault, ["drafts/"])
    asked = [
        "a.md", "folder/b.md", "link.md", "drafts/c.md", ".hidden/d.md", ".e.md", "escape.md", "again/b.md",
        "folder", "missing.md", "../outside.md", "/a.md", "a.md/", "folder/../a.md", "./a.md", "",
        "\udce9.md",
    ]  # fmt: skip
    seen = [entry for entry in (look(vault, path, ["drafts/"]) for path in asked) if entry is not None]
    assert sorted(seen, key=lambda entry: entry.path) == list(found.files)


# --- hash ------------------------------------------------------------------------------------------


@given(
    st.lists(st.sampled_from(["word", "# head", "- x", "key:: value", "", "漢"]), max_size=6), st.booleans()
)
def test_the_generated_section_and_trailing_white_space_do_not_count(lines: list[str], final: bool) -> None:
    data = ("\n".join(lines) + ("\n" if final else "")).encode()
    spaced = b"\r\n".join(line + b" \t" for line in data.split(b"\n")) + b"\n\n"
    assert content_hash(spaced, "1") == content_hash(data, "1")
    if section_problem(data) is None:
        assert content_hash(with_section(data, ["- [[a]] knows this"]), "1") == content_hash(data, "1")


def test_everything_else_counts() -> None:
    seen = {
        content_hash(data, "1") for data in (b"a", b"b", b" a", b"a\n\nb", b"a\nb", b"a b", b"a\xc2\xa0", b"")
    }
    assert len(seen) == 8
    assert content_hash(b"a", "1") != content_hash(b"a", "2")
    assert content_hash(b"a", "1") == content_hash(b"a", "1")
    assert len(content_hash(b"a", "1")) == 64


def test_a_section_inside_the_note_does_not_count_either() -> None:
    section = with_section(b"", ["- [[a]] knows this"])
    assert content_hash(b"top\n" + section + b"below\n", "1") == content_hash(b"top\nbelow\n", "1")


def test_a_section_quoted_in_code_counts() -> None:
    one, two = (with_section(b"", [f"- [[{name}]] knows this"]) for name in "ab")
    assert content_hash(b"```\n" + one + b"```\n", "1") != content_hash(b"```\n" + two + b"```\n", "1")

"""Where vaults' data lie, who owns them, and how a new vault begins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synapse.engine import open_vault
from synapse.engine.errors import VaultLocked, VaultUnavailable, WriteFailed
from synapse.engine.settings import load_settings
from synapse.engine.vaults import (
    Ownership,
    checked_vault,
    create_sample_vault,
    create_vault,
    data_folder,
    first_vault,
    recent_vaults,
    remember_vault,
    this_device,
)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(f.relative_to(folder)): f.read_bytes() for f in sorted(folder.rglob("*")) if f.is_file()}


# -- data ------------------------------------------------------------------------------------------


def test_a_vault_reached_by_a_link_has_the_same_data(vault: Any, tmp_path: Path) -> None:
    vault.write("a.md", "[[b]]\n")
    link = tmp_path / "link"
    link.symlink_to(vault.folder)
    assert data_folder(link, vault.data) == data_folder(vault.folder, vault.data)
    assert data_folder(link / ".." / "vault", vault.data) == data_folder(vault.folder, vault.data)
    with vault.open() as engine:
        revision = engine.index().revision
        with pytest.raises(VaultLocked):
            open_vault(link, vault.data)
    with open_vault(link, vault.data) as engine:
        assert engine.status().revision == revision and engine.vault == vault.folder


def test_vaults_of_one_name_have_data_of_their_own(tmp_path: Path) -> None:
    folders = [tmp_path / name / "notes" for name in ("a", "b")]
    assert len({data_folder(folder, tmp_path) for folder in folders}) == 2
    assert not list(tmp_path.iterdir()), "nothing is made by asking"


def test_nothing_is_written_into_a_vault_that_is_only_read(vault: Any) -> None:
    vault.write("a.md", "[[b]]\n")
    before = contents(vault.folder)
    with vault.open() as engine:
        engine.index()
        engine.digest()
    assert contents(vault.folder) == before


def test_a_machine_keeps_its_device_id(tmp_path: Path) -> None:
    assert this_device(tmp_path) == this_device(tmp_path)
    assert this_device(tmp_path) != this_device(tmp_path / "other")


def test_a_vault_is_a_folder_that_is_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for wrong in ("missing", "file", "loop", "file/x"):
        with pytest.raises(VaultUnavailable):
            checked_vault(tmp_path / wrong)
    (tmp_path / "there").mkdir()
    assert checked_vault(tmp_path / "there" / ".." / "there") == (tmp_path / "there").resolve()


# -- ownership -------------------------------------------------------------------------------------


def test_the_second_owner_is_told_who_the_first_is(tmp_path: Path) -> None:
    first = Ownership(tmp_path, tmp_path / "data", "the window")
    with pytest.raises(VaultLocked, match=r"the window \(process \d+\)"):
        Ownership(tmp_path, tmp_path / "data", "another")
    first.release()
    second = Ownership(tmp_path, tmp_path / "data", "another")
    second.release()
    second.release()
    assert not (tmp_path / "data" / "owner.json").exists()


@pytest.mark.parametrize("note", ["", "{", "[]", "{}", '{"pid": 1}', "null"])
def test_an_owner_whose_note_cannot_be_read_is_another_process(tmp_path: Path, note: str) -> None:
    first = Ownership(tmp_path, tmp_path, "the window")
    (tmp_path / "owner.json").write_text(note)
    with pytest.raises(VaultLocked, match="another process"):
        Ownership(tmp_path, tmp_path, "another")
    first.release()


def test_a_vault_that_could_not_be_opened_is_nobodys(vault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    vault.write("a.md", "x\n")
    from synapse.engine import engine as module

    def fails(*_: object) -> None:
        raise VaultUnavailable("no")

    with monkeypatch.context() as patch:
        patch.setattr(module, "Engine", fails)
        with pytest.raises(VaultUnavailable):
            open_vault(vault.folder, vault.data)
    with vault.open() as engine:
        assert engine.index().notes == 1


# -- new vaults ------------------------------------------------------------------------------------


def test_a_new_vault_is_empty_and_gets_backlinks(tmp_path: Path) -> None:
    create_vault(tmp_path / "new" / "vault")
    assert list(contents(tmp_path / "new" / "vault")) == [".synapse/settings.json"]
    assert load_settings(tmp_path / "new" / "vault")[0].backlinks == "write"


@pytest.mark.parametrize("create", [create_vault, create_sample_vault])
@pytest.mark.parametrize("there", ["empty folder", "folder", "file", "link"])
def test_what_is_there_is_never_overwritten(tmp_path: Path, create: Any, there: str) -> None:
    target, other = tmp_path / "vault", tmp_path / "other"
    other.mkdir()
    if there == "file":
        target.write_text("precious")
    elif there == "link":
        target.symlink_to(other)
    else:
        target.mkdir()
        if there == "folder":
            (target / "index.md").write_text("precious")
    before = contents(tmp_path)
    with pytest.raises(WriteFailed):
        create(target)
    assert contents(tmp_path) == before


def test_the_sample_vault_is_a_copy_of_its_own(tmp_path: Path) -> None:
    create_sample_vault(tmp_path / "one")
    create_sample_vault(tmp_path / "two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) > 5
    for file in (tmp_path / "one").rglob("*.md"):
        file.write_text("mine")  # the copy is a person's, whatever the original's permissions are
        break


# -- recent vaults -----------------------------------------------------------------------------------


def test_the_last_opened_vault_comes_first_and_each_once(user_folder: Path, tmp_path: Path) -> None:
    vaults = [tmp_path / f"v{n}" for n in range(13)]
    for folder in vaults:
        folder.mkdir()
        remember_vault(folder)
    assert recent_vaults() == list(reversed(vaults))[:10]
    remember_vault(vaults[5])
    assert recent_vaults()[:2] == [vaults[5], vaults[12]]
    assert len(recent_vaults()) == 10


def test_vaults_that_are_gone_are_left_out(user_folder: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        remember_vault(tmp_path / name)
    (tmp_path / "b").rmdir()
    assert recent_vaults() == [tmp_path / "a"] and first_vault() == tmp_path / "a"


@pytest.mark.parametrize("content", ["", "{", "{}", "null", '[1, null, "/nowhere"]', "\ufeff[]", "\x00"])
def test_a_broken_list_of_vaults_is_an_empty_one(user_folder: Path, tmp_path: Path, content: str) -> None:
    remember_vault(tmp_path)
    (file,) = user_folder.rglob("vaults.json")
    file.write_text(content)
    assert recent_vaults() == []
    remember_vault(tmp_path)
    assert recent_vaults() == [tmp_path] and json.loads(file.read_text()) == [str(tmp_path)]


def test_the_first_vault_is_the_sample_and_is_made_once(user_folder: Path) -> None:
    folder = first_vault()
    assert (folder / ".synapse" / "settings.json").exists()
    (folder / "mine.md").write_text("precious")
    before = contents(folder)
    assert first_vault() == folder and contents(folder) == before

"""What the window remembers."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QByteArray

from synapse.window.settings import LARGEST, WindowSettings


def test_settings_come_back_after_a_restart(tmp_path: Path) -> None:
    settings = WindowSettings(tmp_path)
    assert (settings.theme, settings.note_points) == ("system", 11.0)
    settings.theme, settings.note_points = "dark", 500
    one, other = settings.of_vault(Path("/a")), settings.of_vault(Path("/b"))
    one.set("tabs", ["x.md", "ä, b.md"])
    one.set("newest-first", True)
    one.set("state", QByteArray(b"\x00\x01"))
    settings.sync()
    again = WindowSettings(tmp_path)
    assert (again.theme, again.note_points) == ("dark", LARGEST)
    assert again.of_vault(Path("/a")).texts("tabs") == ["x.md", "ä, b.md"]
    assert again.of_vault(Path("/a")).flag("newest-first")
    assert again.of_vault(Path("/a")).state("state") == QByteArray(b"\x00\x01")
    assert other.texts("tabs") == [] and not other.flag("newest-first")


def test_a_broken_file_of_settings_is_no_reason_not_to_start(tmp_path: Path) -> None:
    (tmp_path / "window.ini").write_text("[General]\ntheme=mauve\nnote-points=many\n")
    settings = WindowSettings(tmp_path)
    assert (settings.theme, settings.note_points) == ("system", 11.0)


def test_nothing_is_kept_in_the_vault(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    settings = WindowSettings(tmp_path / "config")
    settings.of_vault(vault).set("tab", "a.md")
    settings.sync()
    assert list(vault.iterdir()) == []

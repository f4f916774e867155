"""A vault's settings on disk: declared once, checked, and never lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from synapse.engine.errors import SettingsInvalid, WriteFailed
from synapse.engine.settings import SETTINGS_PATH, Settings, documentation, load_settings, save_settings


def write(vault: Path, content: str | bytes) -> None:
    file = vault / SETTINGS_PATH
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content.encode() if isinstance(content, str) else content)


def test_settings_are_written_over_older_ones(tmp_path: Path) -> None:
    for policy in ("write", "off", "write"):
        save_settings(tmp_path, Settings().with_value("backlinks", policy))
        settings, problems = load_settings(tmp_path)
        assert settings.backlinks == policy and not problems


OTHERS: dict[str, Any] = {
    "base": "https://example.org/vault#",
    "scenarios": ("core", "software"),
    "context": {"Likes": "schema:Thing", "łubi": "urn:x:likes"},
    "ignore": ("*.tmp", "private/"),
    "backlinks": "off",
    "profile": "rdfs",
    "domain_and_range": False,
}


def test_every_setting_comes_back_from_disk(tmp_path: Path) -> None:
    settings = Settings()
    assert set(OTHERS) == {name for name, *_ in documentation()}
    for key, value in OTHERS.items():
        settings = settings.with_value(key, value)
    save_settings(tmp_path, settings)
    assert load_settings(tmp_path) == (settings, [])


def test_only_what_differs_from_the_defaults_is_written(tmp_path: Path) -> None:
    save_settings(tmp_path, Settings().with_value("profile", "rdfs"))
    assert json.loads((tmp_path / SETTINGS_PATH).read_text()) == {"profile": "rdfs"}


def test_what_a_newer_version_wrote_is_kept(tmp_path: Path) -> None:
    write(tmp_path, '{"future": {"a": [1, null]}, "profile": "rdfs"}')
    settings, problems = load_settings(tmp_path)
    save_settings(tmp_path, settings.with_value("backlinks", "off"))
    assert not problems
    assert json.loads((tmp_path / SETTINGS_PATH).read_text()) == {
        "future": {"a": [1, None]}, "profile": "rdfs", "backlinks": "off",
    }  # fmt: skip


def test_a_wrong_entry_counts_as_its_default_is_named_and_kept(tmp_path: Path) -> None:
    write(tmp_path, '{"backlinks": "sometimes", "profile": "rdfs"}')
    settings, problems = load_settings(tmp_path)
    assert (settings.backlinks, settings.profile) == ("ask", "rdfs")
    (problem,) = problems
    assert (problem.path, "sometimes" in problem.message, bool(problem.hint)) == (SETTINGS_PATH, True, True)
    save_settings(tmp_path, settings)
    assert json.loads((tmp_path / SETTINGS_PATH).read_text())["backlinks"] == "sometimes"


def test_a_wrong_entry_that_is_set_right_is_right_on_disk(tmp_path: Path) -> None:
    write(tmp_path, '{"backlinks": "sometimes", "profile": 3}')
    settings, _ = load_settings(tmp_path)
    for value in ("write", "ask"):  # `ask` is the default
        settings = settings.with_value("backlinks", value)
        save_settings(tmp_path, settings)
        again, problems = load_settings(tmp_path)
        assert again.backlinks == value
        assert [p.message for p in problems] == ["profile takes a text, not 3."]


@pytest.mark.parametrize("content", ["", "{", "[]", "null", "3", b"\xff\xfe{}", b"\x00", "[" * 100_000])
def test_what_is_no_settings_gives_the_defaults_and_is_not_written_over(
    tmp_path: Path, content: str | bytes
) -> None:
    write(tmp_path, content)
    before = (tmp_path / SETTINGS_PATH).read_bytes()
    with pytest.raises(SettingsInvalid):
        save_settings(tmp_path, Settings().with_value("backlinks", "off"))
    assert (tmp_path / SETTINGS_PATH).read_bytes() == before
    settings, problems = load_settings(tmp_path)
    assert settings == Settings() and len(problems) == 1
    assert problems[0].path == SETTINGS_PATH and problems[0].hint


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    write(tmp_path, b'\xef\xbb\xbf{"profile": "rdfs"}')
    settings, problems = load_settings(tmp_path)
    assert (settings.profile, problems) == ("rdfs", [])


def test_the_place_of_a_syntax_error_is_named(tmp_path: Path) -> None:
    write(tmp_path, '{\n  "profile": rdfs\n}')
    _, (problem,) = load_settings(tmp_path)
    assert (problem.line, problem.column) == (2, 14)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("nonsense", 1), ("unknown", {}), ("base", "people"), ("base", "vault:/x"), ("base", 1),
        ("scenarios", "core"), ("scenarios", [1]), ("context", []), ("context", {"a": 1}), ("ignore", [None]),
        ("backlinks", True), ("backlinks", "WRITE"), ("profile", "owl"), ("domain_and_range", 1),
        ("domain_and_range", "true"),
    ],
)  # fmt: skip
def test_a_value_of_the_wrong_kind_is_refused(key: str, value: object) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        Settings().with_value(key, value)
    assert refused.value.message.endswith(".")


def test_a_vault_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    (tmp_path / ".synapse").write_text("a file where the folder should be")
    with pytest.raises(WriteFailed):
        save_settings(tmp_path, Settings())

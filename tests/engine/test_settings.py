"""A vault's settings on disk."""

from __future__ import annotations

from pathlib import Path

from synapse.engine.settings import Settings, load_settings, save_settings


def test_settings_are_written_over_older_ones(tmp_path: Path) -> None:
    for policy in ("write", "off", "write"):
        save_settings(tmp_path, Settings().with_value("backlinks", policy))
        settings, problems = load_settings(tmp_path)
        assert settings.backlinks == policy and not problems

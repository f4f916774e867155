"""A vault's settings: declared once, kept in `VAULT/.synapse/settings.json`.

The declaration feeds validation, the command line, the window's dialog and the docs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from synapse.engine.errors import SettingsInvalid, WriteFailed
from synapse.engine.notes.files import atomic_write
from synapse.engine.terms import DEFAULT_BASE, Identities, InvalidId

SETTINGS_PATH = ".synapse/settings.json"


def _setting(default: object, doc: str, choices: tuple[str, ...] = ()) -> Any:
    factory: Any = (lambda: dict(default)) if isinstance(default, dict) else (lambda: default)
    return field(default_factory=factory, metadata={"doc": doc, "choices": choices})


@dataclass(frozen=True, slots=True)
class Settings:
    """One vault's settings. `unknown` keeps entries of newer versions, so that saving loses nothing."""

    base: str = _setting(DEFAULT_BASE, "The IRI that ids are appended to; ends in / or #.")
    scenarios: tuple[str, ...] = _setting(
        ("core",), "Installed vocabularies, the first wins where two define a word."
    )
    context: Mapping[str, str] = _setting(
        {}, "The vault's own words: a word to an IRI or prefix:name. A capital first letter names a class."
    )
    ignore: tuple[str, ...] = _setting((), "Patterns of paths that are not read, as in .gitignore.")
    backlinks: str = _setting(
        "ask", "Whether the backlinks sections are written into notes.", ("write", "ask", "off")
    )
    profile: str = _setting("rdfs-plus", "What the reasoner deduces.", ("rdfs", "rdfs-plus"))
    domain_and_range: bool = _setting(True, "Whether a property's domain and range give types.")
    unknown: Mapping[str, object] = field(default_factory=dict)

    def with_value(self, key: str, value: object) -> Settings:
        """These settings with one changed. Raises SettingsInvalid."""
        unknown = {other: kept for other, kept in self.unknown.items() if other != key}
        return replace(self, **{key: _checked(key, value)}, unknown=unknown)

    def as_json(self) -> dict[str, object]:
        """Only what differs from the defaults, after what this version does not know."""
        default = Settings()
        written = dict(self.unknown)
        for name in _names():
            value = getattr(self, name)
            if value != getattr(default, name):
                written[name] = list(value) if isinstance(value, tuple) else value
        return written


def _names() -> list[str]:
    return [item.name for item in fields(Settings) if item.name != "unknown"]


def documentation() -> list[tuple[str, str, object, tuple[str, ...]]]:
    """Name, doc, default and choices of each setting, in order."""
    default = Settings()
    return [
        (item.name, item.metadata["doc"], getattr(default, item.name), item.metadata["choices"])
        for item in fields(Settings)
        if item.name != "unknown"
    ]


def _checked(key: str, value: object) -> Any:
    declared = {item.name: item for item in fields(Settings) if item.name != "unknown"}
    if key not in declared:
        raise SettingsInvalid(f"There is no setting {key!r}.", f"Known are {', '.join(declared)}.")
    default, choices = getattr(Settings(), key), declared[key].metadata["choices"]
    if isinstance(default, tuple):
        if not isinstance(value, (list, tuple)) or not all(isinstance(item, str) for item in value):
            raise SettingsInvalid(f"{key} takes a list of texts.", f'Write "{key}": ["…"].')
        return tuple(value)
    if isinstance(default, dict):
        if not isinstance(value, Mapping) or not all(
            isinstance(word, str) and isinstance(term, str) for word, term in value.items()
        ):
            raise SettingsInvalid(
                f"{key} takes words and their terms.", f'Write "{key}": {{"word": "prefix:name"}}.'
            )
        return dict(value)
    if type(value) is not type(default):
        wanted = "true or false" if isinstance(default, bool) else "a text"
        raise SettingsInvalid(f"{key} takes {wanted}, not {value!r}.", "")
    if choices and value not in choices:
        raise SettingsInvalid(f"{key} cannot be {value!r}.", f"It is one of {', '.join(choices)}.")
    if key == "base":
        try:
            Identities(str(value))
        except InvalidId as error:
            raise SettingsInvalid(error.message, error.hint) from error
    return value


def load_settings(vault: Path) -> tuple[Settings, list[SettingsInvalid]]:
    """The settings of a vault and what is wrong with its file; a wrong entry counts as its default
    and is kept in the file."""
    path = vault / SETTINGS_PATH
    try:
        read = _entries(path.read_bytes())
    except FileNotFoundError:
        return Settings(), []
    except OSError as error:
        return Settings(), [_problem(f"The settings cannot be read ({error}).", "Mend or remove the file.")]
    except SettingsInvalid as error:
        return Settings(), [error]
    settings, problems = Settings(), []
    known = set(_names())
    unknown: dict[str, object] = {}
    for key, value in read.items():
        if key not in known:
            unknown[key] = value
            continue
        try:
            settings = settings.with_value(key, value)
        except SettingsInvalid as error:
            unknown[key] = value
            problems.append(_problem(error.message, error.hint))
    return replace(settings, unknown=unknown), problems


def _entries(content: bytes) -> dict[str, object]:
    """What a settings file holds. Raises SettingsInvalid for what is no JSON object."""
    hint = "Mend or remove the file."
    try:
        read = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _problem(f"The settings cannot be read ({error}).", hint) from error
    except (ValueError, RecursionError) as error:
        line, column = getattr(error, "lineno", None), getattr(error, "colno", None)
        raise _problem(f"The settings are not valid JSON: {error}.", hint, line, column) from error
    if not isinstance(read, dict):
        raise _problem("The settings are not a JSON object.", hint)
    return read


def _problem(message: str, hint: str, line: int | None = None, column: int | None = None) -> SettingsInvalid:
    return SettingsInvalid(message, hint, path=SETTINGS_PATH, line=line, column=column)


def save_settings(vault: Path, settings: Settings) -> None:
    """Write the settings atomically, making `.synapse` where it is missing.

    Raises WriteFailed, and SettingsInvalid for a file that a slip made unreadable: it would be lost.
    """
    path = vault / SETTINGS_PATH
    text = json.dumps(settings.as_json(), ensure_ascii=False, indent=2) + "\n"
    try:
        path.parent.mkdir(exist_ok=True)
        before = path.read_bytes()
    except FileNotFoundError:
        before = None
    except OSError as error:
        raise WriteFailed(
            f"The settings cannot be written: {error.strerror}.", "Check the permissions.", path=SETTINGS_PATH
        ) from error
    if before is not None:
        _entries(before)
    atomic_write(path, text.encode("utf-8"), expected=before)

"""The tokens: complete, readable, and the only place where colours stand."""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QApplication, QToolButton

import synapse.window
from synapse.engine.shipped import resource_folder
from synapse.window.stylesheet import stylesheet
from synapse.window.theme import Theme, load_tokens

NAMES = ("light", "dark")


def luminance(color: str) -> float:
    """Relative luminance, WCAG 2.2."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize("name", NAMES)
def test_every_text_stands_out_from_each_ground_it_may_stand_on(name: str) -> None:
    tokens = load_tokens(name)
    weak = []
    for ground, texts in tokens.ground.items():
        for text in texts:
            shades = tokens.syntax if text == "syntax" else {text: tokens.colors[text]}
            for shade, color in shades.items():
                if contrast(color, tokens.colors[ground]) < 4.5:
                    weak.append((shade, ground, round(contrast(color, tokens.colors[ground]), 2)))
    assert weak == []


def test_the_contrast_measure_agrees_with_known_values() -> None:
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_both_themes_define_the_same_tokens() -> None:
    light, dark = (load_tokens(name) for name in NAMES)
    assert set(light.colors) == set(dark.colors)
    assert set(light.syntax) == set(dark.syntax)
    assert set(light.edges) == set(dark.edges) == {"stated", "inferred", "agent"}
    assert len(light.nodes) == len(dark.nodes) == 7
    assert light.ground == dark.ground
    assert {"window", "panel", "raised", "selection", "hover"} <= set(light.ground)


@pytest.mark.parametrize("name", NAMES)
def test_relations_differ_by_line_not_by_colour_alone(name: str) -> None:
    styles = [style for _, style in load_tokens(name).edges.values()]
    assert len(set(styles)) == len(styles)


@pytest.mark.parametrize("name", NAMES)
def test_every_token_is_a_colour_and_the_stylesheet_needs_no_other(name: str) -> None:
    tokens = load_tokens(name)
    colors = chain(tokens.colors.values(), tokens.syntax.values(), (c for c, _ in tokens.edges.values()))
    assert all(re.fullmatch("#[0-9A-F]{6}", color) for color in colors)
    assert "$" not in stylesheet(tokens.colors)


def test_no_code_of_the_window_holds_a_colour() -> None:
    literal = re.compile(
        r"""["'\s(]\#(?:[0-9A-Fa-f]{6}|[0-9A-Fa-f]{3})\b(?![\w-])"""
        r"""|QColor\(\s*\d|GlobalColor\.(?!transparent)"""
    )
    found = []
    for path in Path(synapse.window.__path__[0]).rglob("*.py"):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if literal.search(line.split("  # ")[0]):
                found.append(f"{path.name}:{number}: {line.strip()}")
    assert found == []


def test_every_icon_draws_in_the_current_colour_with_thin_strokes() -> None:
    icons = [path for path in (resource_folder() / "icons").glob("*.svg") if path.stem != "synapse"]
    assert len(icons) > 40
    for path in icons:
        drawing = path.read_text(encoding="utf-8")
        assert 'stroke-width="1.5"' in drawing, path.name
        assert "currentColor" in drawing and "#" not in drawing, path.name


def test_a_change_of_theme_reaches_palette_sheet_and_icons(qapp: QApplication) -> None:
    theme = Theme("light")
    heard: list[str] = []
    theme.changed.connect(lambda: heard.append(theme.tokens.name))
    button = QToolButton()
    theme.set_icon(button, "close")
    theme.apply(qapp, "light")
    before = button.icon().cacheKey()
    theme.apply(qapp, "dark")
    assert heard == ["light", "dark"]
    assert button.icon().cacheKey() != before
    assert qapp.palette().window().color() == QColor(load_tokens("dark").colors["window"])
    assert load_tokens("dark").colors["selection"] in qapp.styleSheet()
    assert theme.color("syntax.iri") == QColor(load_tokens("dark").syntax["iri"])
    theme.apply(qapp, "light")
    button.deleteLater()


def test_icons_keep_no_carrier_alive(qapp: QApplication) -> None:
    theme = Theme("light")
    for _ in range(20):
        theme.set_icon(QToolButton(), "close")
    theme.apply(qapp, "light")
    assert theme._carriers == []

"""The one stylesheet of the window, filled in from a theme's colours."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

_SHEET = Template("""
QWidget { color: $text; }
QMainWindow, QDialog { background: $window; }
QMainWindow::separator { background: $border; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: $accent; }

#panel { background: $panel; }
#titleRow { background: $panel; }
#panelTitle { font-weight: 600; }
#panelCount, #muted { color: $muted; }
#hairline { background: $border; border: none; }
#emptyText { color: $muted; }
#errorText { color: $error; font-weight: 600; }
#errorHint { color: $muted; }
#warningText { color: $warning; }

QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6px; padding: 4px; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $selection; }
QToolButton:focus { border-color: $accent; }
QToolButton::menu-indicator { image: none; }

QPushButton { background: $raised; border: 1px solid $border; border-radius: 6px; padding: 5px 12px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $selection; }
QPushButton:focus { border-color: $accent; }
QPushButton:disabled { color: $faint; }
QPushButton:default, QPushButton#primary {
    background: $accent; color: $on_accent; border-color: $accent;
}
QPushButton:default:focus, QPushButton#primary:focus { border: 2px solid $text; padding: 4px 11px; }
QPushButton#link { background: transparent; border: 1px solid transparent; color: $accent; padding: 3px 6px; }
QPushButton#link:hover { background: $hover; }
QPushButton#link:focus { border-color: $accent; }
QPushButton#link:disabled { color: $faint; }

QLineEdit, QPlainTextEdit, QTextEdit, QTextBrowser {
    background: $panel; color: $text; border: 1px solid $border; border-radius: 6px; padding: 4px 8px;
    selection-background-color: $accent; selection-color: $on_accent;
}
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus { border-color: $accent; }
#noteEditor, #noteEditor:focus {
    border: none; border-radius: 0; padding: 0; background: $panel;
    selection-background-color: $selection; selection-color: $text;
}

QAbstractItemView {
    background: $panel; alternate-background-color: $window; border: none; outline: none;
    selection-background-color: $selection; selection-color: $text;
}
QAbstractItemView::item {
    min-height: 24px; padding: 0 4px; border: 1px solid transparent; border-radius: 4px;
}
QAbstractItemView::item:hover { background: $hover; }
QAbstractItemView::item:selected { background: $selection; color: $text; }
QAbstractItemView::item:selected:focus { border-color: $accent; }
QTreeView::branch { background: transparent; }
QHeaderView { background: $panel; }
QHeaderView::section {
    background: $panel; color: $muted; border: none; border-bottom: 1px solid $border; padding: 4px 8px;
}
QTableView { gridline-color: $border; }
QTableView::item { border-radius: 0; }

QTabWidget, QTabBar { background: $window; }
QTabWidget::pane { border: none; }
QTabWidget::tab-bar { left: 0; }
QTabBar { qproperty-drawBase: 0; }
QTabBar::tab {
    background: transparent; color: $muted; border: none; border-bottom: 2px solid transparent;
    padding: 6px 10px; min-height: 18px;
}
QTabBar::tab:hover { background: $hover; color: $text; }
QTabBar::tab:selected { background: $panel; color: $text; border-bottom-color: $accent; }
QTabBar::tab:selected:focus { background: $selection; }

QMenuBar { background: $window; border-bottom: 1px solid $border; padding: 2px 4px; }
QMenuBar::item { padding: 4px 8px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: $hover; }
QMenu { background: $raised; border: 1px solid $border; padding: 4px; }
QMenu::item { padding: 5px 24px 5px 12px; border-radius: 4px; }
QMenu::item:selected { background: $selection; color: $text; }
QMenu::item:disabled { color: $faint; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $border; margin: 4px 8px; }

QStatusBar { background: $window; border-top: 1px solid $border; color: $muted; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: $muted; padding: 0 6px; }
QStatusBar QPushButton {
    background: transparent; border: 1px solid transparent; color: $muted; padding: 2px 6px;
}
QStatusBar QPushButton:hover { background: $hover; color: $text; }
QStatusBar QPushButton:focus { border-color: $accent; }
QStatusBar QPushButton#hasWarnings { color: $warning; }

#section { background: $window; border-radius: 0; }
#sectionTitle { color: $muted; font-weight: 600; }
#sectionLines, #sectionLines:focus { background: transparent; border: none; padding: 0; }

#bar { background: $selection; border-bottom: 1px solid $border; }
#bar QPushButton#link:hover { background: $panel; }
#quickOpen { background: $raised; border: 1px solid $faint; border-radius: 6px; }
#quickOpen QListWidget { background: $raised; }
#welcome { background: $panel; }
#welcomeTitle { font-size: 18pt; font-weight: 600; }

QCheckBox::indicator:unchecked { border: 1px solid $muted; border-radius: 3px; background: $panel; }

QProgressBar { background: $hover; border: none; border-radius: 3px; max-height: 6px; }
QProgressBar::chunk { background: $accent; border-radius: 3px; }
QSplitter::handle { background: $border; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QToolTip { background: $raised; color: $text; border: 1px solid $border; padding: 4px 6px; }

QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: $border; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 28px; }
QScrollBar::handle:horizontal { min-width: 28px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
""")


def stylesheet(colors: Mapping[str, str]) -> str:
    """The Qt stylesheet for these colours by token name; a missing token raises KeyError."""
    return _SHEET.substitute(colors)

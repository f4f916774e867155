"""Text that agents wrote, made fit for a label: one line, with nothing in it that cannot be seen."""

from __future__ import annotations

import unicodedata

LONGEST = 400
"""Characters of one text that are shown in a list; the rest is cut off visibly."""

_JOINERS = "\u200c\u200d"
"""Words of Persian and Hindi, and many emoji, are written with these."""
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")


def plain(text: str, longest: int = LONGEST) -> str:
    """The text on one line; what steers its display (controls, overrides) is shown as `⟨U+202E⟩`.

    A label that shows this is to be set to plain text: markup stays what it is, characters.
    """
    cut = len(text) > longest
    line = " ".join(text[:longest].split())
    shown = "".join(f"⟨U+{ord(one):04X}⟩" if _is_hidden(one) else one for one in line)
    return f"{shown}…" if cut else shown


def _is_hidden(character: str) -> bool:
    return unicodedata.category(character) in _HIDDEN and character not in _JOINERS

"""How text that others wrote stands in an answer: as data, never as a part of the answer's own form.

One rule. A name that can be given back as an argument stands in backticks; every other text of a note,
a file or an agent stands in double quotes, on one line, with a backslash before each character that
could end the quotation or form Markdown of its own: `` " \\ ` [ ] < & ``. So it cannot become a heading,
a fence, a list item, a link, HTML or a `[verified]` mark. A name that holds one of these is quoted too.
"""

from __future__ import annotations

import re
import unicodedata

LONGEST = 400
"""Characters of a quotation, unless the caller says otherwise."""

_ESCAPED = re.compile(r'["\\`\[\]<&]')
_LONGEST_NAME = 1024


def flat(text: str) -> str:
    """The text on one line: runs of white space are one space, and what is not to be seen is gone.

    Control and format characters (bidirectional overrides among them), private use and lone
    surrogates are left out, except the joiners that emoji and scripts need.
    """
    spaced = "".join(" " if character.isspace() else character for character in text)
    return " ".join("".join(filter(_is_seen, spaced)).split())


def _is_seen(character: str) -> bool:
    if character in "\u200c\u200d":
        return True
    return unicodedata.category(character) not in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")


def escaped(text: str) -> str:
    """The text on one line, unable to form Markdown of its own; for a message of ours that may hold
    what others wrote."""
    return _ESCAPED.sub(lambda found: "\\" + found[0], flat(text))


def quoted(text: str, longest: int = LONGEST) -> str:
    """Text of others as a quotation; a longer one is cut, and the number of characters left out
    stands behind it."""
    line = flat(text)
    if len(line) <= longest:
        return f'"{escaped(line)}"'
    return f'"{escaped(line[:longest])}…" (and {len(line) - longest:,} characters more)'


def named(name: str) -> str:
    """A name that can be given back as an argument, in backticks; quoted where it is no plain name."""
    if not name or len(name) > _LONGEST_NAME or name != flat(name) or _ESCAPED.search(name):
        return quoted(name)
    return f"`{name}`"

"""What a reader has to say about a note: where, how bad, and what to write instead.

Reading never fails (design/data-model.md section 4); what cannot be read is left out and becomes a
`Diagnostic`. `code` is stable, for filters and tests; `message` and `hint` are for a person.

==========================  ==================================================================
code                        the reader found
==========================  ==================================================================
not-utf-8                   bytes that are not UTF-8; each is read as U+FFFD
utf-16                      a UTF-16 file, which is not read
nul                         U+0000, which no RDF text can hold; read as U+FFFD
invalid-unicode             lone surrogates; read as U+FFFD
body-too-large              a note over `source.LARGEST_READ`; only its frontmatter is read
frontmatter-unclosed        a first line `---` without its end; read as text
frontmatter-too-large       a block over `frontmatter.LARGEST_BLOCK`; not read
frontmatter-not-a-mapping   a block that holds no keys
yaml                        a value that strict YAML rejects, read as text where possible
yaml-placeholder            `{{date}}` outside quotes, read as text
yaml-key                    a key that is no text
yaml-duplicate-key          one key twice; both values are read
yaml-depth, yaml-aliases    nesting or aliases beyond what is read
value                       a value that its key cannot take
word                        a key, type or relation that names no term
tag                         a tag that is none, or none for Obsidian (`tags: a, b`)
uri                         a `uri:` that cannot name the entity
link-target                 a link that names nothing
link-ambiguous              a link that fits several files equally well
relationship                an item of `relationships:` or `links:` without target
axiom                       a line of an ontology note that cannot be read
more                        over `MOST` problems in one note; the others are not listed
==========================  ==================================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal

Severity = Literal["error", "warning", "info"]

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "info")
"""The worst first."""


MOST: Final = 500
"""Diagnostics of one note that are listed."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding about the file at `path`.

    line: from 1. column: from 1, in code points. hint: what to write instead, may be empty.
    """

    path: str
    line: int
    column: int
    severity: Severity
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        text = f"{self.path}:{self.line}:{self.column}: {self.severity}: {self.message}"
        return f"{text} {self.hint}" if self.hint else text


def add(found: list[Diagnostic], diagnostic: Diagnostic) -> None:
    """Append to the findings about one note, or say once that there are more."""
    if len(found) < MOST:
        found.append(diagnostic)
    elif len(found) == MOST:
        found.append(replace(diagnostic, severity="info", code="more", message="There are more.", hint=""))

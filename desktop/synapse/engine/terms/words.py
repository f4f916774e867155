"""Words in notes and the classes and properties they name (data-model.md section 4).

A context maps words to terms, as JSON-LD's `@context` does. A key that begins with a capital names
a class, any other a property; keys compare folded, so `Works For`, `works_for` and `works-for` are
one word.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from pyoxigraph import NamedNode

from synapse.engine.terms import vocabulary as v
from synapse.engine.terms.identity import is_absolute_iri

_RUN = re.compile(r"[\s_\-]+")
_IRI_SCHEMES = ("http://", "https://", "urn:", "mailto:")
_UNRESERVED = "-._~!$&'()*+,;=@"


def fold_word(word: str) -> str:
    """The form in which words compare: NFC, casefolded, runs of space, `-`, `_` as one `_`."""
    return _RUN.sub("_", unicodedata.normalize("NFC", word).strip().casefold()).strip("_")


def _fallback(namespace: str, folded: str) -> NamedNode:
    return NamedNode(namespace + quote(folded, safe=_UNRESERVED, errors="replace"))


def tag_iri(tag: str) -> NamedNode:
    """The concept of a tag such as `Area/Work`: casefolded, its levels kept."""
    folded = unicodedata.normalize("NFC", tag).casefold().strip("/")
    return NamedNode(v.TAG + quote(folded, safe="/" + _UNRESERVED, errors="replace"))


def _node(iri: str) -> NamedNode | None:
    """The node of an IRI; None for what only looks like one (`http://[x`, `http://x/%zz`)."""
    if not is_absolute_iri(iri):
        return None
    try:
        return NamedNode(iri)
    except ValueError:
        return None


class Words:
    """Resolves words by the vault's own context first, then those of scenarios in order.

    contexts: word -> IRI or `prefix:name`, the most important first.
    prefixes: prefix -> namespace IRI, beside the ones always known (vocabulary.PREFIXES).
    """

    def __init__(
        self, contexts: Sequence[Mapping[str, str]] = (), prefixes: Mapping[str, str] | None = None
    ) -> None:
        self.prefixes = {**(prefixes or {}), **v.PREFIXES}
        self._types: dict[str, NamedNode] = {}
        self._properties: dict[str, NamedNode] = {}
        for context in contexts:
            for word, value in context.items():
                table = self._types if word[:1].isupper() else self._properties
                iri = self.expand(value)
                if iri is not None:
                    table.setdefault(fold_word(word), iri)
        self._type_cache: dict[str, NamedNode] = {}
        self._property_cache: dict[str, NamedNode] = {}

    def type(self, word: str) -> NamedNode:
        """The class that a word names."""
        found = self._type_cache.get(word)
        if found is None:
            found = self._type_cache[word] = self._resolve(word, self._types, v.TYPE)
        return found

    def property(self, word: str) -> NamedNode:
        """The property that a word names."""
        found = self._property_cache.get(word)
        if found is None:
            found = self._property_cache[word] = self._resolve(word, self._properties, v.PROP)
        return found

    def known_properties(self) -> Mapping[str, NamedNode]:
        """Folded word -> property, for completion."""
        return self._properties

    def known_types(self) -> Mapping[str, NamedNode]:
        """Folded word -> class, for completion."""
        return self._types

    def _resolve(self, word: str, table: Mapping[str, NamedNode], namespace: str) -> NamedNode:
        if (iri := self.expand(word)) is not None:
            return iri
        folded = fold_word(word)
        return table.get(folded) or _fallback(namespace, folded)

    def expand(self, text: str) -> NamedNode | None:
        """An absolute IRI (http, https, urn, mailto) or `prefix:name` with a known prefix, else None."""
        text = text.strip()
        if text.startswith(_IRI_SCHEMES):
            return _node(text)
        prefix, colon, name = text.partition(":")
        if not colon or not name or name.startswith(("/", " ")) or prefix not in self.prefixes:
            return None
        return _node(self.prefixes[prefix] + name)

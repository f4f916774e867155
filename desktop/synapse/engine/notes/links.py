"""Which file a link means, as Obsidian resolves it (design/data-model.md section 4).

A wikilink: an exact vault path; `./` and `../` relative to the note; else the note's own folder;
else the shortest path whose end matches. A Markdown link: relative to the note, then from the root,
then by its end. Case does not matter but exact case is preferred; everything compares in NFC; of
equally short paths the first in lexicographic order is taken and the others are named.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from synapse.engine.notes.syntax import Syntax
from synapse.engine.terms import entity_id

_NOTE = ".md"


@dataclass(frozen=True, slots=True)
class Resolution:
    """What a link means.

    path: the file as the vault spells it, or None where there is none. entity_id: the id of the note
    or of the unwritten entity; for another file its path; "" where the target names nothing.
    ambiguous: the other files that fit equally well, in order.
    """

    path: str | None
    entity_id: str
    ambiguous: tuple[str, ...] = ()


def fold(text: str) -> str:
    """The form in which paths compare without regard to case: NFC, casefolded."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def path_key(path: str) -> str:
    """The key under which a file is looked up: its last segment, folded, without one `.md`."""
    return fold(path.rpartition("/")[2]).removesuffix(_NOTE)


def target_keys(target: str) -> tuple[str, ...]:
    """The keys of all files that a link to `target` could mean; see `NoteFacts.lookups`."""
    last = fold(target.rstrip("/").rpartition("/")[2].replace("\xa0", " ").strip())
    return (last, last[: -len(_NOTE)]) if last.endswith(_NOTE) else (last,)


class LinkResolver:
    """The files of a vault, by what a link may call them.

    paths: vault-relative, with `/`, notes and attachments; hidden files are the caller's to leave out.
    Of two paths that are one in NFC the first added counts. Not safe for writing from two threads.
    """

    def __init__(self, paths: Iterable[str] = ()) -> None:
        self._paths: dict[str, str] = {}
        self._folded: dict[str, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for path in paths:
            self.add(path)

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths.values())

    def __contains__(self, path: str) -> bool:
        return unicodedata.normalize("NFC", path) in self._paths

    def add(self, path: str) -> None:
        """Add a file."""
        normal = unicodedata.normalize("NFC", path)
        if normal in self._paths:
            return
        self._paths[normal] = path
        folded = fold(normal)
        self._folded.setdefault(folded, []).append(normal)
        self._names.setdefault(folded.rpartition("/")[2], []).append(normal)

    def remove(self, path: str) -> None:
        """Take a file out; one that is not there is passed over."""
        normal = unicodedata.normalize("NFC", path)
        if self._paths.pop(normal, None) is None:
            return
        folded = fold(normal)
        for table, key in ((self._folded, folded), (self._names, folded.rpartition("/")[2])):
            table[key].remove(normal)
            if not table[key]:
                del table[key]

    def resolve(self, target: str, from_path: str, kind: Syntax = "wikilink") -> Resolution:
        """What `target` (without anchor, decoded) means in the note at `from_path`."""
        text = target if target.isascii() else unicodedata.normalize("NFC", target.replace("\xa0", " "))
        if kind == "wikilink" and "." not in text and (path := self._paths.get(text + _NOTE)) is not None:
            return Resolution(path, text)  # an exact path, as most links are
        if not text:
            return self._found(unicodedata.normalize("NFC", from_path), ())
        folder = unicodedata.normalize("NFC", from_path).rpartition("/")[0]
        if kind == "markdown":
            return self._markdown(text, folder)
        return self._wikilink(text, folder)

    def from_root(self, target: str) -> str | None:
        """The file at that exact place from the root, with or without `.md` and a leading `/`."""
        place = "/".join(_segments(unicodedata.normalize("NFC", target)))
        for ending in _endings(place):
            if found := self._exact(place, ending):
                return self._paths[found[0]]
        return None

    def _wikilink(self, text: str, folder: str) -> Resolution:
        if text.startswith(("./", "../")):
            place = _joined(folder, text)
            return self._first((place,), place)
        place = "/".join(_segments(text))
        if text.startswith("/"):
            return self._first((place,), place)
        places = (place, f"{folder}/{place}") if folder else (place,)
        return self._first(places, place, suffix=place)

    def _markdown(self, text: str, folder: str) -> Resolution:
        place = "/".join(_segments(text))
        if text.startswith("/"):
            places, unwritten = [place], place
        else:
            unwritten = _joined(folder, text)
            places = [unwritten, place]
        if text.endswith("/"):
            places = [f"{folder}/index.md".lstrip("/") for folder in places] + places
        suffix = "" if text.startswith(("./", "../")) else place
        return self._first(places, unwritten, suffix)

    def _first(self, places: Sequence[str], unwritten: str, suffix: str = "") -> Resolution:
        """The first of the places that exists, else the shortest path with that end, else no file.

        A name with a dot is tried as it is before as a note's, everywhere: `[[img.png]]` is the image
        wherever it is, and not `img.png.md`. A name without one is a note's before a bare file's.
        """
        for ending in _endings(unwritten):
            for place in places:
                if found := self._exact(place, ending):
                    return self._found(found[0], found[1:])
            if suffix and (found := self._by_end(suffix + ending)):
                return self._found(found[0], found[1:])
        return Resolution(None, entity_id(unwritten) if unwritten.lower() != _NOTE else "")

    def _found(self, normal: str, others: Iterable[str]) -> Resolution:
        paths = self._paths
        return Resolution(
            paths.get(normal, normal), entity_id(normal), tuple([paths[other] for other in others])
        )

    def _exact(self, place: str, ending: str) -> list[str]:
        """The file at a place; where only the case differs, all of them in order."""
        if not place:
            return []
        name = place + ending
        return [name] if name in self._paths else sorted(self._folded.get(fold(name), ()))

    def _by_end(self, end: str) -> list[str]:
        """The shortest path that ends in `end`, with the others of that length."""
        candidates = self._names.get(fold(end.rpartition("/")[2]), [])
        if "/" in end:
            folded = "/" + fold(end)
            candidates = [path for path in candidates if ("/" + fold(path)).endswith(folded)]
        exact = [path for path in candidates if ("/" + path).endswith("/" + end)]
        candidates = exact or candidates
        shortest = min(map(len, candidates), default=0)
        return sorted(path for path in candidates if len(path) == shortest)


def _endings(place: str) -> tuple[str, str]:
    """What to append to a place, in order."""
    return ("", _NOTE) if "." in place.rpartition("/")[2] else (_NOTE, "")


def _segments(path: str) -> list[str]:
    """The segments of a path from the root: no empty ones, `.` and `..` carried out, never above it."""
    found: list[str] = []
    for segment in path.split("/"):
        segment = segment.strip()
        if segment == "..":
            if found:
                found.pop()
        elif segment and segment != ".":
            found.append(segment)
    return found


def _joined(folder: str, path: str) -> str:
    return "/".join(_segments(f"{folder}/{path}"))

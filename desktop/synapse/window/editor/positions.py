"""Places in a text: Qt counts UTF-16 units, Python code points, the engine bytes."""

from __future__ import annotations


def is_plain(text: str) -> bool:
    """Whether both counts agree: no character lies beyond the basic plane."""
    return text.isascii() or max(text, default="") <= "\uffff"


def to_qt(text: str, index: int) -> int:
    """The UTF-16 position of the code point `index` of `text`."""
    head = text[:index]
    return index if is_plain(head) else len(head.encode("utf-16-le", "surrogatepass")) // 2


def from_qt(text: str, position: int) -> int:
    """The index of the code point at a UTF-16 position; one inside a pair counts as its start."""
    if is_plain(text[:position]):
        return min(position, len(text))
    units = text.encode("utf-16-le", "surrogatepass")[: position * 2]
    return len(units.decode("utf-16-le", "ignore"))


def to_bytes(text: str, index: int) -> int:
    """The offset of the code point `index` in the UTF-8 form of `text`."""
    return len(text[:index].encode("utf-8", "surrogatepass"))

"""Pages of an ordered answer that drop and repeat nothing while the graph stands still, and stay in
order when it moves: a cursor is the sort key of the last item given, not a number."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from synapse.engine.errors import UsageError

T = TypeVar("T")
Key = tuple[str | int, ...]


def encode_cursor(key: Key) -> str:
    """The cursor that continues after an item with this sort key."""
    text = json.dumps(key, ensure_ascii=True, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode("ascii")).decode("ascii").rstrip("=")


def decode_cursor(cursor: str) -> Key:
    """The sort key in a cursor. Raises UsageError for anything that is none of ours."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        read = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, binascii.Error, UnicodeError, RecursionError) as error:
        raise _invalid() from error
    if not isinstance(read, list) or not all(isinstance(part, (str, int)) for part in read):
        raise _invalid()
    return tuple(read)


def _invalid() -> UsageError:
    return UsageError("The cursor is not valid.", "Pass the cursor of the previous answer, or none.")


def page(
    items: Sequence[T], key: Callable[[T], Key], limit: int, cursor: str | None
) -> tuple[list[T], str | None]:
    """The items after `cursor`, at most `limit`, and the cursor that continues, if any.

    items: sorted by `key`, keys distinct. Raises UsageError for a limit below 1 or a bad cursor.
    """
    if limit < 1:
        raise UsageError(f"The limit is {limit}.", "Ask for at least 1.")
    start = 0
    if cursor is not None:
        after = decode_cursor(cursor)
        try:
            start = next((n for n, item in enumerate(items) if key(item) > after), len(items))
        except TypeError as error:
            raise _invalid() from error
    found = list(items[start : start + limit])
    more = start + limit < len(items)
    return found, encode_cursor(key(found[-1])) if more else None

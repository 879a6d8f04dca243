"""Follows the pages of a server's list, up to the limits.

Used by ``mcp_client.connection``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from jupyter_ai_shoulders.mcp_client.connection_events import ConnectionLimits

ItemT = TypeVar("ItemT", bound=BaseModel)
ReadPage = Callable[[str | None], Awaitable[tuple[Sequence[ItemT], str | None]]]
"""Returns the items of the page at a cursor, and the cursor of the next page."""


@dataclass(frozen=True, slots=True)
class ListedItems(Generic[ItemT]):
    """What was read of a list."""

    items: tuple[ItemT, ...]
    unread: str | None = None
    """Why it is only a part, as a sentence; None: it is all."""


async def read_pages(read: ReadPage[ItemT], limits: ConnectionLimits) -> ListedItems[ItemT]:
    """Read a list until it ends or reaches a limit."""
    items: list[ItemT] = []
    cursor: str | None = None
    seen: set[str] = set()
    size = 0
    for _ in range(limits.pages):
        found, cursor = await read(cursor)
        for item in found:
            size += len(item.model_dump_json())
            if size > limits.list_bytes:
                return _cut(items, f"the list is larger than {limits.list_bytes >> 20} MB")
            if len(items) == limits.items:
                return _cut(items, f"the list has more than {limits.items:,} entries")
            items.append(item)
        if not cursor:
            return ListedItems(tuple(items))
        if cursor in seen:
            return _cut(items, "its pages repeat")
        seen.add(cursor)
    return _cut(items, f"the list has more than {limits.pages} pages")


def _cut(items: Sequence[ItemT], why: str) -> ListedItems[ItemT]:
    return ListedItems(tuple(items), f"Only the first {len(items):,} were read, because {why}.")

"""Keeps the encoded bytes of messages and tools: dumping them anew costs milliseconds every step.

One per model, made by ``targets``, used by the adapters' ``encode``. Entries go with their message,
which the engine keeps as long as its conversation is open, or with their tool.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable

from jupyter_ai_shoulders.wire.parts import AssistantMessage, ToolDefinition, UserMessage

Item = UserMessage | AssistantMessage | ToolDefinition
Entry = tuple["weakref.ref[Item]", Hashable, bytes]


class MessageCache:
    """Bytes by object; messages and tools are frozen, so the same one has the same bytes."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}

    def __len__(self) -> int:
        """Return how many are kept."""
        return len(self._entries)

    def get(self, item: Item, circumstances: Hashable, encode: Callable[[], bytes]) -> bytes:
        """Return the bytes kept, or ``encode()`` and keep it.

        ``circumstances`` are all that the bytes depend on besides the item and the model.
        """
        key = id(item)
        entry = self._entries.get(key)
        if entry is not None and entry[0]() is item and entry[1] == circumstances:
            return entry[2]
        encoded = encode()
        forget = weakref.ref(item, lambda _: self._entries.pop(key, None))
        self._entries[key] = (forget, circumstances, encoded)
        return encoded

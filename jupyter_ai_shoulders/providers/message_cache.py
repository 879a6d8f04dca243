"""Caches the encoded bytes of messages and tools; encoding them again costs milliseconds per step.

One per model, used by the adapters' ``encode``. Entries live as long as their message or tool.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable

from jupyter_ai_shoulders.wire.parts import AssistantMessage, ToolDefinition, UserMessage

Item = UserMessage | AssistantMessage | ToolDefinition
Entry = tuple["weakref.ref[Item]", Hashable, bytes]


class MessageCache:
    """Bytes by object; messages and tools are frozen, so equal objects have equal bytes."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self._entries)

    def get(self, item: Item, circumstances: Hashable, encode: Callable[[], bytes]) -> bytes:
        """Return the cached bytes, or the result of ``encode``.

        ``circumstances`` are everything the bytes depend on besides the item and the model.
        """
        key = id(item)
        entry = self._entries.get(key)
        if entry is not None and entry[0]() is item and entry[1] == circumstances:
            return entry[2]
        encoded = encode()
        forget = weakref.ref(item, lambda _: self._entries.pop(key, None))
        self._entries[key] = (forget, circumstances, encoded)
        return encoded

"""Keeps the encoded bytes of messages: dumping a long history anew costs milliseconds every step.

One per model, made by ``targets``, used by the adapters' ``encode``. Entries go with their message,
which the engine keeps as long as its conversation is open.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable

from jupyter_ai_shoulders.wire.parts import AssistantMessage, UserMessage

Message = UserMessage | AssistantMessage
Entry = tuple["weakref.ref[Message]", Hashable, bytes]


class MessageCache:
    """Bytes by message object; messages are frozen, so the same object has the same bytes."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}

    def __len__(self) -> int:
        """Return how many messages are kept."""
        return len(self._entries)

    def get(self, message: Message, circumstances: Hashable, encode: Callable[[], bytes]) -> bytes:
        """Return the bytes kept, or ``encode()`` and keep it.

        ``circumstances`` are all that the bytes depend on besides the message and the model.
        """
        key = id(message)
        entry = self._entries.get(key)
        if entry is not None and entry[0]() is message and entry[1] == circumstances:
            return entry[2]
        encoded = encode()
        forget = weakref.ref(message, lambda _: self._entries.pop(key, None))
        self._entries[key] = (forget, circumstances, encoded)
        return encoded

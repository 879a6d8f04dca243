"""Keeps answers of services for a while, within limits of number and size.

Used by ``guard.network.http_service_client``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from jupyter_ai_shoulders.guard.network.service_client import ServiceReply

KEPT_SECONDS = 86_400.0
MOST_REPLIES = 500
MOST_BYTES = 32 << 20


class ReplyCache:
    """Answers by request, the least recently used dropped first."""

    def __init__(
        self,
        monotonic: Callable[[], float],
        *,
        seconds: float = KEPT_SECONDS,
        replies: int = MOST_REPLIES,
        size: int = MOST_BYTES,
    ) -> None:
        """``size`` is the sum of the answers' contents in bytes."""
        self._monotonic = monotonic
        self._seconds = seconds
        self._replies = replies
        self._size = size
        self._held = 0
        self._entries: OrderedDict[object, tuple[float, ServiceReply]] = OrderedDict()

    def get(self, key: object) -> ServiceReply | None:
        """Return the answer to an equal request, unless it is too old."""
        found = self._entries.get(key)
        if found is None:
            return None
        stored_at, reply = found
        if self._monotonic() - stored_at >= self._seconds:
            self._drop(key)
            return None
        self._entries.move_to_end(key)
        return reply

    def put(self, key: object, reply: ServiceReply) -> None:
        """Store an answer; one that is larger than the cache is not kept."""
        if key in self._entries:
            self._drop(key)
        if len(reply.content) > self._size:
            return
        self._entries[key] = (self._monotonic(), reply)
        self._held += len(reply.content)
        while len(self._entries) > self._replies or self._held > self._size:
            self._drop(next(iter(self._entries)))

    def _drop(self, key: object) -> None:
        _, reply = self._entries.pop(key)
        self._held -= len(reply.content)

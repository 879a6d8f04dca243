"""Holds back display updates before they are decoded; used by ``notebook.kernels.connection``.

A progress bar updates its display thousands of times a second, and only the newest counts. Updates
that are superseded within a moment are dropped undecoded: decoding is most of their cost.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from typing import Generic, TypeVar

from jupyter_ai_shoulders.notebook.kernel_channels import CONTENT, HEADER, UNREADABLE, Frames

log = logging.getLogger(__name__)

HOLD_SECONDS = 0.02
"""Seconds an update may wait for the next one; pages are sent outputs less often than that."""
HELD_BYTES = 64_000
"""Larger updates are passed on at once."""
HELD_DISPLAYS = 200
_TAIL = 400
_DISPLAY_ID = re.compile(rb'"transient": *\{ *"display_id": *"([^"\\]*)" *\} *\}$')
"""The end of an update as kernels write it, the id last; others are passed on at once."""

RequestT = TypeVar("RequestT")


class DisplayThrottle(Generic[RequestT]):
    """Keeps the newest update of each display of a request until another message arrives."""

    def __init__(self, deliver: Callable[[RequestT, Frames], None]) -> None:
        self._deliver = deliver
        self._held: dict[tuple[RequestT, bytes], Frames] = {}
        self._timer: asyncio.TimerHandle | None = None

    def hold(self, request: RequestT, parts: Frames) -> bool:
        """Take an update; false for other messages, after the pending updates are delivered."""
        display = _display_of(parts)
        if display is None or len(self._held) >= HELD_DISPLAYS:
            self.release()
            return False
        self._held.pop((request, display), None)
        self._held[request, display] = parts
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(HOLD_SECONDS, self.release)
        return True

    def release(self) -> None:
        """Deliver the pending updates."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        held, self._held = self._held, {}
        for (request, _), parts in held.items():
            try:
                self._deliver(request, parts)
            except UNREADABLE:
                log.exception("An update of a display was unreadable")

    def forget(self, request: RequestT | None) -> None:
        """Drop the pending updates of a request; None: of all."""
        kept = {} if request is None else self._held
        self._held = {key: parts for key, parts in kept.items() if key[0] is not request}
        if not self._held:
            self.release()


def _display_of(parts: Frames) -> bytes | None:
    content = parts[CONTENT]
    if b'"update_display_data"' not in parts[HEADER] or len(content) > HELD_BYTES:
        return None
    found = _DISPLAY_ID.search(content[-_TAIL:])
    return found.group(1) if found else None

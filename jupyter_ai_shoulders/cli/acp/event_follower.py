"""Follows a conversation's events from a thread, because ``ChatBackend`` blocks.

Made by ``cli.acp.conversation``.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatTurns
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import SessionId


class EventFollower:
    """The events after one, in order; the thread ends with the engine or this process."""

    def __init__(self, turns: ChatTurns, session_id: SessionId, after: int) -> None:
        self._turns = turns
        self._session_id = session_id
        self._after = after
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[Event | Exception | None] = asyncio.Queue()
        self._closed = False
        threading.Thread(target=self._follow, name="acp-events", daemon=True).start()

    async def next(self) -> Event:
        """Return the next event.

        Raises ``ClientError`` or ``ShouldersError`` (the connection failed), ``EOFError`` (the
        engine stopped).
        """
        item = await self._queue.get()
        if item is None:
            self._queue.put_nowait(None)
            raise EOFError("The engine stopped.")
        if isinstance(item, Exception):
            raise item
        return item

    def close(self) -> None:
        """Stop at the next event."""
        self._closed = True

    def _follow(self) -> None:
        try:
            for event in self._turns.events(self._session_id, self._after):
                if self._closed:
                    return
                self._put(event)
        except (ClientError, ShouldersError) as error:
            self._put(error)
        self._put(None)

    def _put(self, item: Event | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits
            self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

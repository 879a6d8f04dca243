"""Waits for the end of a turn, and for changes of its conversation's status."""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.host.state.event_bus import EventBus
from jupyter_ai_shoulders.storage.base import EventLog, LoggedEvent
from jupyter_ai_shoulders.wire.events import SessionUpdate, TurnEnd
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId


class TurnWatch:
    """Follows one conversation; ``close`` it. Made before a turn begins, so that no end is missed.

    ``wake`` is set by ends of turns and by updates of the conversation.
    """

    def __init__(self, events: EventBus, session_id: SessionId) -> None:
        self._events = events
        self._session_id = session_id
        self._ends: dict[TurnId, TurnEnd] = {}
        self._looked = False
        self.wake = asyncio.Event()
        events.follow(session_id, self)

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event of the conversation."""
        event = logged.event
        if isinstance(event, TurnEnd) and event.turn_id is not None:
            self._ends[event.turn_id] = event
            self.wake.set()
        elif isinstance(event, SessionUpdate):
            self.wake.set()

    def end_of(self, turn_id: TurnId, log: EventLog) -> TurnEnd | None:
        """Return the end of a turn, None while it is open; the log is read once."""
        if not self._looked:
            self._looked = True
            for logged in log.find({"turn-end"}, self._session_id):
                event = logged.event
                if isinstance(event, TurnEnd) and event.turn_id is not None:
                    self._ends[event.turn_id] = event
        return self._ends.get(turn_id)

    def close(self) -> None:
        """Stop following."""
        self._events.unfollow(self._session_id, self)

"""Counts what runs and waits now, for gauges. Made by ``host.metrics.service``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CallId, LongRunId, MessageId, SessionId
from jupyter_ai_shoulders.wire.sessions import SessionStatus


class Activity:
    """Running and waiting conversations, cell runs and queued messages of one host."""

    def __init__(self) -> None:
        self._status: dict[SessionId, SessionStatus] = {}
        self._cells: set[tuple[SessionId, CallId | LongRunId]] = set()
        self._queued: set[tuple[SessionId, MessageId]] = set()
        self.handlers: Mapping[str, Callable[[Any], None]] = {
            "session-create": self._session,
            "session-update": self._session,
            "message-add": self._message,
            "message-update": self._message_update,
            "tool-start": self._tool_start,
            "tool-result": self._tool_result,
            "run-end": self._run_end,
        }

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event."""
        self.handlers[logged.event.type](logged.event)

    @property
    def running_turns(self) -> int:
        """Conversations whose turn works."""
        return sum(status == "running" for status in self._status.values())

    @property
    def waiting_turns(self) -> int:
        """Conversations that wait for their user."""
        return sum(status == "waiting" for status in self._status.values())

    @property
    def running_cells(self) -> int:
        """Calls that run code in a kernel."""
        return len(self._cells)

    @property
    def queued_messages(self) -> int:
        """Messages that wait for the running turn."""
        return len(self._queued)

    def _session(self, event: ev.SessionCreate | ev.SessionUpdate) -> None:
        if event.session.status in ("running", "waiting"):
            self._status[event.session.id] = event.session.status
        else:
            self._status.pop(event.session.id, None)

    def _message(self, event: ev.MessageAdd) -> None:
        if event.queued:
            self._queued.add((event.session_id, event.message_id))

    def _message_update(self, event: ev.MessageUpdate) -> None:
        if event.status != "queued":
            self._queued.discard((event.session_id, event.message_id))

    def _tool_start(self, event: ev.ToolStart) -> None:
        if event.kernel_id is not None:
            self._cells.add((event.session_id, event.call_id))

    def _tool_result(self, event: ev.ToolResult) -> None:
        call = (event.session_id, event.call_id)
        if call in self._cells:
            self._cells.discard(call)
            if event.run is not None:
                self._cells.add((event.session_id, event.run))

    def _run_end(self, event: ev.RunEnd) -> None:
        self._cells.discard((event.session_id, event.run))

"""Passes committed events on to whoever listens: page sockets, SSE streams, the activity report.

The log's ``EventSink``. Made by ``host.build``; listeners are added by the server.
"""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.storage.base import LoggedEvent


class EventListener(Protocol):
    """Hears of each event after its commit, in order; must not block or raise."""

    def heard(self, logged: LoggedEvent) -> None:
        """Take note of a committed event."""
        ...


class EventHub:
    """The listeners of one process."""

    def __init__(self) -> None:
        self._listeners: tuple[EventListener, ...] = ()

    def add(self, listener: EventListener) -> None:
        """Let ``listener`` hear of every event from now on."""
        self._listeners = (*self._listeners, listener)

    def remove(self, listener: EventListener) -> None:
        """No more events for ``listener``."""
        self._listeners = tuple(other for other in self._listeners if other is not listener)

    def publish(self, logged: LoggedEvent) -> None:
        """Pass a committed event on."""
        for listener in self._listeners:
            listener.heard(logged)

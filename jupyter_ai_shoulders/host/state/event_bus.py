"""Passes committed events on to whoever listens: page sockets, SSE streams, the activity report.

The log's ``EventSink``. Made by ``host.build``; listeners are added by the server.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.ids import SessionId


class EventListener(Protocol):
    """Hears of each event after its commit, in order; must not block or raise."""

    def on_event(self, logged: LoggedEvent) -> None:
        """Take note of a committed event."""
        ...


class _Follower(NamedTuple):
    listener: EventListener
    ended: Callable[[], None]


class EventBus:
    """The listeners of one process: some hear of all sessions, some of one."""

    def __init__(self) -> None:
        self._listeners: tuple[EventListener, ...] = ()
        self._followers: dict[SessionId, tuple[_Follower, ...]] = {}

    def add(self, listener: EventListener) -> None:
        """Let ``listener`` hear of every event from now on."""
        self._listeners = (*self._listeners, listener)

    def follow(
        self,
        session_id: SessionId,
        listener: EventListener,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Let ``listener`` hear of every event of this session from now on.

        ``ended`` is called when nothing comes any more; it must not block or raise.
        """
        follower = _Follower(listener, ended)
        self._followers[session_id] = (*self._followers.get(session_id, ()), follower)

    def unfollow(self, session_id: SessionId, listener: EventListener) -> None:
        """No more events of this session for ``listener``."""
        followers = self._followers.pop(session_id, ())
        rest = tuple(other for other in followers if other.listener is not listener)
        if rest:
            self._followers[session_id] = rest

    def publish(self, logged: LoggedEvent) -> None:
        """Pass a committed event on."""
        for listener in self._listeners:
            listener.on_event(logged)
        for follower in self._followers.get(logged.event.session_id, ()):
            follower.listener.on_event(logged)

    def close(self) -> None:
        """Tell all who follow that nothing comes any more: the process stops."""
        for followers in list(self._followers.values()):
            for follower in followers:
                follower.ended()

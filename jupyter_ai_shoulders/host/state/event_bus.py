"""Passes committed events to listeners: page sockets, SSE streams, the activity report.

Implements the log's ``EventSink``. Made by ``host.build``; the server adds listeners.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple, Protocol

from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.ids import SessionId


class EventListener(Protocol):
    """Receives each event after its commit, in order; must not block or raise."""

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event."""
        ...


class _Follower(NamedTuple):
    listener: EventListener
    ended: Callable[[], None]


class EventBus:
    """The listeners of one process, for all sessions or for one."""

    def __init__(self) -> None:
        self._listeners: tuple[EventListener, ...] = ()
        self._of_type: dict[str, tuple[EventListener, ...]] = {}
        self._followers: dict[SessionId, tuple[_Follower, ...]] = {}

    def add(self, listener: EventListener) -> None:
        """Pass every later event to ``listener``."""
        self._listeners = (*self._listeners, listener)

    def add_for(self, types: Iterable[str], listener: EventListener) -> None:
        """Pass every later event of these types to ``listener``; others cost it nothing."""
        for each in types:
            self._of_type[each] = (*self._of_type.get(each, ()), listener)

    def remove_from(self, types: Iterable[str], listener: EventListener) -> None:
        """Stop passing events of these types to ``listener``."""
        for each in types:
            others = (other for other in self._of_type.get(each, ()) if other is not listener)
            self._of_type[each] = tuple(others)

    def follow(
        self,
        session_id: SessionId,
        listener: EventListener,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        """Pass every later event of this session to ``listener``.

        ``ended`` is called when no more events come; it must not block or raise.
        """
        follower = _Follower(listener, ended)
        self._followers[session_id] = (*self._followers.get(session_id, ()), follower)

    def unfollow(self, session_id: SessionId, listener: EventListener) -> None:
        """Stop passing events of this session to ``listener``."""
        followers = self._followers.pop(session_id, ())
        rest = tuple(other for other in followers if other.listener is not listener)
        if rest:
            self._followers[session_id] = rest

    def publish(self, logged: LoggedEvent) -> None:
        """Pass a committed event on."""
        for listener in self._listeners:
            listener.on_event(logged)
        for listener in self._of_type.get(logged.event.type, ()):
            listener.on_event(logged)
        for follower in self._followers.get(logged.event.session_id, ()):
            follower.listener.on_event(logged)

    def close(self) -> None:
        """Tell all followers that no more events come: the process stops."""
        for followers in list(self._followers.values()):
            for follower in followers:
                follower.ended()

"""Finds the hidden events of a log: those after an edited message or before a restore.

Pure; used by the engine, which builds its context from the visible events, and by exports.
``wire.conversation.reducer`` does the same for messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.wire.events import Event, MessageAdd, Replaced, Restore

HIDING = frozenset({"message-add", "restore"})
"""The types of events that hide others."""


class Branches:
    """The ranges of one log hidden by edited messages and restores."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """``events`` are those of a log; only the types in ``HIDING`` count."""
        stretches = ((event, replaced_by(event)) for event in events)
        self._hidden = [range(gone.seq, event.seq) for event, gone in stretches if gone is not None]

    def hides(self, seq: int) -> bool:
        """Return whether the event is on an abandoned branch."""
        return bool(self._hidden) and any(seq in stretch for stretch in self._hidden)

    def __bool__(self) -> bool:
        """Whether anything is hidden."""
        return bool(self._hidden)


def replaced_by(event: Event) -> Replaced | None:
    """Return what an event replaces; None for most events."""
    match event:
        case MessageAdd():
            return event.replaces
        case Restore():
            return event.conversation
        case _:
            return None


def visible_events(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the visible events of a whole log."""
    branches = Branches(events)
    return (event for event in events if not branches.hides(event.seq))

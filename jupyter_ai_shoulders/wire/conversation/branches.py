"""Which events of a log are hidden: what stood behind a message that was edited, or gone back to.

Pure; used by the engine, which builds its context from the events in sight, and by exports. The
fold of views does the same with messages (``wire.conversation.reducer``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.wire.events import Event, MessageAdd, Replaced, Restore

HIDING = frozenset({"message-add", "restore"})
"""The types of the events that hide others."""


class Branches:
    """The stretches of one log that edited messages and restores have hidden."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Take the events of a log, of which only those of the types ``HIDING`` count."""
        stretches = ((event, replaced_by(event)) for event in events)
        self._hidden = [range(gone.seq, event.seq) for event, gone in stretches if gone is not None]

    def hides(self, seq: int) -> bool:
        """Return whether the event is on a branch that was left."""
        return any(seq in stretch for stretch in self._hidden)

    def __bool__(self) -> bool:
        """Whether anything is hidden."""
        return bool(self._hidden)


def replaced_by(event: Event) -> Replaced | None:
    """Return what an event takes the place of; None for most."""
    match event:
        case MessageAdd():
            return event.replaces
        case Restore():
            return event.conversation
        case _:
            return None


def visible_events(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events of a whole log that are not hidden."""
    branches = Branches(events)
    return (event for event in events if not branches.hides(event.seq))

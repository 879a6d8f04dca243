"""Which events of a log are hidden: what stood behind a message that was edited and sent again.

Pure; used by the engine, which builds its context from the events in sight, and by exports. The
fold of views does the same with messages (``wire.fold``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.wire.events import Event, MessageAdd


class Branches:
    """The stretches of one log that edited messages have hidden."""

    def __init__(self, events: Iterable[Event] = ()) -> None:
        """Take the events of a log, of which only ``message-add`` counts."""
        self._hidden = [
            range(event.replaces.seq, event.seq)
            for event in events
            if isinstance(event, MessageAdd) and event.replaces is not None
        ]

    def hides(self, seq: int) -> bool:
        """Return whether the event is on a branch that was left."""
        return any(seq in stretch for stretch in self._hidden)

    def __bool__(self) -> bool:
        """Whether anything is hidden."""
        return bool(self._hidden)


def in_sight(events: Sequence[Event]) -> Iterator[Event]:
    """Yield the events of a whole log that are not hidden."""
    branches = Branches(events)
    return (event for event in events if not branches.hides(event.seq))

"""Which page each message was sent from; asked when a call of its turn begins.

Kept in memory only: after a restart, documents are changed in the page focused last.
"""

from __future__ import annotations

from collections import OrderedDict

from jupyter_ai_shoulders.wire.ids import ClientId, MessageId, SessionId

REMEMBERED = 1000


class MessageSenders:
    """The pages that the latest messages of all sessions were sent from."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[SessionId, MessageId], ClientId] = OrderedDict()

    def record_sender(
        self, session_id: SessionId, message_id: MessageId, client: ClientId | None
    ) -> None:
        """Note where a message was sent from."""
        if client is not None:
            self._pages[session_id, message_id] = client
            if len(self._pages) > REMEMBERED:
                self._pages.popitem(last=False)

    def page_of(self, session_id: SessionId, message_id: MessageId | None) -> ClientId | None:
        """Return where a message was sent from, None where that is not known."""
        return None if message_id is None else self._pages.get((session_id, message_id))

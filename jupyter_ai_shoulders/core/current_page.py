"""The browser page the current task works for: the page that sent the message.

Made by ``host.shared_services``. Requests and tool calls set it; a document open in several pages
is read and changed in that page.
"""

from __future__ import annotations

from contextvars import ContextVar

from jupyter_ai_shoulders.wire.ids import ClientId


class CurrentPage:
    """Stores the page of each task; child tasks inherit it."""

    def __init__(self) -> None:
        self._client: ContextVar[ClientId | None] = ContextVar("acting_page", default=None)

    @property
    def client(self) -> ClientId | None:
        """The page of the current task, or None."""
        return self._client.get()

    def set_client(self, client: ClientId | None) -> None:
        """Set the page of the current task."""
        self._client.set(client)

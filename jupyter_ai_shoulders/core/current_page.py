"""The browser page on whose behalf the present task works: the one that sent the message.

Made by ``host.shared_services``. Requests and tool calls set it; documents that several pages have
open are read and changed in that page.
"""

from __future__ import annotations

from contextvars import ContextVar

from jupyter_ai_shoulders.wire.ids import ClientId


class CurrentPage:
    """Remembers one page for each task; tasks that a task starts have its page."""

    def __init__(self) -> None:
        self._client: ContextVar[ClientId | None] = ContextVar("acting_page", default=None)

    @property
    def client(self) -> ClientId | None:
        """The page of the present task, None where it works for no page."""
        return self._client.get()

    def set_client(self, client: ClientId | None) -> None:
        """Note for which page the present task works from now on."""
        self._client.set(client)

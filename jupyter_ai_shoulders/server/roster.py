"""The pages connected to this server. Passes events to those that follow them and frames to one.

Made by ``server.app``; the event hub's listener, and the transport of the live documents.
"""

from __future__ import annotations

from jupyter_ai_shoulders.server.page import Page
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.frames import FrameError, ServerFrame
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId

GOING_AWAY = 1001


class PageRoster:
    """Pages by the id each chose for itself."""

    def __init__(self) -> None:
        self._pages: dict[ClientId, Page] = {}

    def add(self, page: Page) -> None:
        """Take in a page that said hello; an earlier connection of the same page is dropped."""
        earlier = self._pages.pop(page.client_id, None)
        if earlier is not None:
            earlier.close(GOING_AWAY, "the page connected again")
        self._pages[page.client_id] = page

    def remove(self, page: Page) -> bool:
        """Forget a page; return False when a newer connection took its place."""
        page.disconnected()
        if self._pages.get(page.client_id) is not page:
            return False
        del self._pages[page.client_id]
        return True

    def heard(self, logged: LoggedEvent) -> None:
        """Pass a committed event on."""
        for page in self._pages.values():
            page.offer(logged)

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page; nothing happens when it is gone."""
        page = self._pages.get(client_id)
        if page is not None:
            page.send(frame)

    def deleted(self, session_id: SessionId) -> None:
        """Tell the pages that follow a session that it is gone."""
        error = ErrorInfo(
            code="not_found",
            message="This conversation was deleted.",
            hint="It can be brought back for 30 days.",
            details={"session_id": session_id},
        )
        for page in self._pages.values():
            if page.follows(session_id):
                page.unfollow(session_id)
                page.send(FrameError(error=error))

    def close(self) -> None:
        """Disconnect every page: the server stops."""
        for page in list(self._pages.values()):
            page.close(GOING_AWAY, "the server stops")
        self._pages.clear()

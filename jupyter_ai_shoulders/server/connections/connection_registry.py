"""The pages connected to this server. Passes events to their followers, and frames to one page.

Made by ``server.app``; a listener of the event bus, and the transport of live documents.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.server.connections.page_connection import PageConnection
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire.events import EditPending, EditResolve
from jupyter_ai_shoulders.wire.frames import (
    EditsUpdate,
    ServerFrame,
    SessionDelete,
    SettingsPart,
    SettingsUpdate,
    ToolsUpdate,
)
from jupyter_ai_shoulders.wire.ids import ClientId, SessionId
from jupyter_ai_shoulders.wire.sessions import Session

GOING_AWAY = 1001


class PageConnectionRegistry:
    """Pages by the id that each chose."""

    def __init__(self, owner_of: Callable[[SessionId], str | None] = lambda _: None) -> None:
        """``owner_of`` returns the owner of a session; raises ``NotFound``."""
        self._owner_of = owner_of
        self._pages: dict[ClientId, PageConnection] = {}

    def check(self, client_id: ClientId, user: str | None) -> None:
        """Raise ``Conflict`` when another user's page has this id."""
        page = self._pages.get(client_id)
        if page is not None and page.user != user:
            raise Conflict(
                "Another page has this id.", hint="Reload the page; it then chooses another one."
            )

    def add(self, page: PageConnection) -> None:
        """Add a page that sent its hello; an earlier connection of the same page is dropped."""
        earlier = self._pages.pop(page.client_id, None)
        if earlier is not None:
            earlier.close(GOING_AWAY, "the page connected again")
        self._pages[page.client_id] = page

    def remove(self, page: PageConnection) -> bool:
        """Remove a page; return False when a newer connection has replaced it."""
        page.disconnected()
        if self._pages.get(page.client_id) is not page:
            return False
        del self._pages[page.client_id]
        return True

    def on_event(self, logged: LoggedEvent) -> None:
        """Pass a committed event on."""
        for page in self._pages.values():
            page.offer(logged)
        match logged.event:
            case EditPending(document=document) | EditResolve(document=str(document)):
                self._edits_changed(document, logged.event.session_id)
            case _:
                pass

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page; ignored if it is no longer connected."""
        page = self._pages.get(client_id)
        if page is not None:
            page.send(frame)

    def deleted(self, session: Session) -> None:
        """Tell every page that may see the session that it was deleted."""
        for page in self._pages.values():
            page.unfollow(session.id)
        for page in self._seeing(session.owner):
            page.send(SessionDelete(session_id=session.id))

    def tools_changed(self) -> None:
        """Tell every page that permissions changed."""
        for page in self._pages.values():
            page.send(ToolsUpdate())

    def settings_changed(self, part: SettingsPart) -> None:
        """Tell every page that settings changed."""
        for page in self._pages.values():
            page.send(SettingsUpdate(part=part))

    def _edits_changed(self, document: str, session_id: SessionId) -> None:
        """Tell pages that the list of pending edits changed; it covers all sessions."""
        try:
            owner = self._owner_of(session_id)
        except NotFound:  # deleted; its pending edits are in nobody's list
            return
        for page in self._seeing(owner):
            page.send(EditsUpdate(document=document))

    def _seeing(self, owner: str | None) -> list[PageConnection]:
        return [page for page in self._pages.values() if page.may_see(owner)]

    def close(self) -> None:
        """Disconnect every page: the server stops."""
        for page in list(self._pages.values()):
            page.close(GOING_AWAY, "the server stops")
        self._pages.clear()

"""Moves the anchors of task threads, when pages report it or documents are renamed.

Called by the handlers of ``anchors`` and by ``host.host`` after a rename. A move is an event, but
does not count as activity: the thread keeps its position in lists and its time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, ShouldersError
from jupyter_ai_shoulders.storage.errors import session_not_found
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.api.anchors import (
    MoveAnchors,
    MovedAnchor,
    MovedAnchors,
    RefusedAnchor,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

AT_ONCE = 50
"""Threads moved between two turns of the event loop, in about 10 ms."""
MaySee = Callable[[SessionId], bool]


class ThreadAnchorService:
    """Moves the anchors of threads."""

    def __init__(self, sessions: SqliteSessions, path_now: Callable[[str], str] = str) -> None:
        """``path_now`` returns the current path of a renamed document."""
        self._sessions = sessions
        self._path_now = path_now
        self._renaming = asyncio.Lock()

    async def move(self, command: MoveAnchors, may_see: MaySee) -> MovedAnchors:
        """Set anchors as the page reports; an unchanged anchor causes no event."""
        moved: list[SessionId] = []
        refused: list[RefusedAnchor] = []
        for number, given in enumerate(command.moved, 1):
            if number % AT_ONCE == 0:
                await asyncio.sleep(0)
            try:
                self._move(given, may_see)
            except ShouldersError as error:
                refused.append(RefusedAnchor(session_id=given.session_id, error=error.info))
            else:
                moved.append(given.session_id)
        return MovedAnchors(moved=tuple(moved), refused=tuple(refused))

    async def renamed(self, old: str, new: str) -> None:
        """Move threads with a file or a folder. Raises ``StateUnavailable``.

        Renames are handled one after another: the next may be of this one's target.
        """
        async with self._renaming:
            for number, thread in enumerate(self._sessions.pinned_below(old), 1):
                if number % AT_ONCE == 0:
                    await asyncio.sleep(0)
                self._follow(thread.id, old, new)

    def follow_after_undelete(self, thread: Session) -> Session:
        """Move a restored thread to its document, which may have been renamed in between."""
        anchor = thread.anchor
        if anchor is None:
            return thread
        try:
            document = self._path_now(anchor.document)
        except ShouldersError:  # it is outside of the workspace
            return thread
        if document == anchor.document:
            return thread
        return self._sessions.move(thread, anchor.model_copy(update={"document": document}))

    def _follow(self, session_id: SessionId, old: str, new: str) -> None:
        try:
            thread = self._sessions.get(session_id)  # a page may have moved it in between
        except NotFound:
            return
        anchor = thread.anchor
        if anchor is None or not _is_below(anchor.document, old):
            return
        document = new + anchor.document[len(old) :]
        self._sessions.move(thread, anchor.model_copy(update={"document": document}))
        crash_point("anchors.document.renamed")

    def _move(self, given: MovedAnchor, may_see: MaySee) -> None:
        thread = self._thread(given.session_id, may_see)
        if thread.anchor != given.anchor:
            self._sessions.move(thread, given.anchor)
            crash_point("anchors.anchor.moved")

    def _thread(self, session_id: SessionId, may_see: MaySee) -> Session:
        """Return a thread. Raises ``NotFound``, ``InvalidRequest`` for another conversation."""
        if not may_see(session_id):
            raise session_not_found(session_id)
        session = self._sessions.get(session_id)
        if session.kind != "task" or session.anchor is None:
            raise InvalidRequest(
                f"Conversation {session_id} is not pinned to a place.",
                hint="Only task threads have anchors; make one with POST sessions.",
            )
        return session


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder}/")

"""Imports threads that a document lists in its metadata; see docs/design/task-threads.md.

Called by the handler of ``anchors/adopt`` when a page opens such a document. The list may name only
conversations of this state directory; other entries are ignored.
"""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.host.sessions.forks import Forks
from jupyter_ai_shoulders.host.threads.anchors import MaySee
from jupyter_ai_shoulders.storage.sessions.forks import ExistingCopy, SqliteForks
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.api.anchors import (
    AdoptedThread,
    AdoptedThreads,
    AdoptThreads,
    ListedThread,
    RefusedAnchor,
)
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session


class ThreadImport:
    """Finds the threads that a document lists: its own, or those of the document it was copied
    from.
    """

    def __init__(
        self,
        *,
        sessions: SqliteSessions,
        copies: SqliteForks,
        forks: Forks,
        workspace: Workspace,
    ) -> None:
        self._sessions = sessions
        self._copies = copies
        self._forks = forks
        self._workspace = workspace
        self._adopting = asyncio.Lock()

    async def adopt(self, command: AdoptThreads, may_see: MaySee) -> AdoptedThreads:
        """Return which threads represent those of the list.

        A thread of this document represents itself. A thread whose document no longer exists was
        moved with the text, outside the lab. A thread whose document still exists gets a copy in
        this one; repeated calls, also after a crash, return the same copy. Raises
        ``StateUnavailable``.
        """
        async with self._adopting:
            copies = self._copies.copies_in(command.document)
            adopted: list[AdoptedThread] = []
            unknown: list[SessionId] = []
            refused: list[RefusedAnchor] = []
            for kept in {kept.id: kept for kept in command.threads}.values():
                try:
                    to = await self._replacement(kept, command.document, copies, may_see)
                except ShouldersError as error:
                    refused.append(RefusedAnchor(session_id=kept.id, error=error.info))
                    continue
                if to is None:
                    unknown.append(kept.id)
                else:
                    adopted.append(AdoptedThread.model_validate({"from": kept.id, "to": to}))
            return AdoptedThreads(
                adopted=tuple(adopted), unknown=tuple(unknown), refused=tuple(refused)
            )

    async def _replacement(
        self,
        kept: ListedThread,
        document: str,
        copies: dict[SessionId, ExistingCopy],
        may_see: MaySee,
    ) -> SessionId | None:
        """Return the thread that represents a listed one; None if there is none."""
        thread = self._known(kept.id, may_see)
        if thread is not None and _document(thread) == document:
            return thread.id
        copy = copies.get(kept.id)
        if copy is not None:
            return copy.id if not copy.deleted and may_see(copy.id) else None
        if thread is None:
            return None
        anchor = kept.anchor.model_copy(update={"document": document})
        if await asyncio.to_thread(self._exists, _document(thread)):
            thread = await self._forks.pin_copy(thread, anchor)
        else:
            self._sessions.move(thread, anchor)
        crash_point("adoption.thread.adopted")
        return thread.id

    def _known(self, session_id: SessionId, may_see: MaySee) -> Session | None:
        if not may_see(session_id):
            return None
        try:
            session = self._sessions.get(session_id)
        except NotFound:
            return None
        return session if session.kind == "task" and session.anchor is not None else None

    def _exists(self, document: str) -> bool:
        """Return whether a document exists; True if it cannot be checked."""
        try:
            self._workspace.kind(self._workspace.path(document))
        except NotFound:
            return False
        except ShouldersError:
            return True
        return True


def _document(thread: Session) -> str:
    assert thread.anchor is not None
    return thread.anchor.document

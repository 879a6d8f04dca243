"""Revokes the permissions of conversations that came with a folder.

Called by ``host.host`` when the state directory belongs to somebody else: the conversations can be
read and continued, but their grants and open turns end, and edits ask again.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.engine.loop.event_reducer import FOREIGN
from jupyter_ai_shoulders.storage.sessions.event_log import SqliteEventLog
from jupyter_ai_shoulders.storage.sessions.table import SessionFilter, SqliteSessions
from jupyter_ai_shoulders.wire.events import ApprovalAnswer, Notice
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Session

_PAGE = 500
_TEXT = (
    "This conversation came with the folder, so what was allowed in it earlier no longer applies."
)


def revoke_permissions(sessions: SqliteSessions, log: SqliteEventLog) -> list[SessionId]:
    """Revoke the permissions of all conversations; return those whose open turn must be ended.

    Raises ``StateUnavailable``.
    """
    open_turns = sessions.needing_recovery()
    allowed = {
        logged.event.session_id
        for logged in log.find(("approval-answer",))
        if isinstance(logged.event, ApprovalAnswer) and logged.event.decision == "allow"
    }
    for session in list(_all(sessions)):
        if session.mode not in {"ask", "plan"}:
            sessions.update(session.model_copy(update={"mode": "ask"}))
    for session_id in dict.fromkeys([*open_turns, *sorted(allowed)]):
        log.append(session_id, Notice(level="warning", code=FOREIGN, text=_TEXT))
    return open_turns


def _all(sessions: SqliteSessions) -> Iterator[Session]:
    cursor: str | None = None
    while True:
        page = sessions.page(SessionFilter(), cursor, _PAGE)
        yield from page.sessions
        cursor = page.next_cursor
        if cursor is None:
            return

"""Which conversations may know what others did to files, for the tools on the operation log.

Made by ``host.build``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.ids import SessionId


class OperationVisibility:
    """On a hub a conversation sees what its owner's did, and shared ones; else all is shown."""

    def __init__(self, sessions: SqliteSessions, *, has_owners: bool) -> None:
        self._sessions = sessions
        self._has_owners = has_owners

    def may_see(self, session_id: SessionId, other: SessionId | None) -> bool:
        """Return whether a conversation may see what another one did; None: the user, by hand."""
        if other == session_id or not self._has_owners:
            return True
        if other is None:
            return False
        try:
            owner, _ = self._sessions.header(other)
        except NotFound:
            return False
        return owner is None or owner == self._sessions.header(session_id)[0]

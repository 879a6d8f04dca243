"""Ids of the conversations of sub-agents, and whom such a conversation works for."""

from __future__ import annotations

import hashlib

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.storage.sessions.table import SqliteSessions
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.sessions import ParentCall

PREFIX = "sub_"


def sub_agent_id(parent: SessionId, call_id: CallId) -> SessionId:
    """Return the id of a call's sub-agent; it is derived, so a call never has two."""
    named = f"{parent}\0{call_id}".encode("utf-8", "surrogatepass")
    return SessionId(f"{PREFIX}{hashlib.sha256(named).hexdigest()[:24]}")


def parent_of_sub_agent(sessions: SqliteSessions, session_id: SessionId) -> ParentCall | None:
    """Return whom a conversation works for; None for all but sub-agents.

    Called before each model call, so only the ids of sub-agents are looked up.
    """
    if not session_id.startswith(PREFIX):
        return None
    try:
        return sessions.get(session_id).parent
    except ShouldersError:  # deleted while its last call runs: booked on its own
        return None

"""The fields of every event, and the possible authors.

The base of the modules in ``wire.event_types``; other modules import ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

Author = Literal["user", "agent", "policy", "system"]


class EventBase(WireModel):
    """The fields of every event."""

    seq: int = 0
    """Position in the session's log, from 1 without gaps; 0 before the log stamped it."""
    session_id: SessionId = SessionId("")
    turn_id: TurnId | None = None
    at: Timestamp = ""

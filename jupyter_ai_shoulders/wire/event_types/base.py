"""What every event carries, and who can be behind one.

The base of the ``events_*`` modules; everybody else imports ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId

Author = Literal["user", "agent", "policy", "system"]


class EventBase(WireModel):
    """What every event carries."""

    seq: int = 0
    """Position in the session's log, from 1 without gaps; 0 before the log stamped it."""
    session_id: SessionId = SessionId("")
    turn_id: TurnId | None = None
    at: Timestamp = ""

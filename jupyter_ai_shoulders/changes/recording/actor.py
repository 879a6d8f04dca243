"""On whose behalf notebooks are changed; noted by ``changes.recording.recorder`` for each task.

Used by the wrappers of ``changes.recording.recording_wrappers``, by restores, proposals and the
review.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.wire.event_types.restore import RestoreOrder
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId


@dataclass(frozen=True, slots=True)
class Actor:
    """On whose behalf notebooks are changed: a call, or a restore."""

    session_id: SessionId
    checkpoint: str
    """Changes with the same one share a checkpoint: the turn, or the restore."""
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    order: RestoreOrder | None = None
    by: Literal["agent", "user"] = "agent"
    """``user``: the user said so and reviews it no more: restores, applied proposals, review."""
    review: bool = False
    """It is reviewed all the same: what a task thread proposed."""


def origin_of(actor: Actor) -> ChangeOrigin:
    """Return on whose behalf, as the operation log and the review know it."""
    return ChangeOrigin(
        actor.session_id,
        actor.turn_id,
        actor.call_id,
        by=actor.by,
        review=actor.review,
        batch=None if actor.order is None else actor.order.restore_id,
    )

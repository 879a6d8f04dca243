"""The actor on whose behalf notebooks are changed; ``changes.recording.recorder`` holds it per
task.

Used by the wrappers in ``changes.recording.recording_wrappers``, restores, proposals and review.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.wire.event_types.restore import RestoreRequest
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId


@dataclass(frozen=True, slots=True)
class Actor:
    """A call, restore or decision that changes notebooks."""

    session_id: SessionId
    checkpoint: str
    """Changes with the same value share a checkpoint: the id of a turn or a restore."""
    turn_id: TurnId | None = None
    call_id: CallId | None = None
    order: RestoreRequest | None = None
    by: Literal["agent", "user"] = "agent"
    """``user``: the user asked for the change, so it is not reviewed (restores, applied proposals,
    review).
    """
    review: bool = False
    """Whether the change is reviewed although ``by`` is ``user``: proposals of task threads."""


def origin_of(actor: Actor) -> ChangeOrigin:
    """Return the actor as the operation log and the review record it."""
    return ChangeOrigin(
        actor.session_id,
        actor.turn_id,
        actor.call_id,
        by=actor.by,
        review=actor.review,
        batch=None if actor.order is None else actor.order.restore_id,
    )

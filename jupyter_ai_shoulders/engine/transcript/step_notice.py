"""What the model is told when few steps are left; used where requests are made and replayed.

Derived from the step alone and kept in the conversation from then on: a remark that rode one
request and vanished from the next would change bytes already sent, which loses the prompt cache
and invalidates thinking that is bound to its prefix (reference on Anthropic, §0 row 3).
"""

from __future__ import annotations

STEPS_LEFT = 3
"""The notice comes when this many steps are left (chapter 04, policy values)."""


def step_notice(step: int, limit: int) -> str | None:
    """Return the remark for this step of a turn with this step limit."""
    left = limit - step + 1
    if left == 1 and limit > 1:
        return "[notice] This is the last step of this turn: finish, or say what is left."
    if left == STEPS_LEFT < limit:
        return f"[notice] {left} steps are left in this turn, this one included."
    return None

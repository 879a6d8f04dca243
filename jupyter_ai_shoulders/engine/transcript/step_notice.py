"""The notice to the model that few steps are left; used to build and to replay requests.

Derived from the step number and kept in the conversation from then on: removing it from later
requests would change sent bytes, which loses the prompt cache and invalidates reasoning that is
bound to its prefix (see docs/design/providers.md#anthropic-messages).
"""

from __future__ import annotations

STEPS_LEFT = 3
"""The number of remaining steps at which the notice appears."""


def step_notice(step: int, limit: int) -> str | None:
    """Return the notice for this step of a turn with this limit."""
    left = limit - step + 1
    if left == 1 and limit > 1:
        return "[notice] This is the last step of this turn: finish, or say what is left."
    if left == STEPS_LEFT < limit:
        return f"[notice] {left} steps are left in this turn, this one included."
    return None

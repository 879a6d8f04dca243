"""Which tools a conversation never has, whatever its toolset.

A sub-agent has no sub-agents and schedules nothing; only sub-agents have kernels of their own.
Used by ``engine``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire.sessions import Session

DELEGATE = "delegate"
RUN_IN_OWN_KERNEL = "run_in_own_kernel"
SCHEDULE_NEXT_RUN = "schedule_next_run"


def withheld_tools(session: Session) -> frozenset[str]:
    """Return the names of the tools that are neither offered nor executed."""
    if session.parent is None:
        return frozenset({RUN_IN_OWN_KERNEL})
    return frozenset({DELEGATE, SCHEDULE_NEXT_RUN})

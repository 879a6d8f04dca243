"""Which tools a conversation never has, whatever its toolset.

A sub-agent has no sub-agents; only sub-agents have kernels of their own. Used by ``engine``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire.sessions import Session

DELEGATE = "delegate"
RUN_IN_OWN_KERNEL = "run_in_own_kernel"


def withheld_tools(session: Session) -> frozenset[str]:
    """Return the names of the tools that are neither offered nor executed."""
    return frozenset({RUN_IN_OWN_KERNEL if session.parent is None else DELEGATE})

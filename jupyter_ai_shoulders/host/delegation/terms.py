"""What a sub-agent may do, from what its parent may do. Pure."""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.tools.agent.delegate import DelegateArguments, SubAgentToolset
from jupyter_ai_shoulders.tools.base import CallContext
from jupyter_ai_shoulders.wire.sessions import Mode, Session, Toolset

_WIDTH: tuple[Toolset, ...] = ("notebook", "workspace", "full")
"""Toolsets that have sub-agents, narrowest first; each has all tools of those before it."""


def narrowed(mode: Mode, toolset: Toolset, wanted: SubAgentToolset) -> tuple[Mode, Toolset]:
    """Return a sub-agent's mode and toolset, never wider than its parent's.

    ``read`` is the mode ``plan``, in which only tools that read are offered and executed.
    """
    asked: Toolset = "workspace" if wanted == "read" else wanted
    got = asked if _WIDTH.index(asked) <= _WIDTH.index(toolset) else toolset
    return ("plan" if wanted == "read" else mode), got


def check_may_delegate(parent: Session, order: DelegateArguments, context: CallContext) -> None:
    """Raise ``PolicyRefusal`` where there are no sub-agents."""
    if parent.parent is not None:
        raise PolicyRefusal(
            "A sub-agent has no sub-agents.", hint="Do it here, or say in the summary what is left."
        )
    if context.toolset not in _WIDTH:
        raise PolicyRefusal(f"There are no sub-agents in the toolset {context.toolset}.")
    if order.toolset != "read" and context.mode == "plan":
        raise PolicyRefusal(
            "In plan mode a sub-agent only reads.", hint="Use the toolset read, or do it later."
        )

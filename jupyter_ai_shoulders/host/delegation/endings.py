"""How a sub-agent's turn ended, in the words of the parent's result. Pure."""

from __future__ import annotations

from jupyter_ai_shoulders.host.delegation.follower import SubAgentFollower
from jupyter_ai_shoulders.tools.agent.delegate import SUMMARY_LIMIT, Outcome
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Exit

GONE = ErrorInfo(
    code="internal",
    message="Its turn stopped without an end; what it did is in its conversation.",
    hint="Do the task here, or try it once more.",
)
_OUTCOMES: dict[Exit, Outcome] = {
    "final_response": "done",
    "ended_by_tool": "done",
    "step_cap": "stopped",
    "tool_rejected": "stopped",
    "cancelled": "cancelled",
}


def ending(follower: SubAgentFollower) -> tuple[Outcome, ErrorInfo | None]:
    if follower.paused is not None:
        return "failed", ErrorInfo(
            code="budget_exhausted",
            message=follower.paused,
            hint="The limit is that of this conversation; work with what you have.",
        )
    if follower.ended is None:
        return "failed", GONE
    outcome = _OUTCOMES.get(follower.ended.exit, "failed")
    error = follower.ended.error
    if outcome == "failed" and error is None:
        error = ErrorInfo(code="internal", message=f"It ended with {follower.ended.exit}.")
    if outcome == "failed" and follower.summary and follower.ended.exit == "budget_exhausted":
        outcome = "stopped"  # its time was up
    if outcome == "cancelled":
        error = ErrorInfo(
            code="aborted",
            message="The user stopped this sub-agent.",
            hint="Go on without it, or ask the user what to do.",
        )
    return outcome, error


def bounded(summary: str) -> str:
    if len(summary) <= SUMMARY_LIMIT:
        return summary
    return f"{summary[:SUMMARY_LIMIT]}\n[… cut: the summary was longer than {SUMMARY_LIMIT}]"

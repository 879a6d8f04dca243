"""The exit codes of ``jupyter shoulders``, which scripts rely on. Pure; for ``program``, ``run``.

0 final answer or complete · 1 error · 2 usage · 3 rejected or approval required · 4 budget ·
5 context overflow · 6 step cap · 7 question pending · 130 cancelled
"""

from __future__ import annotations

from enum import IntEnum

from jupyter_ai_shoulders.client.reader import Answer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.errors import ErrorCode


class Code(IntEnum):
    """How a command ended."""

    OK = 0
    ERROR = 1
    USAGE = 2
    REJECTED = 3
    BUDGET = 4
    CONTEXT = 5
    STEPS = 6
    QUESTION = 7
    CANCELLED = 130


_OF_EXIT: dict[ev.Exit, Code] = {
    "final_response": Code.OK,
    "ended_by_tool": Code.OK,
    "tool_rejected": Code.REJECTED,
    "budget_exhausted": Code.BUDGET,
    "context_overflow": Code.CONTEXT,
    "step_cap": Code.STEPS,
    "cancelled": Code.CANCELLED,
    "error": Code.ERROR,
    "interrupted": Code.ERROR,
}
_OF_ERROR: dict[ErrorCode, Code] = {
    "budget_exhausted": Code.BUDGET,
    "context_overflow": Code.CONTEXT,
    "approval_required": Code.REJECTED,
    "denied": Code.REJECTED,
    "forbidden": Code.REJECTED,
    "invalid_request": Code.USAGE,
    "not_found": Code.USAGE,
    "unknown_model": Code.USAGE,
}


def of_turn(answer: Answer, waits_for: ev.Event | None = None) -> Code:
    """Return the code of a turn that ended, or that waits for the user.

    A call that nobody could approve makes it 3 also when the model then answered: what was asked
    for may not be done.
    """
    if waits_for is not None:
        return _of_waiting(waits_for)
    if answer.exit is None:
        return Code.ERROR
    code = _OF_EXIT[answer.exit]
    if code is not Code.OK:
        return code
    if answer.exit == "ended_by_tool" and answer.question is not None:
        return Code.QUESTION
    return Code.REJECTED if answer.denied else Code.OK


def of_error(code: ErrorCode) -> Code:
    """Return the code of a command that was refused."""
    return _OF_ERROR.get(code, Code.ERROR)


def _of_waiting(event: ev.Event) -> Code:
    match event:
        case ev.ApprovalRequest():
            return Code.REJECTED
        case ev.Notice(code="compaction_ask"):
            return Code.CONTEXT
        case ev.Notice():
            return Code.BUDGET
        case _:
            return Code.QUESTION

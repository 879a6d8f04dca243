"""The exit codes of ``jupyter shoulders``, which scripts rely on. Pure; for ``dispatch``, ``run``.

0 final answer or complete · 1 error · 2 usage · 3 rejected or approval required · 4 budget · 5
context overflow · 6 step cap · 7 question pending · 130 cancelled
"""

from __future__ import annotations

from enum import IntEnum

from jupyter_ai_shoulders.client.turn_reader import Answer
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.errors import ErrorCode


class ExitCode(IntEnum):
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


_OF_EXIT: dict[ev.Exit, ExitCode] = {
    "final_response": ExitCode.OK,
    "ended_by_tool": ExitCode.OK,
    "tool_rejected": ExitCode.REJECTED,
    "budget_exhausted": ExitCode.BUDGET,
    "context_overflow": ExitCode.CONTEXT,
    "step_cap": ExitCode.STEPS,
    "cancelled": ExitCode.CANCELLED,
    "error": ExitCode.ERROR,
    "interrupted": ExitCode.ERROR,
}
_OF_ERROR: dict[ErrorCode, ExitCode] = {
    "budget_exhausted": ExitCode.BUDGET,
    "context_overflow": ExitCode.CONTEXT,
    "approval_required": ExitCode.REJECTED,
    "denied": ExitCode.REJECTED,
    "forbidden": ExitCode.REJECTED,
    "invalid_request": ExitCode.USAGE,
    "not_found": ExitCode.USAGE,
    "unknown_model": ExitCode.USAGE,
}


def exit_code_for_turn(answer: Answer, waits_for: ev.Event | None = None) -> ExitCode:
    """Return the code of a turn that ended, or that waits for the user.

    It is 3 if a call could not be approved, even if the model then answered: the request may not be
    fulfilled.
    """
    if waits_for is not None:
        return _of_waiting(waits_for)
    if answer.exit is None:
        return ExitCode.ERROR
    code = _OF_EXIT[answer.exit]
    if code is not ExitCode.OK:
        return code
    if answer.exit == "ended_by_tool" and answer.question is not None:
        return ExitCode.QUESTION
    return ExitCode.REJECTED if answer.denied else ExitCode.OK


def exit_code_for_error(code: ErrorCode) -> ExitCode:
    """Return the code of a refused command."""
    return _OF_ERROR.get(code, ExitCode.ERROR)


def _of_waiting(event: ev.Event) -> ExitCode:
    match event:
        case ev.ApprovalRequest():
            return ExitCode.REJECTED
        case ev.Notice(code="compaction_ask"):
            return ExitCode.CONTEXT
        case ev.Notice():
            return ExitCode.BUDGET
        case _:
            return ExitCode.QUESTION

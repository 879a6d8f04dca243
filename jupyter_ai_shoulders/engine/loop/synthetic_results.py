"""Results that the engine gives to calls: denied, skipped, cancelled, unknown.

Pure; used by ``engine.loop.turns``, ``engine.loop.batch`` and ``engine.calls.batch_runner``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.loop.state import CallState
from jupyter_ai_shoulders.tools.truncation import truncate
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import CallStatus, ToolResult
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SKIPPED = ErrorInfo(
    code="aborted", message="Skipped: an earlier call in the same step was not allowed."
)
AFTER_COMPLETE = ErrorInfo(code="aborted", message="Skipped: the turn was completed before it.")
AFTER_QUESTION = ErrorInfo(
    code="aborted",
    message="Skipped: it was planned before the user answered.",
    hint="Repeat the call if it is still needed.",
)
AFTER_BUG = ErrorInfo(
    code="aborted",
    message="Skipped: another call in the same step failed in a way that ends the turn.",
    hint="Repeat the call if it is still needed.",
)
NOT_ANSWERED = ErrorInfo(code="aborted", message="The question was not answered.")
CANCELLED = ErrorInfo(code="aborted", message="Cancelled by the user.")
STOPPED = ErrorInfo(code="aborted", message="Stopped: the server was shut down while it ran.")
APPLIED = "The server stopped while this call ran. Its change was found to be applied."
NOT_APPLIED = ErrorInfo(
    code="aborted",
    message="The server stopped before this change was applied; nothing was changed.",
    hint="Repeat the call if it is still needed.",
)
NOT_RUN = ErrorInfo(
    code="aborted", message="Not executed: the turn was interrupted before this call ran."
)
UNKNOWN = ErrorInfo(
    code="aborted",
    message="The server stopped while this call was running. Whether it took effect is unknown.",
    hint="Check what it was meant to change before repeating it.",
)

LOST = ErrorInfo(
    code="aborted",
    message="The server stopped while this was running; its outcome is unknown.",
    hint="Its kernel may still hold its effects, or be running it. Check before repeating it.",
)
LOST_COMMAND = ErrorInfo(
    code="aborted",
    message="The server stopped while this was running, and it was ended. What it did is unknown.",
    hint="Check the files it works on before repeating it.",
)


def changed_since_approval(what: str) -> ErrorInfo:
    """Return why an approved call did not run."""
    return ErrorInfo(
        code="stale",
        message=f"Nothing ran: {what}",
        hint="Read it again. If the call is still needed, repeat it; the user decides again.",
    )


def settled_result(
    call_id: CallId, tool: str, status: CallStatus, error: ErrorInfo, duration_ms: int = 0
) -> ToolResult:
    """Return the result of a call that did not run to its end."""
    return ToolResult(
        call_id=call_id,
        tool=tool,
        status=status,
        result=ToolEnvelope(ok=False, kind="none", data=None, error=error),
        content=(TextPart(text=truncate(error_text(error))),),  # may quote a long argument
        duration_ms=duration_ms,
    )


def answer_result(call_id: CallId, tool: str, answer: tuple[str, ...]) -> ToolResult:
    """Return the result of a question."""
    picks: list[Json] = list(answer)
    return ToolResult(
        call_id=call_id,
        tool=tool,
        status="ok",
        result=ToolEnvelope(ok=True, kind="text", data={"answer": picks}),
        content=(TextPart(text=", ".join(answer)),),
        duration_ms=0,
    )


def supplied_result(
    call: CallState, content: tuple[ResultContent, ...], handle: BlobHash | None, *, ok: bool
) -> ToolResult:
    """Return a result that the user supplied, as truncated for the model."""
    error = None if ok else ErrorInfo(code="cell_error", message="The call failed.")
    return ToolResult(
        call_id=call.call_id,
        tool=call.tool,
        status="ok" if ok else "error",
        result=ToolEnvelope(ok=ok, kind="text", data=None, error=error),
        content=content,
        duration_ms=0,
        handle=handle,
    )


def time_limit_error(limit_s: float) -> ErrorInfo:
    """Return the error of a turn that reached its time limit."""
    return ErrorInfo(
        code="timeout",
        message=f"The turn has run for {limit_s:g} seconds, which is its time limit.",
        hint="Send a message to continue, or raise Shoulders.turn_time_limit.",
    )


def error_text(error: ErrorInfo) -> str:
    """Return the text of an error for the model."""
    return f"{error.message} {error.hint}" if error.hint else error.message


def internal_error(what: str) -> ErrorInfo:
    """Return the error for a bug."""
    code: ErrorCode = "internal"
    return ErrorInfo(
        code=code,
        message=f"{what} failed unexpectedly.",
        hint="The server's log has the details; please report it.",
    )

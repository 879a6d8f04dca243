"""Results that the engine itself gives to calls: denied, skipped, cancelled, unknown.

Pure; used by ``engine.turns`` and ``engine.batch`` for decisions and by ``engine.tool_calls``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import CallStatus, ToolResult
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

SKIPPED = ErrorInfo(
    code="aborted", message="Skipped: an earlier call of the same step was not allowed."
)
AFTER_COMPLETE = ErrorInfo(code="aborted", message="Skipped: the turn was completed before it.")
CANCELLED = ErrorInfo(code="aborted", message="Cancelled by the user.")
STOPPED = ErrorInfo(code="aborted", message="Stopped: the server was shut down while it ran.")
CHANGED_SINCE = ErrorInfo(
    code="stale",
    message="Nothing ran: what this call would act with changed after the user allowed it.",
    hint="Read it again; if the call is still wanted, make it again and the user is asked anew.",
)
NOT_RUN = ErrorInfo(
    code="aborted", message="Not executed: the turn was interrupted before this call ran."
)
UNKNOWN = ErrorInfo(
    code="aborted",
    message="The server stopped while this call ran. Whether it took effect is not known.",
    hint="Look at what it was about before repeating it.",
)


def settled(
    call_id: CallId, tool: str, status: CallStatus, error: ErrorInfo, duration_ms: int = 0
) -> ToolResult:
    """Return the result of a call that did not run to its end."""
    return ToolResult(
        call_id=call_id,
        tool=tool,
        status=status,
        result=ToolEnvelope(ok=False, kind="none", data=None, error=error),
        content=(TextPart(text=error_text(error)),),
        duration_ms=duration_ms,
    )


def error_text(error: ErrorInfo) -> str:
    """Return what the model reads of an error."""
    return f"{error.message} {error.hint}" if error.hint else error.message


def internal_error(what: str) -> ErrorInfo:
    """Return what is said of a bug."""
    code: ErrorCode = "internal"
    return ErrorInfo(
        code=code,
        message=f"{what} failed in a way that should not happen.",
        hint="The server's log has the details; please report it.",
    )

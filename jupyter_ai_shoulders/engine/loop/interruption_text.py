"""Describes an interrupted turn to the model and the user. Pure.

Used for the notice of an interruption.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import assert_never

from jupyter_ai_shoulders.engine.loop.state import BackgroundRun, CallState, TurnState
from jupyter_ai_shoulders.wire.events import CallStatus, ToolStart
from jupyter_ai_shoulders.wire.ids import CallId


def describe_interruption(
    turn: TurnState, found: Collection[CallId] = (), runs: Collection[BackgroundRun] = ()
) -> str:
    """Return what happened to the interrupted step, call by call.

    ``found`` are calls whose outcome was determined from their targets, ``runs`` are background
    runs of earlier calls that were still running.
    """
    if turn.step == 0:
        return "The turn was interrupted before its first step. Resume or discard it."
    beside = (f"“{run.title}” was still running" for run in runs)
    facts = "; ".join((*_facts(turn, found), *beside))
    return f"The turn was interrupted in step {turn.step}: {facts}. Resume or discard it."


def _facts(turn: TurnState, found: Collection[CallId]) -> Iterator[str]:
    if not turn.reply_complete:
        yield "the model's reply was cut off"
    elif not turn.calls:
        yield "the reply was complete"
    for call in turn.calls:
        if call.call_id in found:
            yield f"“{call.title}” was {'applied' if call.status == 'ok' else 'not applied'}"
        else:
            yield f"“{call.title}” {_fact(call)}"


def _fact(call: CallState) -> str:
    if call.status is not None:
        return _outcome(call.status)
    if call.question:
        return "waits for your answer" if call.asks else "was answered"
    if call.start is not None:
        return _may_have_happened(call.start)
    if call.waits:
        return "waits for your approval"
    return "was not executed"


def _may_have_happened(start: ToolStart) -> str:
    if start.pid is not None:
        return "was running and was ended; what it did before that is unknown"
    return "had started; whether it took effect is not known"


def _outcome(status: CallStatus) -> str:
    match status:
        case "ok":
            return "was done"
        case "error":
            return "failed"
        case "denied":
            return "was not allowed"
        case "skipped":
            return "was skipped"
        case "cancelled":
            return "was cancelled"
        case "unknown":
            return "may have taken effect"
        case _:
            assert_never(status)

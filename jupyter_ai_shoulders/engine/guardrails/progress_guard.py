"""Tracks what a turn has read, listed and repeated, and decides when to intervene.

Pure. ``engine.loop.event_reducer`` keeps a ``ProgressGuard`` in the state; ``engine.loop.turns``
asks it for notices before each step, ``engine.loop.batch`` whether the user must approve a call
(see docs/design/engine.md#guardrails). It is silent in a turn without problems.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.guardrails.loop_detection import (
    CallOutcome,
    CallTrace,
    call_signature,
    count_repetitions,
    count_repetitions_with,
)
from jupyter_ai_shoulders.tools.permissions.grants import target_of
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.results import ResultKind

NOTICE_ROUNDS, ASK_ROUNDS, STOP_ROUNDS = 3, 4, 5
"""Repetitions of the same call and result after which: the model is warned, the user is asked, the
turn stops.
"""
REPAIRS = 3
"""Consecutive calls that cannot be executed as written; one more ends the turn."""
EMPTY_REPLIES = 2
"""Empty replies that are answered with a nudge in one turn."""
LISTINGS = 2
"""Listings without a read after which a remark asks the model to read."""

_LISTS: frozenset[ResultKind] = frozenset({"listing"})
_CONTENT: frozenset[ResultKind] = frozenset(
    {"file", "cells", "matches", "outputs", "text", "page", "search_results", "papers"}
)
_BAD_CALLS = frozenset({"unknown_tool", "invalid_arguments"})
_LOOP_TOOLS = frozenset({"todo", "complete", "clarify", "share_artifact", "load_tools"})
"""They are risk-free but read nothing."""

REPEATED = "repeated_calls"
ALREADY_READ = "already_read"
WANDERING = "listing_without_reading"
NOT_FOUND = "look_elsewhere"
TRUNCATED = "result_truncated"
EMPTY = "empty_reply"

MODEL_NOTICES: Mapping[str, str] = {
    REPEATED: "The same call has given the same result three times. Do something else, or tell "
    "the user what stands in the way.",
    ALREADY_READ: "This was read already in this turn, and nothing has changed since.",
    WANDERING: "Two listings and nothing read yet. Read what looks most likely.",
    NOT_FOUND: "That was not found. List or search instead of guessing another name.",
    TRUNCATED: "The result was cut. Search for what is needed, or ask for a part of it.",
    EMPTY: "The last reply was empty. Go on with the task, or say what came of it.",
}
"""The text for the model (``engine.transcript.messages``), by the code of the notice."""

USER_NOTICES = {
    REPEATED: "The agent did the same thing three times with the same result and was warned.",
    ALREADY_READ: "The agent read the same unchanged content again and was warned.",
    WANDERING: "The agent listed files twice without reading any and was warned.",
    NOT_FOUND: "The agent looked for something that does not exist and was asked to search.",
    TRUNCATED: "The result was too large; the agent was asked to narrow its search.",
    EMPTY: "The model returned an empty answer and was asked to continue.",
}
"""The text for the user."""

_Reads = Mapping[str, tuple[str | None, CallOutcome]]


@dataclass(frozen=True)
class ProgressGuard:
    """What has happened in the open turn, as far as the guards need it."""

    traces: tuple[CallTrace, ...] = ()
    """Answered calls; equal calls of one step count once, since a model may repeat one by accident.
    """
    open: Mapping[CallId, ev.ToolCall] = field(default_factory=dict[CallId, ev.ToolCall])
    """Calls without a result."""
    held: _Reads = field(default_factory=dict[str, tuple[str | None, CallOutcome]])
    """Reads that no change has made stale, by call: the path and the result."""
    listing: str | None = None
    """The call of the last listing; kept across turns."""
    listings: int = 0
    """Listings since the last successful read."""
    bad_calls: int = 0
    """Consecutive calls that could not be executed as written."""
    empty_replies: int = 0
    remarks: tuple[str, ...] = ()
    """Codes of the notices for the next step."""
    step_from: int = 0
    """The index of this step's first trace."""

    # decisions

    @property
    def repeat_count(self) -> int:
        """Return how many times in a row the same call had the same result."""
        return count_repetitions(self.traces)

    def should_ask(self, tool: str, arguments: JsonObject | None) -> bool:
        """Return whether the user should approve this call because it was repeated too often."""
        return count_repetitions_with(self.traces, call_signature(tool, arguments)) >= ASK_ROUNDS

    def stop(self) -> ErrorInfo | None:
        """Return why the turn must end now, None when it need not."""
        if self.repeat_count >= STOP_ROUNDS:
            return ErrorInfo(
                code="loop_detected",
                message=(
                    f"Stopped: the same was done {self.repeat_count} times with the same result."
                ),
                hint="Say what to do differently, or choose another model.",
            )
        if self.bad_calls > REPAIRS:
            return ErrorInfo(
                code="loop_detected",
                message=f"Stopped: {self.bad_calls} tool calls in a row could not be executed.",
                hint="Choose a model that is better at calling tools, or ask for a smaller step.",
            )
        return None

    def notices(self) -> tuple[ev.Notice, ...]:
        """Return the notices before the next step, for the model and the user."""
        before = count_repetitions(self.traces[: self.step_from])
        repeats = self.repeat_count == NOTICE_ROUNDS and before < NOTICE_ROUNDS
        codes = [*self.remarks, *([REPEATED] if repeats else [])]
        return tuple(progress_notice(code) for code in dict.fromkeys(codes))

    # events

    def after_event(self, event: ev.Event) -> ProgressGuard:
        """Return the guard after an event."""
        match event:
            case ev.TurnStart():
                return _next_turn(self)
            case ev.StepStart():
                return replace(self, remarks=(), step_from=len(self.traces))
            case ev.ToolCall():
                return replace(self, open={**self.open, event.call_id: event})
            case ev.ToolResult():
                return _answered(self, event)
            case ev.Notice(code="empty_reply"):
                return replace(self, empty_replies=self.empty_replies + 1)
            case _:
                return self


def _next_turn(progress: ProgressGuard) -> ProgressGuard:
    """Reset the guard for a new turn, except for the last listing."""
    held = {call: read for call, read in progress.held.items() if call == progress.listing}
    return ProgressGuard(held=held, listing=progress.listing)


def _answered(before: ProgressGuard, event: ev.ToolResult) -> ProgressGuard:
    call = before.open.get(event.call_id)
    if call is None:
        return before
    rest = {call_id: item for call_id, item in before.open.items() if call_id != event.call_id}
    progress = _counted(replace(before, open=rest), event)
    key = call_signature(call.tool, call.arguments, call.raw if call.invalid else None)
    trace = CallTrace(key, CallOutcome(event.status, event.content))
    if trace in progress.traces[progress.step_from :]:
        return progress
    progress = replace(progress, traces=(*progress.traces, trace))
    if call.risk != "read":
        return _changed(progress, call, event)
    return progress if call.tool in _LOOP_TOOLS else _read(progress, call, trace, event)


def _counted(progress: ProgressGuard, event: ev.ToolResult) -> ProgressGuard:
    error = event.result.error
    bad = event.status == "error" and error is not None and error.code in _BAD_CALLS
    return replace(progress, bad_calls=progress.bad_calls + 1 if bad else 0)


def _changed(progress: ProgressGuard, call: ev.ToolCall, event: ev.ToolResult) -> ProgressGuard:
    """A change makes reads of its document stale; running code makes all reads stale."""
    if event.status not in {"ok", "unknown", "cancelled"}:
        return progress
    path = target_of(call.arguments or {}).path
    if call.risk == "execute" or path is None:
        return replace(progress, held={})
    held = {key: read for key, read in progress.held.items() if read[0] not in {path, None}}
    return replace(progress, held=held)


def _read(
    progress: ProgressGuard, call: ev.ToolCall, trace: CallTrace, event: ev.ToolResult
) -> ProgressGuard:
    remarks = list(progress.remarks)
    before = progress.held.get(trace.call)
    if before is not None and before[1] == trace.result:
        remarks.append(ALREADY_READ)
    kind = event.result.kind
    listings = progress.listings
    if event.status != "ok":
        if kind == "not_found" or _says_not_found(event.result.error):
            remarks.append(NOT_FOUND)
        return replace(progress, remarks=tuple(remarks))
    if kind in _LISTS:
        listings += 1
        if listings >= LISTINGS:
            remarks.append(WANDERING)
    elif kind in _CONTENT:
        listings = 0
    if event.result.meta.truncated and kind in {"listing", "matches"}:
        remarks.append(TRUNCATED)
    path = target_of(call.arguments or {}).path
    return replace(
        progress,
        remarks=tuple(remarks),
        listings=listings,
        listing=trace.call if kind in _LISTS else progress.listing,
        held={**progress.held, trace.call: (path, trace.result)},
    )


def progress_notice(code: str) -> ev.Notice:
    """Return the notice with this code."""
    return ev.Notice(level="info", code=code, text=USER_NOTICES[code])


def _says_not_found(error: ErrorInfo | None) -> bool:
    return error is not None and error.code in {"not_found", "cell_not_found"}

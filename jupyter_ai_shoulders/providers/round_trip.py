"""Tries a model with one real, small call that must stream and must call a tool (chapter 03).

Called by ``registry`` for the Test button; says which of the two a gateway broke.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import cast

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.spending import Account
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
)
from jupyter_ai_shoulders.wire.api import ProviderTest
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import TextPart, ToolDefinition, UserMessage

MAX_OUTPUT = 2_048
"""Models that always think need room before they call."""

TOOL = ToolDefinition(
    name="report_word",
    description="Report the word the user gave.",
    parameters={
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word."}},
        "required": ["word"],
        "additionalProperties": False,
    },
)
SYSTEM = "You are being tested. Call the tool report_word once, with the word the user gives."
QUESTION = "The word is: shoulders"

NO_CALL = ErrorInfo(
    code="provider_protocol",
    message="The model answered, but did not call the tool it was asked to call.",
    hint="Try again. If it stays so, the model or the server in between does not support tools:"
    " pick another model for notebooks, this one can chat only.",
)
BROKEN_CALL = ErrorInfo(
    code="provider_protocol",
    message="The model called the tool, but its arguments did not arrive whole.",
    hint="The server in between breaks streamed tool calls; use the provider's own address, or"
    ' another "kind" in models.json.',
)


@dataclass(slots=True)
class _Seen:
    deltas: int = 0
    stopped: bool = False
    call: ToolCallReady | None = None


async def round_trip(
    resolved: ResolvedModel, clock: Clock, *, needs_call: bool = True
) -> ProviderTest:
    """Call the model and return what worked; never raises for what the provider does.

    The demo, which is no model, is excused from the tool call.
    """
    seen = _Seen()
    started = clock.monotonic()
    error = await _call(resolved, seen)
    tool_call_ok = seen.call is not None and seen.call.problem is None
    if error is None and needs_call and not tool_call_ok:
        error = NO_CALL if seen.call is None else BROKEN_CALL
    return ProviderTest(
        ok=error is None,
        model=resolved.spec.id,
        duration_ms=round((clock.monotonic() - started) * 1000),
        stream_ok=seen.stopped and seen.deltas > 0,
        tool_call_ok=tool_call_ok or (not needs_call and error is None),
        error=error,
    )


def failed_test(error: ShouldersError) -> ProviderTest:
    """Return the result of a test that could not begin."""
    return ProviderTest(
        ok=False, model=None, duration_ms=0, stream_ok=False, tool_call_ok=False, error=error.info
    )


async def _call(resolved: ResolvedModel, seen: _Seen) -> ErrorInfo | None:
    events = cast("AsyncGenerator[ProviderEvent]", resolved.provider.stream(_request(resolved)))
    try:
        async with contextlib.aclosing(events):
            async for event in events:
                _note(event, seen)
    except ShouldersError as error:
        return error.info
    return None


def _request(resolved: ResolvedModel) -> ModelRequest:
    return ModelRequest(
        model=resolved.spec.model,
        system=SYSTEM,
        messages=(UserMessage(parts=(TextPart(text=QUESTION),)),),
        tools=(TOOL,),
        thinking="none",
        max_output=MAX_OUTPUT,
        account=Account("test"),
    )


def _note(event: ProviderEvent, seen: _Seen) -> None:
    if isinstance(event, (PartDelta, ToolArgumentsDelta)):
        seen.deltas += 1
    elif isinstance(event, ToolCallReady):
        seen.call = event
    elif isinstance(event, Stop):
        seen.stopped = True

"""Tests a model with one small real call that must stream and call a tool.

Used for the Test button. On a failure that is not due to the key or the model, a second call
without tools finds out whether plain streaming or only the streamed tool call is broken.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import cast

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolArgumentsDelta,
    ToolCallReady,
)
from jupyter_ai_shoulders.wire.api.responses import ProviderTest
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.parts import TextPart, ToolDefinition, UserMessage

MAX_OUTPUT = 2_048
"""Models that always think need tokens before they call."""

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

PLAIN_SYSTEM = "You are being tested. Answer with the word the user gives, and nothing else."

NO_CALL = ErrorInfo(
    code="provider_protocol",
    message="The model answered, but did not call the tool it was asked to call.",
    hint="Try again. If this continues, the model or the server in between does not support tools."
    " Pick another model for notebooks; this one can only chat.",
)
BROKEN_CALL = ErrorInfo(
    code="provider_protocol",
    message="The model called the tool, but its arguments arrived incomplete.",
    hint="The server in between breaks streamed tool calls; use the provider's own address, or"
    ' another "kind" in models.json.',
)
STREAM_BROKEN = (
    "Plain streaming is broken: {message}",
    (
        "A server in between may collect answers or change them: use the provider's own address,"
        ' or another "url" or "kind" in models.json. {hint}'
    ),
)
CALL_BROKEN = (
    "Plain streaming works, the streamed tool call does not: {message}",
    (
        "The model or a server in between does not support tools here: pick another model for"
        " notebooks, use the provider's own address, or start the server with tools enabled."
        " {hint}"
    ),
)

_TELLING: frozenset[ErrorCode] = frozenset(
    {
        "provider_protocol",
        "stream_truncated",
        "bad_request_upstream",
        "provider_error",
        "provider_timeout",
    }
)
"""Errors with an ambiguous cause; after others, a second call would fail as well."""


@dataclass(slots=True)
class _CallResult:
    """The result of one call."""

    deltas: int = 0
    first_delta: float | None = None
    """Time of the first delta, by the monotonic clock."""
    stopped: bool = False
    call: ToolCallReady | None = None
    error: ErrorInfo | None = None

    @property
    def streamed(self) -> bool:
        """Whether the answer streamed to its end."""
        return self.stopped and self.deltas > 0

    @property
    def called(self) -> bool:
        """Whether the tool was called with complete arguments, in a stream that reached its end."""
        return self.stopped and self.call is not None and self.call.problem is None


async def run_connection_test(
    resolved: ResolvedModel, clock: Clock, *, needs_call: bool = True, owner: str | None = None
) -> ProviderTest:
    """Call the model and return the result; errors of the provider are part of it, never raised.

    The demo need not call the tool. ``owner`` pays for the call.
    """
    started = clock.monotonic()
    result = await _call(resolved, _request(resolved, owner, plain=False), clock)
    stream_ok, error = result.streamed, result.error
    if error is None and needs_call and not result.called:
        error = NO_CALL if result.call is None else BROKEN_CALL
    if error is not None and error.code in _TELLING:
        stream_ok, error = await _diagnose(resolved, result, error, clock, owner)
    return ProviderTest(
        ok=error is None,
        model=resolved.spec.id,
        duration_ms=_ms(started, clock.monotonic()),
        first_delta_ms=None if result.first_delta is None else _ms(started, result.first_delta),
        stream_ok=stream_ok,
        tool_call_ok=result.called or (not needs_call and error is None),
        error=error,
    )


async def _diagnose(
    resolved: ResolvedModel, result: _CallResult, error: ErrorInfo, clock: Clock, owner: str | None
) -> tuple[bool, ErrorInfo]:
    """Return whether plain streaming works, and an error that names the broken part."""
    if not result.streamed:
        plain = await _call(resolved, _request(resolved, owner, plain=True), clock)
        if not plain.streamed:
            return False, _describe(STREAM_BROKEN, plain.error or error)
    return True, _describe(CALL_BROKEN, error)


def _describe(words: tuple[str, str], error: ErrorInfo) -> ErrorInfo:
    message, hint = words
    said = {
        "message": message.format(message=error.message),
        "hint": hint.format(hint=error.hint or "").strip(),
    }
    return error.model_copy(update=said)


def failed_connection_test(error: ShouldersError) -> ProviderTest:
    """Return the result of a test that could not start."""
    return ProviderTest(
        ok=False,
        model=None,
        duration_ms=0,
        first_delta_ms=None,
        stream_ok=False,
        tool_call_ok=False,
        error=error.info,
    )


def _ms(begin: float, end: float) -> int:
    return round((end - begin) * 1000)


async def _call(resolved: ResolvedModel, request: ModelRequest, clock: Clock) -> _CallResult:
    result = _CallResult()
    events = cast("AsyncGenerator[ProviderEvent]", resolved.provider.stream(request))
    try:
        async with contextlib.aclosing(events):
            async for event in events:
                _note(event, result, clock)
    except ShouldersError as error:
        result.error = error.info
    return result


def _request(resolved: ResolvedModel, owner: str | None, *, plain: bool) -> ModelRequest:
    return ModelRequest(
        model=resolved.spec.model,
        system=PLAIN_SYSTEM if plain else SYSTEM,
        messages=(UserMessage(parts=(TextPart(text=QUESTION),)),),
        tools=() if plain else (TOOL,),
        thinking="none",
        max_output=MAX_OUTPUT,
        account=UsageAccount("test", owner=owner),
    )


def _note(event: ProviderEvent, result: _CallResult, clock: Clock) -> None:
    if isinstance(event, (PartDelta, ToolArgumentsDelta)):
        result.deltas += 1
        if result.first_delta is None:
            result.first_delta = clock.monotonic()
    elif isinstance(event, ToolCallReady):
        result.call = event
    elif isinstance(event, Stop):
        result.stopped = True

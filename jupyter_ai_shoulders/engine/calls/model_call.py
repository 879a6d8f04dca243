"""Sends one request to a model and logs the streamed reply as events.

Used by ``engine.session.effect_runner``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from random import Random
from typing import assert_never, cast

from jupyter_ai_shoulders.core.catalogue.prices import cost_micro_usd
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.redaction.redactor import Redactor
from jupyter_ai_shoulders.core.token_estimates import estimate_text
from jupyter_ai_shoulders.engine.calls.delta_buffer import DeltaBuffer
from jupyter_ai_shoulders.engine.loop.operations import ModelFailed, ModelFinished
from jupyter_ai_shoulders.engine.ports import Budgets
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    PartEnd,
    PartStart,
    Provider,
    ProviderEvent,
    RecordEvent,
    Stop,
    StopReason,
    ToolArgumentsDelta,
    ToolCallReady,
    ToolCallStart,
    UsageReport,
)
from jupyter_ai_shoulders.providers.http.retry_policy import delay_ms
from jupyter_ai_shoulders.wire.events import (
    Event,
    Notice,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    UsageUpdate,
)
from jupyter_ai_shoulders.wire.ids import PartId, TurnId
from jupyter_ai_shoulders.wire.parts import ProviderState
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class ModelCallServices:
    """The dependencies of a model call."""

    record: Callable[[Event], None]
    describe: Callable[[ToolCallReady], Awaitable[ToolCall]]
    ids: IdSource
    delta_interval: float
    attempts: int
    rng: Random
    budgets: Budgets
    turn_id: TurnId
    """Included in each delta from the start: adding it later would copy each one."""
    redactor: Callable[[], Redactor]
    """Masks the keys in use; a delta never shows a key or the beginning of one."""


class _Part:
    """The open text or reasoning part."""

    def __init__(self, start: PartStart, tools: ModelCallServices) -> None:
        self._text = start.kind == "text"
        self._id = PartId(tools.ids.new("part"))
        self._turn = tools.turn_id
        self._record = tools.record
        self._record((TextStart if self._text else ReasoningStart)(part_id=self._id))
        self.deltas = DeltaBuffer(tools.delta_interval, self._emit, tools.redactor)

    def close(self, state: ProviderState | None) -> None:
        self.deltas.close()
        end = TextEnd if self._text else ReasoningEnd
        self._record(end(part_id=self._id, state=state))
        del self.deltas  # refers to the part, whose memory is now free at once

    def _emit(self, text: str) -> None:
        delta = TextDelta if self._text else ReasoningDelta
        self._record(delta(part_id=self._id, text=text, turn_id=self._turn))
        crash_point("engine.delta.recorded")


class ModelCall:
    """One request to a provider."""

    def __init__(
        self,
        spec: ModelSpec,
        provider: Provider,
        request: ModelRequest,
        tokens: int,
        tools: ModelCallServices,
    ) -> None:
        """``tokens`` is the estimated size of the request."""
        self._spec = spec
        self._provider = provider
        self._request = request
        self._tokens = tokens
        self._tools = tools
        self._part: _Part | None = None
        self._shown = False
        self._output = 0
        self._usage: TokenUsage | None = None
        self._stop: StopReason | None = None

    async def run(self, attempt: int) -> ModelFinished | ModelFailed:
        """Record the reply as it arrives; cancellation keeps what has arrived."""
        try:
            async with aclosing(_closing(self._provider.stream(self._request))) as events:
                async for event in events:
                    await self._take(event)
        except (ProviderError, PolicyRefusal) as error:  # refused by the budget; nothing was sent
            self._close_part()
            return self._failed(error, attempt)
        except BaseException:
            self._close_part()
            raise
        self._close_part()
        if self._stop is None:
            return self._failed(self._truncated(), attempt)
        self._say_notices()
        crash_point("engine.reply.complete")
        return ModelFinished(
            self._stop, self.take_partial_usage() or self._estimated(), empty=not self._shown
        )

    def take_partial_usage(self) -> UsageUpdate | None:
        """Return the usage the provider has reported so far, None without any."""
        usage = self._usage
        if usage is None:
            return self._estimated() if self._shown else None
        if self._stop is None and usage.output_tokens < self._output:  # cut off before the report
            usage = usage.model_copy(update={"output_tokens": self._output, "estimated": True})
        return self._update(usage)

    async def _take(self, event: ProviderEvent) -> None:
        match event:
            case PartStart():
                self._close_part()
                self._part = _Part(event, self._tools)
                self._shown = True
            case PartDelta():
                await self._more(event.text)
            case PartEnd():
                self._close_part(event.state)
            case ToolCallReady():
                await self._call(event)
            case RecordEvent():
                self._close_part()
                self._shown = True
                self._tools.record(event.event)
            case UsageReport():
                self._usage = event.usage
            case Stop():
                self._stop = event.reason
            case ToolCallStart() | ToolArgumentsDelta():
                pass  # arguments are shown when they are complete
            case _:
                assert_never(event)

    async def _more(self, text: str) -> None:
        if self._part is None or not text:
            return
        first = self._output == 0
        self._output += estimate_text(text, self._spec.family)
        self._part.deltas.push(text)
        if first:  # let the page have it before the rest of what arrived is decoded
            await asyncio.sleep(0)

    async def _call(self, ready: ToolCallReady) -> None:
        self._close_part()
        self._output += estimate_text(ready.raw, self._spec.family)
        call = await self._tools.describe(ready)
        self._shown = True
        self._tools.record(call)
        crash_point("engine.call.recorded")

    def _close_part(self, state: ProviderState | None = None) -> None:
        part, self._part = self._part, None
        if part is not None:
            part.close(state)

    def _say_notices(self) -> None:
        account = self._request.account
        if account is not None and account.turn_id is not None:
            for notice in self._tools.budgets.notices(account.turn_id):
                self._tools.record(Notice(level="warning", code=notice.code, text=notice.text))

    def _failed(self, error: ProviderError | PolicyRefusal, attempt: int) -> ModelFailed:
        again = error.info.retryable and not self._shown and attempt < self._tools.attempts
        wait = delay_ms(attempt, error, self._tools.rng) if again else None
        return ModelFailed(error.info, wait, self.take_partial_usage())

    def _truncated(self) -> ProviderError:
        return ProviderError(
            "The reply ended before it was complete.",
            code="stream_truncated",
            hint="Send the message again.",
            retryable=True,
            provider=self._spec.provider,
            model=self._spec.id,
        )

    def _estimated(self) -> UsageUpdate:
        usage = TokenUsage(input_tokens=self._tokens, output_tokens=self._output, estimated=True)
        return self._update(usage)

    def _update(self, usage: TokenUsage) -> UsageUpdate:
        status = self._tools.budgets.budget_status(self._request.account)
        return UsageUpdate(
            model=self._spec.id,
            usage=usage,
            cost_micro_usd=cost_micro_usd(usage, self._spec.prices),
            month_micro_usd=status.month_micro_usd if status else None,
            month_limit_micro_usd=status.month_limit_micro_usd if status else None,
        )


def _closing(stream: AsyncIterator[ProviderEvent]) -> AsyncGenerator[ProviderEvent, None]:
    """Return the stream typed as a generator; closing it closes the connection
    (``Provider.stream``).
    """
    return cast("AsyncGenerator[ProviderEvent, None]", stream)

"""The meter in front of every provider: refuses calls beyond the budget and books all others.

``registry`` puts it before each resolved provider, so that engine, proxy, single calls and the Test
button cannot bypass it. Budgets are behind the ``Meter`` port (``host.usage.budgets``).
"""

from __future__ import annotations

import time
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import Protocol, TypeVar, cast

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import (
    CallSettlement,
    PlannedCall,
    reservation_micro_usd,
)
from jupyter_ai_shoulders.core.catalogue.prices import cost_micro_usd
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, TokenFamily
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError
from jupyter_ai_shoulders.core.token_estimates import estimate_message, estimate_text, estimate_tool
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    PartDelta,
    Provider,
    ProviderEvent,
    ResolvedModel,
    Stop,
    ToolArgumentsDelta,
    UsageReport,
)
from jupyter_ai_shoulders.providers.formats.embedding import (
    EmbeddingReply,
    EmbeddingRequest,
    EmbeddingService,
    estimate_texts,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.parts import ModelMessage, ToolDefinition
from jupyter_ai_shoulders.wire.usage import TokenUsage

UNACCOUNTED = UsageAccount("other")

_NOT_SENT: frozenset[ErrorCode] = frozenset({"provider_unreachable"})
"""Errors before anything was sent. A call that timed out may have been billed."""

Sized = ModelMessage | ToolDefinition
SizedT = TypeVar("SizedT", ModelMessage, ToolDefinition)


class Admission(Protocol):
    """Permission to send a call."""

    def settle(self, outcome: CallSettlement) -> None:
        """Book the outcome of the call once, even when cancelled. Never raises or waits."""
        ...

    def remarks(self, cost_micro_usd: int | None) -> bool:
        """Return whether ``announce`` would notify the user after such a cost."""
        ...

    async def announce(self, cost_micro_usd: int | None) -> None:
        """Notify the user that most of a limit is spent, once per limit and period."""
        ...


class Meter(Protocol):
    """Decides whether a call may be sent."""

    async def admit(self, planned: PlannedCall) -> Admission:
        """Reserve the cost of a call. Raises ``PolicyRefusal``: nothing may be sent."""
        ...


class Metering:
    """Puts the meter before the providers of resolved models."""

    def __init__(self, meter: Meter, now: Callable[[], float] = time.monotonic) -> None:
        self._meter = meter
        self._now = now
        self._sizes = _Sizes()

    def __call__(self, resolved: ResolvedModel) -> ResolvedModel:
        """Return the same model behind the meter."""
        metered = MeteredProvider(
            resolved.spec, resolved.provider, self._meter, sizes=self._sizes, now=self._now
        )
        return replace(resolved, provider=metered)

    def embedding(self, spec: ModelSpec, service: EmbeddingService) -> EmbeddingService:
        """Return the same embedding model behind the meter."""
        return MeteredEmbedding(spec, service, self._meter, self._now)


class MeteredProvider:
    """A provider whose calls are reserved, watched and booked."""

    def __init__(
        self,
        spec: ModelSpec,
        provider: Provider,
        meter: Meter,
        *,
        sizes: _Sizes,
        now: Callable[[], float],
    ) -> None:
        self._spec = spec
        self._provider = provider
        self._meter = meter
        self._sizes = sizes
        self._now = now

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request if the budget permits, and yield its events.

        A stream without a usage report gets an estimated one before its ``Stop``. Raises
        ``PolicyRefusal`` before anything was sent, and the errors of the provider.
        """
        planned = self._planned(request)
        admission = await self._meter.admit(planned)
        call = _Call(planned, self._spec, admission, self._now)
        source = cast("AsyncGenerator[ProviderEvent]", self._provider.stream(request))
        note = call.shown.append
        try:
            async with aclosing(source) as events:
                async for event in events:
                    kind = type(event)
                    if kind is PartDelta or kind is ToolArgumentsDelta:
                        note(cast("PartDelta", event).text)
                    elif kind is UsageReport:
                        call.usage = cast("UsageReport", event).usage
                    elif kind is Stop:
                        for report in call.finished():
                            yield report
                        if admission.remarks(call.cost):
                            await admission.announce(call.cost)
                    yield event
        except (ProviderError, PolicyRefusal) as error:
            call.failed(error)
            raise
        finally:
            call.broke_off()

    async def list_models(self) -> list[ListedModel]:
        """Return the models served; nothing is billed."""
        return await self._provider.list_models()

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt tokens of the request; nothing is billed."""
        return await self._provider.count_tokens(request)

    async def aclose(self) -> None:
        """Close pooled connections."""
        await self._provider.aclose()

    def _planned(self, request: ModelRequest) -> PlannedCall:
        spec = self._spec
        prompt = self._sizes.of_request(request, spec.family)
        output = min(request.max_output, spec.max_output or request.max_output)
        return PlannedCall(
            account=request.account or UNACCOUNTED,
            provider=spec.provider,
            model=spec.id,
            prompt_tokens=prompt,
            max_output=output,
            micro_usd=reservation_micro_usd(prompt, output, spec.prices),
        )


class MeteredEmbedding:
    """An embedding model whose calls are reserved and booked."""

    def __init__(
        self, spec: ModelSpec, service: EmbeddingService, meter: Meter, now: Callable[[], float]
    ) -> None:
        self._spec = spec
        self._service = service
        self._meter = meter
        self._now = now

    async def embed(self, request: EmbeddingRequest) -> EmbeddingReply:
        """Send the texts if the budget permits.

        Raises ``PolicyRefusal`` before anything was sent, and the errors of the service.
        """
        planned = self._planned(request)
        admission = await self._meter.admit(planned)
        call = _Call(planned, self._spec, admission, self._now)
        try:
            reply = await self._service.embed(request)
            call.usage = reply.usage
            call.finished()
        except (ProviderError, PolicyRefusal) as error:
            call.failed(error)
            raise
        finally:
            call.broke_off()
        if admission.remarks(call.cost):
            await admission.announce(call.cost)
        return reply

    def _planned(self, request: EmbeddingRequest) -> PlannedCall:
        spec = self._spec
        tokens = estimate_texts(request.texts, spec.family)
        return PlannedCall(
            account=request.account,
            provider=spec.provider,
            model=spec.id,
            prompt_tokens=tokens,
            max_output=0,
            micro_usd=reservation_micro_usd(tokens, 0, spec.prices),
        )


class _Call:
    """The state of one running call."""

    def __init__(
        self, planned: PlannedCall, spec: ModelSpec, admission: Admission, now: Callable[[], float]
    ) -> None:
        self.usage: TokenUsage | None = None
        """The last reported usage."""
        self.shown: list[str] = []
        """The received texts, for an estimate where no usage is reported."""
        self.cost: int | None = None
        self._planned = planned
        self._spec = spec
        self._admission = admission
        self._now = now
        self._started = now()
        self._settled = False

    def finished(self) -> list[UsageReport]:
        """Book a complete answer; return the usage report it lacked."""
        missing = self.usage is None
        usage = self.usage or self._estimate()
        self._settle(usage, self._price(usage), ok=True)
        return [UsageReport(usage)] if missing else []

    def failed(self, error: ProviderError | PolicyRefusal) -> None:
        """Book a refused or broken call by what the provider may bill."""
        if self.usage is None and not self.shown and _unbilled(error):
            self._settle(TokenUsage(), 0, ok=False)

    def broke_off(self) -> None:
        """Book an interrupted stream by its known usage, unless it is booked."""
        if not self._settled:
            usage = self._partial()
            self._settle(usage, self._price(usage), ok=False)

    def _partial(self) -> TokenUsage:
        """Return the usage of an interrupted answer; unreported text counts too."""
        estimate, known = self._estimate(), self.usage
        if known is None:
            return estimate
        if known.output_tokens >= estimate.output_tokens:
            return known
        return known.model_copy(update={"output_tokens": estimate.output_tokens, "estimated": True})

    def _estimate(self) -> TokenUsage:
        output = estimate_text("".join(self.shown), self._spec.family)
        return TokenUsage(
            input_tokens=self._planned.prompt_tokens, output_tokens=output, estimated=True
        )

    def _price(self, usage: TokenUsage) -> int | None:
        return cost_micro_usd(usage, self._spec.prices)

    def _settle(self, usage: TokenUsage, cost: int | None, *, ok: bool) -> None:
        self._settled = True
        self.cost = cost
        duration = round((self._now() - self._started) * 1000)
        self._admission.settle(CallSettlement(usage, cost, ok, duration))


class _Sizes:
    """Caches token estimates of messages and tools by object: a long history is counted once."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, TokenFamily], tuple[weakref.ref[Sized], int]] = {}

    def of_request(self, request: ModelRequest, family: TokenFamily) -> int:
        """Return about how many prompt tokens the request is."""
        return (
            estimate_text(request.system, family)
            + sum(self._of(message, family, estimate_message) for message in request.messages)
            + sum(self._of(tool, family, estimate_tool) for tool in request.tools)
            + (estimate_text(request.fill_in.suffix, family) if request.fill_in else 0)
        )

    def _of(
        self, item: SizedT, family: TokenFamily, estimate: Callable[[SizedT, TokenFamily], int]
    ) -> int:
        key = (id(item), family)
        entry = self._known.get(key)
        if entry is not None and entry[0]() is item:
            return entry[1]
        size = estimate(item, family)
        forget = weakref.ref(item, lambda _: self._known.pop(key, None))
        self._known[key] = (cast("weakref.ref[Sized]", forget), size)
        return size


def _unbilled(error: ProviderError | PolicyRefusal) -> bool:
    """Return whether an error before any event says that nothing was generated.

    An HTTP status is a refusal; a connection that failed was never read from; what the settings
    forbid was never sent.
    """
    if isinstance(error, PolicyRefusal):
        return True
    return error.status is not None or error.info.code in _NOT_SENT

"""Makes OpenTelemetry spans of measurements: turn, step, model call, tool call.

Names and attributes are those of the semantic conventions for generative AI 1.41,
https://opentelemetry.io/docs/specs/semconv/gen-ai/; ours begin with ``shoulders.``. Made by
``host.metrics.tracing``; ``docs/metrics.md`` is tested against ``ATTRIBUTES``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    Span,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.host.metrics.incoming_trace import take_traceparent
from jupyter_ai_shoulders.host.metrics.labels import Labels
from jupyter_ai_shoulders.host.metrics.measurements import (
    ApprovalAnswered,
    Measurement,
    ModelCallEnded,
    StepBegan,
    StepEnded,
    ToolEnded,
    ToolMovedToBackground,
    TurnBegan,
    TurnEnded,
    TurnFacts,
)
from jupyter_ai_shoulders.host.metrics.span_attributes import (
    AGENT,
    STEP_SPAN,
    Attributes,
    ContentRecorder,
    model_call_attributes,
    tool_call_attributes,
    turn_attributes,
)
from jupyter_ai_shoulders.wire.ids import LongRunId, TurnId

_FAILED_EXITS = frozenset({"error", "context_overflow", "budget_exhausted"})
MOST_RUNS = 1000
"""Background runs whose span is awaited."""
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")


@dataclass(slots=True)
class _OpenTurn:
    span: Span
    context: Context
    anchor: int
    """Nanoseconds since the epoch at zero of the monotonic clock, so that durations are exact."""
    step: Span | None = None
    step_context: Context | None = None

    def at(self, seconds: float) -> int:
        """Return a time of the monotonic clock as nanoseconds since the epoch."""
        return self.anchor + round(seconds * 1e9)


class SpanSink:
    """A ``MeasurementSink`` that makes spans."""

    def __init__(
        self, tracer: Tracer, labels: Labels, clock: Clock, content: ContentRecorder | None
    ) -> None:
        """``content`` has the texts, if spans may hold them."""
        self._tracer = tracer
        self._labels = labels
        self._clock = clock
        self._content = content
        self._turns: dict[TurnId, _OpenTurn] = {}
        self._runs: dict[LongRunId, tuple[_OpenTurn, Context]] = {}

    def record(self, measured: Measurement) -> None:
        """Record a measurement."""
        match measured:
            case TurnBegan():
                self._turn_began(measured)
            case StepBegan():
                self._step_began(measured)
            case ModelCallEnded():
                self._model_call(measured)
            case ToolMovedToBackground():
                self._moved(measured)
            case ToolEnded():
                self._tool(measured)
            case ApprovalAnswered():
                self._approval(measured)
            case StepEnded():
                self._step_ended(measured)
            case TurnEnded():
                self._turn_ended(measured)
            case _:
                pass

    def close(self) -> None:
        """End the spans of turns that stop with the server; they are resumed as others."""
        for turn in self._turns.values():
            now = turn.at(self._clock.monotonic())
            turn.span.set_attribute("shoulders.turn.interrupted", True)
            if turn.step is not None:
                turn.step.end(now)
            turn.span.end(now)
        self._turns.clear()

    def _turn_began(self, began: TurnBegan) -> None:
        facts = began.turn
        before = self._turns.pop(facts.turn_id, None)
        if before is not None:  # interrupted and resumed in this process
            before.span.set_attribute("shoulders.turn.interrupted", True)
            before.span.end(before.at(began.at))
        anchor = round(self._clock.now().timestamp() * 1e9) - round(self._clock.monotonic() * 1e9)
        span = self._tracer.start_span(
            f"invoke_agent {AGENT}",
            context=_incoming(),
            kind=SpanKind.INTERNAL,
            start_time=anchor + round(began.at * 1e9),
            attributes=turn_attributes(facts, self._labels, self._content),
            links=self._links(facts),
        )
        self._turns[facts.turn_id] = _OpenTurn(span, set_span_in_context(span), anchor)

    def _links(self, facts: TurnFacts) -> list[Link]:
        """Return a link to the turn that delegated this one."""
        parent = None if facts.parent is None else self._turns.get(facts.parent)
        return [] if parent is None else [Link(parent.span.get_span_context())]

    def _step_began(self, began: StepBegan) -> None:
        turn = self._turns.get(began.turn.turn_id)
        if turn is None:
            return
        turn.step = self._tracer.start_span(
            STEP_SPAN,
            context=turn.context,
            start_time=turn.at(began.at),
            attributes={"shoulders.step": began.step},
        )
        turn.step_context = set_span_in_context(turn.step)

    def _model_call(self, ended: ModelCallEnded) -> None:
        turn = self._turns.get(ended.turn.turn_id)
        if turn is None:
            return
        attributes = model_call_attributes(ended, self._labels, self._content)
        span = self._tracer.start_span(
            f"chat {attributes['gen_ai.request.model']}",
            context=turn.step_context or turn.context,
            kind=SpanKind.CLIENT,
            start_time=turn.at(ended.began),
            attributes=attributes,
        )
        _fail(span, ended.error)
        span.end(turn.at(ended.ended))

    def _moved(self, moved: ToolMovedToBackground) -> None:
        turn = self._turns.get(moved.turn.turn_id)
        if turn is not None and len(self._runs) < MOST_RUNS:
            self._runs[moved.run] = turn, turn.step_context or turn.context

    def _tool(self, ended: ToolEnded) -> None:
        turn = self._turns.get(ended.turn.turn_id)
        context = None if turn is None else turn.step_context or turn.context
        if ended.run is not None:
            turn, context = self._runs.pop(ended.run, (turn, context))
        if turn is None:
            return
        attributes = tool_call_attributes(ended, self._labels, self._content)
        span = self._tracer.start_span(
            f"execute_tool {attributes['gen_ai.tool.name']}",
            context=context,
            kind=SpanKind.INTERNAL,
            start_time=turn.at(ended.ended - ended.seconds),
            attributes=attributes,
        )
        _fail(span, None if ended.status == "ok" else ended.error or ended.status)
        span.end(turn.at(ended.ended))

    def _approval(self, answered: ApprovalAnswered) -> None:
        turn = self._turns.get(answered.turn.turn_id)
        if turn is None:
            return
        attributes: Attributes = {
            "shoulders.approval.decision": answered.decision,
            "shoulders.approval.by": answered.by,
        }
        if answered.waited is not None:
            attributes["shoulders.approval.wait"] = answered.waited
        span = turn.step or turn.span
        span.add_event("shoulders.approval", attributes, turn.at(self._clock.monotonic()))

    def _step_ended(self, ended: StepEnded) -> None:
        turn = self._turns.get(ended.turn.turn_id)
        if turn is None or turn.step is None:
            return
        step, turn.step, turn.step_context = turn.step, None, None
        step.set_attribute("shoulders.step.stop", ended.stop)
        step.set_attribute("shoulders.step.tool_calls", len(ended.tools))
        _fail(step, ended.error)
        step.end(turn.at(ended.ended))

    def _turn_ended(self, ended: TurnEnded) -> None:
        turn = self._turns.pop(ended.turn.turn_id, None)
        if turn is None:
            return
        facts: Mapping[str, str | int] = {
            "shoulders.turn.exit": ended.exit,
            "shoulders.turn.steps": ended.steps,
            "shoulders.turn.retries": ended.retries,
        }
        turn.span.set_attributes(facts)
        _fail(turn.span, ended.error or ended.exit if ended.exit in _FAILED_EXITS else None)
        turn.span.end(turn.at(ended.ended))


def _incoming() -> Context:
    """Return the context of the request that started the turn; an empty one makes a new trace."""
    header = take_traceparent()
    if header is None:
        return Context()
    return TraceContextTextMapPropagator().extract({"traceparent": header}, Context())


def _fail(span: Span, code: str | None) -> None:
    if code is not None and _ERROR_CODE.fullmatch(code):
        span.set_attribute("error.type", code)
        span.set_status(Status(StatusCode.ERROR))

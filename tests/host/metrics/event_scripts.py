"""Plays events to the observers without a host, so that many texts can be tried."""

from __future__ import annotations

from collections.abc import Sequence

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry, generate_latest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import CallSettlement, PlannedCall
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.host.metrics.event_metrics import EventMetrics
from jupyter_ai_shoulders.host.metrics.instruments import instruments_in
from jupyter_ai_shoulders.host.metrics.labels import MCP_PACKAGE, Labels, ToolOrigin
from jupyter_ai_shoulders.host.metrics.spans import SpanSink
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import TokenUsage

S, T = SessionId("s_1"), TurnId("turn_1")


def events_with(text: str) -> Sequence[ev.Event]:
    """Return the events of a turn that carry ``text`` wherever a person or program may put it."""
    error = ErrorInfo(code="internal", message=text, hint=text, details={text: text})
    call = CallId("call_1")
    reason = ev.ApprovalReason(kind="mode", text=text)
    envelope = ToolEnvelope(ok=False, kind="none", data=text, error=error)
    events: list[ev.Event] = [
        ev.MessageAdd(message_id=MessageId("m"), text=text),
        ev.TurnStart(
            message_id=MessageId("m"),
            model=ModelId(text),
            provider=ProviderId(text),
            mode="ask",
            step_limit=5,
        ),
        ev.StepStart(step=1, limit=5, tokens_used=1, window=None),
        ev.RetryWait(attempt=1, delay_ms=1, reason=text, code="overloaded"),
        ev.ToolCall(
            call_id=call,
            tool=text,
            arguments={text: text},
            raw=text,
            invalid=text,
            risk="execute",
            external=True,
            title=text,
            target=text,
            package=text,
        ),
        ev.UsageUpdate(
            model=ModelId(text),
            usage=TokenUsage(),
            cost_micro_usd=5,
            month_micro_usd=None,
            month_limit_micro_usd=None,
        ),
        ev.ApprovalRequest(
            call_id=call,
            tool=text,
            arguments={text: text},
            arguments_hash="",
            preview=text,
            language=text,
            reason=reason,
            scopes=("once",),
        ),
        ev.ApprovalAnswer(call_id=call, decision="deny", scope="once", feedback=text, by="user"),
        ev.ToolResult(
            call_id=call,
            tool=text,
            status="error",
            result=envelope,
            content=(TextPart(text=text),),
            duration_ms=3,
        ),
        ev.TurnEnd(exit="error", error=error, summary=text),
    ]
    return [
        event.model_copy(update={"turn_id": T, "session_id": S, "seq": number})
        for number, event in enumerate(events, start=1)
    ]


def session_with(text: str) -> Session:
    """Return a conversation of a user, about a document."""
    return Session(
        id=S,
        kind="chat",
        source="chat",
        title=text,
        model=ModelId(text),
        mode="ask",
        tools="enabled",
        toolset="full",
        interactive=True,
        status="idle",
        anchor=None,
        owner=text,
        message_count=1,
        last_seq=1,
        tokens_used=0,
        window=None,
        cost_micro_usd=None,
        created_at="2026-11-21T10:00:00.000Z",
        updated_at="2026-11-21T10:00:00.000Z",
    )


def published(text: str, *, server: bool) -> str:
    """Return the metrics and spans of such a turn; ``server``: the tool is one of an MCP server."""
    registry, exporter = CollectorRegistry(), InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    origin = ToolOrigin(f"{MCP_PACKAGE}{text}") if server else None
    labels = Labels({ProviderId("openai")}, {ModelId("gpt")}, lambda _: origin)
    metrics = EventMetrics(instruments_in(registry), labels, by_user=False)
    clock = SystemClock()
    spans = SpanSink(provider.get_tracer("test"), labels, clock, None)
    observer = TurnObserver(clock, lambda _: session_with(text), [metrics, spans])
    for event in events_with(text):
        if event.type in observer.handlers:
            observer.on_event(LoggedEvent(event, ""))
    planned = PlannedCall(
        account=UsageAccount("turn", S, T, owner=text),
        provider=ProviderId(text),
        model=ModelId(text),
        prompt_tokens=1,
        max_output=1,
        micro_usd=1,
    )
    metrics.settled(planned, CallSettlement(TokenUsage(input_tokens=1), 1, ok=True, duration_ms=1))
    finished = exporter.get_finished_spans()
    assert len(finished) == 5, "turn, step, two model calls, tool"
    return generate_latest(registry).decode() + "".join(span.to_json() for span in finished)

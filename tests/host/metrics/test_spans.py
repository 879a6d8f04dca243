"""Spans as OpenTelemetry's own in-memory exporter receives them."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import CollectorRegistry

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.host.metrics.incoming_trace import set_traceparent
from jupyter_ai_shoulders.host.metrics.labels import Labels
from jupyter_ai_shoulders.host.metrics.service import Observability, ObservabilityOptions
from jupyter_ai_shoulders.host.metrics.span_attributes import ATTRIBUTES, CONTENT_ATTRIBUTES
from jupyter_ai_shoulders.host.metrics.spans import SpanSink
from jupyter_ai_shoulders.host.metrics.tracing import (
    FLUSH_SECONDS,
    Tracing,
    is_traced,
    start_tracing,
)
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, turn
from jupyter_ai_shoulders.wire.events import TurnEnd, TurnStart
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    MessageId,
    ModelId,
    ProviderId,
    SessionId,
    TurnId,
)
from jupyter_ai_shoulders.wire.sessions import ParentCall
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.host.metrics.event_scripts import session_with
from tests.host.metrics.observed_host import MODEL, Observed, busy, observed

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
SECRET_QUESTION = "Why is patient Zoë in ward 7?"


@asynccontextmanager
async def traced(
    root: Path, home: Path, *, content: bool = False
) -> AsyncGenerator[tuple[Observed, InMemorySpanExporter]]:
    """Open a host whose spans go to an in-memory exporter."""
    exporter = InMemorySpanExporter()

    def start(_: Mapping[str, str]) -> Tracing:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        return Tracing(provider.get_tracer("test"), provider.force_flush)

    def observe(
        host: Host, options: ObservabilityOptions, registry: CollectorRegistry
    ) -> Observability:
        return Observability(host, options, registry, start)

    options = ObservabilityOptions(traces=True, content=content)
    async with observed(root, home, options=options, observe=observe) as host:
        await host.observability.start()
        yield host, exporter


def named(spans: tuple[ReadableSpan, ...]) -> dict[str, list[ReadableSpan]]:
    """Return the spans by name, in the order of their begins."""
    found: dict[str, list[ReadableSpan]] = {}
    for span in sorted(spans, key=lambda span: span.start_time or 0):
        found.setdefault(span.name, []).append(span)
    return found


def attributes(span: ReadableSpan) -> dict[str, object]:
    return dict(span.attributes or {})


async def test_a_turn_is_a_tree_of_spans(tmp_path: Path, isolated_home: Path) -> None:
    usage = TokenUsage(input_tokens=900, output_tokens=40, cache_read_tokens=800)
    async with traced(tmp_path, isolated_home) as (host, exporter):
        await host.ask(
            turn(Say("I look. "), Call("list_files", {}, "call_a"), usage=usage),
            turn(Fail(busy())),
            "Done.",
        )
    spans = named(exporter.get_finished_spans())
    assert {name: len(found) for name, found in spans.items()} == {
        "invoke_agent shoulders": 1,
        "shoulders.step": 2,
        f"chat {MODEL}": 3,
        "execute_tool list_files": 1,
    }
    (root,), steps = spans["invoke_agent shoulders"], spans["shoulders.step"]
    first, failed, last = spans[f"chat {MODEL}"]
    (tool,) = spans["execute_tool list_files"]
    assert root.parent is None
    assert [_parent(step) for step in steps] == [_id(root)] * 2
    assert [_parent(each) for each in (first, tool)] == [_id(steps[0])] * 2
    assert [_parent(each) for each in (failed, last)] == [_id(steps[1])] * 2
    assert first.kind is SpanKind.CLIENT
    for child, parent in ((first, steps[0]), (tool, steps[0]), (last, steps[1]), (steps[1], root)):
        assert _begin(parent) <= _begin(child) <= _end(child) <= _end(parent)
    assert _end(first) <= _begin(tool) + 1_000_000, "the call follows the answer"
    assert abs(_begin(root) - time.time_ns()) < 60e9
    found = attributes(first)
    assert found.pop("gen_ai.response.time_to_first_chunk") >= 0  # pyright: ignore[reportOperatorIssue] a number
    assert found == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": MODEL,
        "gen_ai.request.stream": True,
        "shoulders.attempt": 1,
        "gen_ai.usage.input_tokens": 900,
        "gen_ai.usage.output_tokens": 40,
        "gen_ai.usage.cache_read.input_tokens": 800,
        "gen_ai.usage.cache_creation.input_tokens": 0,
        "gen_ai.usage.reasoning.output_tokens": 0,
    }
    assert attributes(tool) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "list_files",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_a",
        "shoulders.tool.status": "ok",
    }
    assert (failed.status.status_code, attributes(failed)["error.type"]) == (
        StatusCode.ERROR,
        "overloaded",
    )
    assert attributes(last)["shoulders.attempt"] == 2
    assert attributes(root) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "shoulders",
        "gen_ai.conversation.id": host.rows("turn-start")[0]["session_id"],
        "gen_ai.provider.name": "anthropic",
        "gen_ai.request.model": MODEL,
        "shoulders.session.source": "chat",
        "shoulders.turn.resumed": False,
        "shoulders.turn.exit": "final_response",
        "shoulders.turn.steps": 2,
        "shoulders.turn.retries": 1,
    }
    assert root.status.status_code is StatusCode.UNSET
    assert [attributes(step)["shoulders.step.stop"] for step in steps] == ["next_step", "turn_end"]


async def test_failed_denied_and_cancelled_turns_say_so(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with traced(tmp_path, isolated_home) as (host, exporter):
        await host.ask(turn(Fail(ProviderError("No.", code="authentication", status=401))))
        session = await host.ask(turn(Call("run_command", {"command": "touch x"})))
        await host.answer(session, "deny")
        gate = Gate()
        host.model.extend(turn(Say("I begin "), gate))
        session = host.session()
        sending = asyncio.create_task(host.send(session))
        await gate.reached.wait()
        await host.host.engine.cancel(session)
        await sending
    spans = named(exporter.get_finished_spans())
    failed, denied, cancelled = spans["invoke_agent shoulders"]
    assert failed.status.status_code is StatusCode.ERROR
    assert attributes(failed)["error.type"] == "authentication"
    exits = [attributes(span)["shoulders.turn.exit"] for span in (failed, denied, cancelled)]
    assert exits == ["error", "tool_rejected", "cancelled"]
    (tool,) = spans["execute_tool run_command"]
    assert attributes(tool)["shoulders.tool.status"] == "denied"
    (event,) = spans["shoulders.step"][1].events
    assert event.name == "shoulders.approval"
    assert dict(event.attributes or {})["shoulders.approval.decision"] == "deny"
    assert attributes(spans[f"chat {MODEL}"][-1])["shoulders.cancelled"] is True


async def test_a_turn_that_waits_when_the_server_stops_ends_its_spans(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with traced(tmp_path, isolated_home) as (host, exporter):
        session = await host.ask(turn(Call("run_command", {"command": "touch x"})))
        assert [span.name for span in exporter.get_finished_spans()] == [f"chat {MODEL}"]
    spans = named(exporter.get_finished_spans())
    (root,) = spans["invoke_agent shoulders"]
    assert attributes(root)["shoulders.turn.interrupted"] is True
    async with traced(tmp_path, isolated_home) as (host, exporter):
        host.model.extend("Done.")
        await host.answer(session, "allow")
    (root,) = named(exporter.get_finished_spans())["invoke_agent shoulders"]
    assert attributes(root)["shoulders.turn.resumed"] is True


async def test_the_trace_of_the_request_is_continued_once(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with traced(tmp_path, isolated_home) as (host, exporter):
        set_traceparent(f"00-{TRACE}-{CALLER}-01")
        session = await host.ask("One.")
        await host.ask("Two.", session=session)
        set_traceparent("nonsense")
        await host.ask("Three.", session=session)
    first, *others = named(exporter.get_finished_spans())["invoke_agent shoulders"]
    assert first.parent is not None
    assert (f"{first.parent.trace_id:032x}", f"{first.parent.span_id:016x}") == (TRACE, CALLER)
    assert [span.parent for span in others] == [None, None]


async def test_a_delegated_turn_links_to_the_turn_that_delegated_it() -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    clock = SystemClock()
    labels = Labels((), (), lambda _: None)
    spans = SpanSink(provider.get_tracer("test"), labels, clock, None)
    child, parent = SessionId("s_2"), session_with("text")
    call = ParentCall(session_id=parent.id, call_id=CallId("call_1"), turn_id=TurnId("t_1"))
    sessions = {
        parent.id: parent,
        child: parent.model_copy(update={"id": child, "source": "delegate", "parent": call}),
    }
    observer = TurnObserver(clock, sessions.__getitem__, [spans])
    start = TurnStart(
        message_id=MessageId("m"),
        model=ModelId("m"),
        provider=ProviderId("p"),
        mode="ask",
        step_limit=1,
    )
    ids = {parent.id: TurnId("t_1"), child: TurnId("t_2")}
    for session in (parent.id, child):
        stamps = {"session_id": session, "turn_id": ids[session]}
        observer.on_event(LoggedEvent(start.model_copy(update=stamps), ""))
    for session in (child, parent.id):
        stamps = {"session_id": session, "turn_id": ids[session]}
        end = TurnEnd(exit="final_response").model_copy(update=stamps)
        observer.on_event(LoggedEvent(end, ""))
    delegated, root = exporter.get_finished_spans()
    assert attributes(delegated)["shoulders.session.source"] == "delegate"
    (link,) = delegated.links
    assert link.context == root.context
    assert (delegated.parent, root.links) == (None, ())


@pytest.mark.parametrize("content", [False, True])
async def test_texts_are_in_spans_only_if_wanted(
    tmp_path: Path, isolated_home: Path, *, content: bool
) -> None:
    key = "sk-ant-api03-" + "aB3" * 31 + "AA"
    (tmp_path / "ward7.csv").write_text("x")
    async with traced(tmp_path, isolated_home, content=content) as (host, exporter):
        host.model.extend(turn(Say("I look. "), Call("list_files", {"path": "."})), "All well.")
        session = host.session()
        await host.send(session, f"{SECRET_QUESTION} {key}")
    spans = exporter.get_finished_spans()
    text = "".join(span.to_json() for span in spans)
    assert key[:30] not in text
    for piece in ("patient Zo", "ward7.csv", "I look.", "All well."):
        assert (piece in text) is content
    given = {name for span in spans for name in attributes(span)}
    wanted = {name for names in CONTENT_ATTRIBUTES.values() for name in names}
    assert given & wanted == (wanted if content else set())


async def test_spans_have_no_attributes_but_the_listed_ones(
    tmp_path: Path, isolated_home: Path
) -> None:
    listed = {name for names in ATTRIBUTES.values() for name in names}
    conventional = {
        value for name, value in vars(gen_ai_attributes).items() if name.startswith("GEN_AI_")
    }
    used = listed | {name for names in CONTENT_ATTRIBUTES.values() for name in names}
    assert {name for name in used if name.startswith("gen_ai.")} <= conventional
    async with traced(tmp_path, isolated_home) as (host, exporter):
        await host.ask(turn(Call("list_files", {})), turn(Fail(busy())), "Done.")
    assert {name for span in exporter.get_finished_spans() for name in attributes(span)} <= listed


@pytest.mark.parametrize(
    ("trait", "environ", "on"),
    [
        (None, {}, False),
        (None, {"OTEL_SERVICE_NAME": "lab"}, False),
        (None, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, True),
        (None, {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:4318"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "console"}, True),
        (None, {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "x"}, False),
        (True, {}, True),
        (True, {"OTEL_SDK_DISABLED": "true"}, False),
        (False, {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, False),
    ],
)
def test_the_trait_and_the_environment_decide(
    *, trait: bool | None, environ: dict[str, str], on: bool
) -> None:
    assert is_traced(trait, environ) is on


async def test_nothing_is_imported_while_traces_are_off(
    tmp_path: Path, isolated_home: Path
) -> None:
    script = (
        "import sys, jupyter_ai_shoulders.server.extension_services\n"
        "assert 'jupyter_ai_shoulders.host.metrics.service' in sys.modules\n"
        "print([name for name in sys.modules if name.startswith('opentelemetry')])"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    assert out.decode().strip() == "[]"
    async with observed(tmp_path, isolated_home) as host:
        await host.observability.start()
        assert host.observability.is_tracing is False


class _Collector(SpanExporter):
    """An exporter that hangs, as with an unreachable address."""

    def __init__(self) -> None:
        self.release = threading.Event()

    def export(self, spans: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] never returns in time
        self.release.wait(20)


def test_a_hanging_exporter_does_not_hold_up_the_stop(caplog: pytest.LogCaptureFixture) -> None:
    exporter = _Collector()
    tracing = start_tracing({}, lambda _: exporter)
    assert tracing is not None
    tracing.tracer.start_span("x").end()
    began = time.monotonic()
    tracing.close()
    assert FLUSH_SECONDS <= time.monotonic() - began < FLUSH_SECONDS + 1
    assert "could not be sent" in caplog.text
    exporter.release.set()


def test_spans_are_sent_before_the_stop() -> None:
    exporter = InMemorySpanExporter()
    tracing = start_tracing({}, lambda _: exporter)
    assert tracing is not None
    tracing.tracer.start_span("x").end()
    tracing.close()
    (span,) = exporter.get_finished_spans()
    assert span.resource.attributes["service.name"] == "jupyter-ai-shoulders"


def test_a_missing_package_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter", None)
    assert start_tracing({}) is None
    assert 'pip install "jupyter-ai-shoulders[otel]"' in caplog.text


def test_a_wrong_variable_is_a_message(caplog: pytest.LogCaptureFixture) -> None:
    def make(_: Mapping[str, str]) -> SpanExporter:
        raise ValueError("OTEL_EXPORTER_OTLP_HEADERS is not a list")

    assert start_tracing({}, make) is None
    assert "check the variables" in caplog.text
    assert "OTEL_EXPORTER_OTLP_HEADERS" in caplog.text


def test_a_tracer_provider_of_the_administrator_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)

    def make(_: Mapping[str, str]) -> SpanExporter:
        raise AssertionError("an exporter of ours")

    tracing = start_tracing({}, make)
    assert tracing is not None
    tracing.tracer.start_span("x").end()
    tracing.close()
    assert [span.name for span in exporter.get_finished_spans()] == ["x"]


def _id(span: ReadableSpan) -> int:
    assert span.context is not None
    return span.context.span_id


def _parent(span: ReadableSpan) -> int | None:
    return None if span.parent is None else span.parent.span_id


def _begin(span: ReadableSpan) -> int:
    assert span.start_time is not None
    return span.start_time


def _end(span: ReadableSpan) -> int:
    assert span.end_time is not None
    return span.end_time

"""What metrics and spans cost: per token, and per step.

Two servers stream fifty answers to one page each, in turn, one with metrics and one without; CPU
is that of the server's process, see "Fifty streams". The cost of a step is that of its events
(a step with two attempts, an approval and a tool call) through the observer to metrics, and to
metrics and spans whose exporter drops them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from opentelemetry.sdk.trace import TracerProvider
from prometheus_client import CollectorRegistry

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.host.metrics.event_metrics import EventMetrics
from jupyter_ai_shoulders.host.metrics.instruments import instruments_in
from jupyter_ai_shoulders.host.metrics.labels import Labels, ToolOrigin
from jupyter_ai_shoulders.host.metrics.measurements import MeasurementSink
from jupyter_ai_shoulders.host.metrics.spans import SpanSink
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from tests.bench.figures import Figure, Goal, spread
from tests.bench.groups.concurrent_streams import SCRIPT, through_socket
from tests.bench.server_and_provider import serving
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.host.metrics.event_scripts import events_with, session_with

ROUNDS = 5
STEPS = 2_000
"""Steps in one sample."""


def measure() -> list[Figure]:
    """Measure tokens, then steps."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    return [await _tokens(), *await _steps()]


async def _tokens() -> Figure:
    with_metrics: list[float] = []
    without: list[float] = []
    async with (
        serving(SCRIPT) as (on, _),
        serving(SCRIPT, args=["--Shoulders.metrics=False"]) as (off, _),
    ):
        for number in range(ROUNDS + 1):
            for server, found in ((on, with_metrics), (off, without)):
                flow = await through_socket(server)
                if number:
                    found.append(flow.cpu)
    name = "CPU per 1 000 tokens with metrics (floor: without)"
    return Figure(name, "ms", spread(with_metrics), spread(without), Goal("times", 1.03))


async def _steps() -> list[Figure]:
    labels = Labels((), (), lambda _: ToolOrigin(None))
    metrics = EventMetrics(instruments_in(CollectorRegistry()), labels, by_user=False)
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("bench")
    spans = SpanSink(tracer, labels, SystemClock(), None)
    ways: dict[str, Sequence[MeasurementSink]] = {
        "metrics": [metrics],
        "metrics and spans": [metrics, spans],
    }
    samples = await interleaved(ROUNDS, {name: _way(sinks) for name, sinks in ways.items()})
    return [
        Figure(
            f"a step, {name}",
            "µs of CPU",
            spread([sample.cpu * 1e3 for sample in samples[name]]),
            goal=Goal("at most", limit),
        )
        for name, limit in (("metrics", 200), ("metrics and spans", 500))
    ]


def _way(sinks: Sequence[MeasurementSink]) -> Way:
    session = session_with("text")
    observer = TurnObserver(SystemClock(), lambda _: session, sinks)
    logged = [
        LoggedEvent(event, "") for event in events_with("text") if event.type in observer.handlers
    ]

    async def steps() -> Sample:
        watch = Stopwatch()
        for _ in range(STEPS):
            for each in logged:
                observer.on_event(each)
        return watch.sample().over(STEPS)

    return steps

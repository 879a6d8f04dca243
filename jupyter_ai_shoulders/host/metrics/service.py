"""Connects metrics, traces and step log lines to a host. Made by ``server.extension_services``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from prometheus_client import REGISTRY, CollectorRegistry

from jupyter_ai_shoulders.host.host import Host
from jupyter_ai_shoulders.host.metrics import definitions as metrics
from jupyter_ai_shoulders.host.metrics.activity import Activity
from jupyter_ai_shoulders.host.metrics.definitions import Metric
from jupyter_ai_shoulders.host.metrics.event_metrics import EventMetrics
from jupyter_ai_shoulders.host.metrics.instruments import GaugeSource, instruments_in
from jupyter_ai_shoulders.host.metrics.labels import Labels, ToolOrigin
from jupyter_ai_shoulders.host.metrics.measurements import MeasurementSink
from jupyter_ai_shoulders.host.metrics.step_log import StepLog
from jupyter_ai_shoulders.host.metrics.tracing import Tracing, is_traced, start_tracing
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.host.state.event_bus import EventListener
from jupyter_ai_shoulders.providers.catalogue.loader import shipped_text
from jupyter_ai_shoulders.providers.catalogue.shipped_entries import ShippedCatalogue

INDEX_STATES = ("empty", "building", "ready", "paused", "failed")


@dataclass(frozen=True, slots=True)
class ObservabilityOptions:
    """The administrator's choices."""

    metrics: bool = True
    by_user: bool = False
    """Whether metrics name users."""
    traces: bool | None = None
    """Whether spans are made; None: if the environment asks for them."""
    content: bool = False
    """Whether spans hold texts, arguments and results."""


class _TypedListener(EventListener, Protocol):
    @property
    def handlers(self) -> Mapping[str, object]:
        """Has a key for each type of events."""
        ...


class Observability:
    """The observers of one host, until closed."""

    def __init__(
        self,
        host: Host,
        options: ObservabilityOptions,
        registry: CollectorRegistry = REGISTRY,
        start: Callable[[Mapping[str, str]], Tracing | None] = start_tracing,
    ) -> None:
        self._host = host
        self._options = options
        self._start = start
        self._undo: list[Callable[[], None]] = []
        self._tracing: Tracing | None = None
        self._clock = host.services.ports.clock
        self._labels = _labels(host)
        self._sinks: list[MeasurementSink] = [StepLog(host.redact)]
        if options.metrics:
            self._sinks.append(self._metrics(options, registry))
        self._listen(TurnObserver(self._clock, host.sessions.get, self._sinks))

    async def start(self) -> None:
        """Start traces if they are on, once; they must be imported, which takes a moment."""
        environ = self._host.services.ports.environ
        if self._tracing is not None or not is_traced(self._options.traces, environ):
            return
        self._tracing = await asyncio.to_thread(self._start, environ)
        if self._tracing is None:
            self._options = replace(self._options, traces=False)
            return
        from jupyter_ai_shoulders.host.metrics.span_attributes import ContentRecorder
        from jupyter_ai_shoulders.host.metrics.spans import SpanSink

        content = ContentRecorder(self._host.redact) if self._options.content else None
        if content is not None:
            self._listen(content)
        spans = SpanSink(self._tracing.tracer, self._labels, self._clock, content)
        self._sinks.append(spans)
        self._undo.append(spans.close)

    @property
    def is_tracing(self) -> bool:
        """Whether spans are made."""
        return self._tracing is not None

    async def aclose(self) -> None:
        """Stop observing and send the last spans; counters keep their values for the process."""
        self.close()
        if self._tracing is not None:
            await asyncio.to_thread(self._tracing.close)

    def close(self) -> None:
        """Stop observing."""
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    def _metrics(self, options: ObservabilityOptions, registry: CollectorRegistry) -> EventMetrics:
        instruments = instruments_in(registry)
        if options.by_user:
            instruments.add_user_metrics()
        sink = EventMetrics(instruments, self._labels, by_user=options.by_user)
        activity = Activity()
        self._listen(activity)
        source = GaugeSource(lambda: _gauges(self._host, activity))
        instruments.gauges.add(source)
        self._undo.append(lambda: instruments.gauges.remove(source))
        self._host.budgets.on_settled = sink.settled
        self._host.log.timings = sink
        self._undo.append(self._unhook)
        return sink

    def _unhook(self) -> None:
        self._host.budgets.on_settled = None
        self._host.log.timings = None

    def _listen(self, listener: _TypedListener) -> None:
        types: Iterable[str] = tuple(listener.handlers)
        self._host.hub.add_for(types, listener)
        self._undo.append(lambda: self._host.hub.remove_from(types, listener))


def _labels(host: Host) -> Labels:
    shipped = ShippedCatalogue.read(shipped_text())

    def origin(name: str) -> ToolOrigin | None:
        if host.tools.get(name) is None:
            return None
        return ToolOrigin(host.tools.package_of(name))

    return Labels(frozenset(shipped.providers), shipped.models, origin)


def _gauges(host: Host, activity: Activity) -> Mapping[tuple[Metric, tuple[str, ...]], float]:
    found: dict[tuple[Metric, tuple[str, ...]], float] = {
        (metrics.RUNNING_TURNS, ()): activity.running_turns,
        (metrics.WAITING_TURNS, ()): activity.waiting_turns,
        (metrics.RUNNING_CELLS, ()): activity.running_cells,
        (metrics.QUEUED_MESSAGES, ()): activity.queued_messages,
    }
    level = host.search.level()
    if level is not None:
        found[metrics.INDEX_FILES, ()] = level.files
        found[metrics.INDEX_STALE, ()] = level.behind
        for state in INDEX_STATES:
            found[metrics.INDEX_STATE, (state,)] = float(state == level.state)
    return found

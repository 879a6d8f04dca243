"""Makes the metrics in a Prometheus registry, once, however many hosts a process has.

Used by ``host.metrics.service``; jupyter_server exposes the default registry at ``/metrics``.
"""

from __future__ import annotations

import weakref
from collections import Counter as Sums
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from jupyter_ai_shoulders.host.metrics import definitions as metrics
from jupyter_ai_shoulders.host.metrics.definitions import Metric

Labelled = tuple[str, ...]
GaugeReader = Callable[[], Mapping[tuple[Metric, Labelled], float]]
"""Returns the gauges of one host, by metric and label values."""


class Instruments:
    """The metrics of one registry, which all hosts of the process share."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._counters: dict[Metric, Counter] = {}
        self._histograms: dict[Metric, Histogram] = {}
        self.gauges = GaugeCollector()
        for metric in metrics.METRICS:
            self._add(metric)
        registry.register(self.gauges)

    def add_user_metrics(self) -> None:
        """Add the metrics that name users, unless they exist."""
        for metric in metrics.USER_METRICS:
            if metric not in self._counters:
                self._add(metric)

    def count(self, metric: Metric, *labels: str, amount: float = 1) -> None:
        """Increase a counter."""
        counter = self._counters[metric]
        (counter.labels(*labels) if labels else counter).inc(amount)

    def observe(self, metric: Metric, value: float, *labels: str) -> None:
        """Add a value to a histogram; the clock may be coarser than what it measures."""
        histogram = self._histograms[metric]
        (histogram.labels(*labels) if labels else histogram).observe(max(value, 0.0))

    def _add(self, metric: Metric) -> None:
        if metric.kind == "counter":
            self._counters[metric] = Counter(
                metric.name, metric.help, metric.labels, registry=self._registry
            )
        else:
            self._histograms[metric] = Histogram(
                metric.name,
                metric.help,
                metric.labels,
                buckets=metric.buckets,
                registry=self._registry,
            )


class GaugeCollector(Collector):
    """Sums the gauges of all hosts when they are scraped."""

    def __init__(self) -> None:
        self._readers: weakref.WeakSet[GaugeSource] = weakref.WeakSet()

    def add(self, source: GaugeSource) -> None:
        """Include a host until it is removed or forgotten."""
        self._readers.add(source)

    def remove(self, source: GaugeSource) -> None:
        """Leave a host out."""
        self._readers.discard(source)

    def describe(self) -> Iterable[GaugeMetricFamily]:
        """Name the metrics without reading them."""
        return [_family(metric) for metric in metrics.GAUGES]

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return the current values."""
        sums: Sums[tuple[Metric, Labelled]] = Sums()
        for source in list(self._readers):
            sums.update(source.read())
        for metric in metrics.GAUGES:
            family = _family(metric)
            for (owner, labels), value in sums.items():
                if owner is metric:
                    family.add_metric(labels, value)
            yield family


class GaugeSource:
    """Reads the gauges of one host."""

    def __init__(self, read: GaugeReader) -> None:
        self.read = read


@cache
def instruments_in(registry: CollectorRegistry) -> Instruments:
    """Return the metrics of a registry, made on the first call."""
    return Instruments(registry)


def _family(metric: Metric) -> GaugeMetricFamily:
    return GaugeMetricFamily(metric.name, metric.help, labels=metric.labels)

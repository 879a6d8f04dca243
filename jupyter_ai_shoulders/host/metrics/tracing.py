"""Finds or sets up OpenTelemetry's tracer. Called by ``host.metrics.service``, in a thread.

Nothing of OpenTelemetry is imported unless traces are on.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Tracer

_log = logging.getLogger(__name__)

SCOPE = "jupyter_ai_shoulders"
SERVICE = "jupyter-ai-shoulders"
FLUSH_SECONDS = 1.0
"""How long a stop waits for spans to be sent; a hub kills a server that takes five seconds."""
_INSTALL = 'pip install "jupyter-ai-shoulders[otel]"'
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


def is_traced(trait: bool | None, environ: Mapping[str, str]) -> bool:
    """Return whether spans are made: as the trait says, else if the environment asks for them."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or trait is False:
        return False
    exporter = environ.get("OTEL_TRACES_EXPORTER", "")
    if exporter == "none":
        return False
    return bool(trait or exporter or any(environ.get(name) for name in _ENDPOINTS))


@dataclass(frozen=True, slots=True)
class Tracing:
    """A tracer, and the end of its exporter."""

    tracer: Tracer
    finish: Callable[[], object]
    """Sends what was not sent yet."""

    def close(self) -> None:
        """Send the remaining spans, for at most ``FLUSH_SECONDS``."""
        sending = threading.Thread(target=self.finish, name="shoulders-spans", daemon=True)
        sending.start()
        sending.join(FLUSH_SECONDS)
        if sending.is_alive():
            _log.warning("The last spans could not be sent within %g s.", FLUSH_SECONDS)


def start_tracing(
    environ: Mapping[str, str],
    make_exporter: Callable[[Mapping[str, str]], SpanExporter] | None = None,
) -> Tracing | None:
    """Return the tracer, None with a message if a package is missing or a variable is wrong.

    That is one of the tracer provider which the administrator configured for the process, else one
    of our own that exports as the standard variables say (OTLP over HTTP by default).
    """
    try:
        from opentelemetry.trace import ProxyTracerProvider, get_tracer_provider

        configured = get_tracer_provider()
        if not isinstance(configured, ProxyTracerProvider):
            flush = getattr(configured, "force_flush", lambda: None)  # of the SDK, not of the API
            return Tracing(configured.get_tracer(SCOPE), flush)
        return _own(environ, make_exporter or _exporter)
    except ImportError as error:
        _log.warning("No traces are made: %s. Install the extra: %s", error, _INSTALL)
    except Exception:  # noqa: BLE001 a wrong variable of OpenTelemetry must not stop conversations
        _log.exception("No traces are made: check the variables that begin with OTEL_.")
    return None


def _own(
    environ: Mapping[str, str], make_exporter: Callable[[Mapping[str, str]], SpanExporter]
) -> Tracing:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    exporter = make_exporter(environ)
    named = environ.get("OTEL_SERVICE_NAME") or "service.name=" in environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    resource = Resource.create({} if named else {"service.name": SERVICE})
    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Tracing(provider.get_tracer(SCOPE), provider.shutdown)


def _exporter(environ: Mapping[str, str]) -> SpanExporter:
    if environ.get("OTEL_TRACES_EXPORTER") == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    from opentelemetry.exporter.otlp.proto.http import (  # pyright: ignore[reportMissingImports] an extra
        trace_exporter,  # pyright: ignore[reportUnknownVariableType] of the extra
    )

    return cast("SpanExporter", trace_exporter.OTLPSpanExporter())

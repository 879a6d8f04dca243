"""The trace that an HTTP request belongs to, as its header ``traceparent`` says.

Set by ``server.handlers.turns``; ``host.metrics.spans`` makes it the parent of the turn that the
request starts. https://www.w3.org/TR/trace-context/
"""

from __future__ import annotations

from contextvars import ContextVar

_header: ContextVar[list[str]] = ContextVar("shoulders_traceparent")
"""A list, so that only the first turn of the tasks which inherit it is in the trace."""


def set_traceparent(header: str | None) -> None:
    """Remember the header for the turn that this request starts."""
    if header:
        _header.set([header])


def take_traceparent() -> str | None:
    """Return the header, once."""
    waiting = _header.get([])
    return waiting.pop() if waiting else None

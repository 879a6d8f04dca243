"""What holds of every result of every tool."""

from __future__ import annotations

from jupyter_ai_shoulders.tools.base import Result
from jupyter_ai_shoulders.tools.truncation import fits_limits
from jupyter_ai_shoulders.wire.events import ToolResult
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope

LISTS = frozenset({"listing", "matches", "cells"})


def check_envelope(envelope: ToolEnvelope) -> None:
    """Content or an error, never both empty; lists carry totals."""
    assert envelope.ok == (envelope.error is None), "an envelope has an error when it is not ok"
    if envelope.error is not None:
        assert envelope.error.message.strip(), "an error says what happened"
    if envelope.ok and envelope.kind in LISTS:
        assert envelope.meta.total is not None, f"{envelope.kind} without a total"


def check_result(result: Result) -> None:
    """Check that a tool's result is well-formed and contains something for the model."""
    check_envelope(result.envelope)
    assert any(not isinstance(part, TextPart) or part.text.strip() for part in result.content)


def check_logged(event: ToolResult) -> None:
    """A result in the log: the model is sent no more than the limits, and can read the rest."""
    assert (event.status == "ok") == event.result.ok, "status and envelope agree"
    check_envelope(event.result)
    texts = "\n".join(part.text for part in event.content if isinstance(part, TextPart))
    assert fits_limits(texts), "a result is longer than the limits"
    assert event.content, "the result is empty"

"""Writes one line per step to the log: what the model did, how long it took, why it stopped.

Made by ``host.metrics.service``. A line is ``step`` and pairs ``key=value`` whose values are JSON,
so that both people and programs read it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from jupyter_ai_shoulders.host.metrics.measurements import (
    Measurement,
    ModelCallEnded,
    StepEnded,
    ToolEnded,
)
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.parts import TextPart

STEP_LOGGER = "jupyter_ai_shoulders.steps"
_log = logging.getLogger(STEP_LOGGER)

MOST_ARGUMENTS = 400
"""Characters of a call's arguments."""


class StepLog:
    """A ``MeasurementSink`` that writes a line for each step, at level INFO."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        """``redact`` removes secrets; the events were redacted before, with the keys of then."""
        self._redact = redact

    def record(self, measured: Measurement) -> None:
        """Write the line of a step that ended."""
        if isinstance(measured, StepEnded) and _log.isEnabledFor(logging.INFO):
            _log.info("%s", self.line(measured))

    def line(self, step: StepEnded) -> str:
        """Return the line of a step."""
        model = step.models[-1] if step.models else None
        facts: JsonObject = {
            "session": step.turn.session_id,
            "turn": step.turn.turn_id,
            "step": step.step,
            "provider": step.turn.provider,
            "model": step.turn.model,
            "ms": _ms(step.ended - step.began),
            "attempts": len(step.models),
            **(_model_facts(model) if model is not None else {}),
            "calls": [self._call(tool) for tool in step.tools],
            "stop": step.exit or step.stop,
            "error": step.error,
        }
        pairs = " ".join(f"{key}={_json(value)}" for key, value in facts.items())
        return f"step {self._redact(pairs)}"

    def _call(self, tool: ToolEnded) -> JsonObject:
        found: JsonObject = {
            "tool": tool.tool,
            "status": tool.status,
            "error": tool.error,
            "ms": _ms(tool.seconds),
        }
        if tool.call is not None:
            text = json.dumps(tool.call.arguments, ensure_ascii=False)
            found["arguments"] = self._redact(text)[:MOST_ARGUMENTS]
            found["arguments_size"] = len(text)
        if tool.result is not None:
            found["result_size"] = sum(
                len(part.text) for part in tool.result.content if isinstance(part, TextPart)
            )
        return found


def _model_facts(model: ModelCallEnded) -> JsonObject:
    usage = None if model.usage is None else model.usage.usage
    first = model.first_output
    return {
        "model_ms": _ms(model.ended - model.began),
        "first_ms": None if first is None else _ms(first - model.began),
        "input_tokens": None if usage is None else usage.input_tokens,
        "output_tokens": None if usage is None else usage.output_tokens,
    }


def _ms(seconds: float) -> int:
    return round(max(seconds, 0.0) * 1000)


def _json(value: object) -> str:
    """Return one line of ASCII: a log must not be forged with control characters."""
    return json.dumps(value, separators=(",", ":"))

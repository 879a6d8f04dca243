"""What is known of turns that are not over. Used by ``host.metrics.turn_observer``."""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_ai_shoulders.host.metrics.measurements import (
    ModelCallEnded,
    StepEnded,
    StepStop,
    ToolEnded,
    TurnEnded,
    TurnFacts,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.events import Exit, ToolCall, UsageUpdate
from jupyter_ai_shoulders.wire.ids import CallId


@dataclass(slots=True)
class OpenModelCall:
    """A model call whose outcome is not known yet."""

    attempt: int
    began: float
    first_output: float | None = None
    usage: UsageUpdate | None = None
    answered: float | None = None
    """When its usage was committed; the next event tells whether it failed."""


@dataclass(slots=True)
class OpenStep:
    """A step that is not over."""

    number: int
    began: float
    model: OpenModelCall | None
    has_output: bool = False
    models: list[ModelCallEnded] = field(default_factory=list[ModelCallEnded])
    tools: list[ToolEnded] = field(default_factory=list[ToolEnded])


@dataclass(slots=True)
class OpenTurn:
    """A turn that is not over."""

    facts: TurnFacts
    began: float
    step: OpenStep | None = None
    steps: int = 0
    retries: int = 0
    requested: dict[CallId, float] = field(default_factory=dict[CallId, float])
    """When approvals were requested."""
    calls: dict[CallId, ToolCall] = field(default_factory=dict[CallId, ToolCall])

    def note_output(self, now: float) -> float | None:
        """Return the seconds from the step's begin to its first output, once."""
        step = self.step
        if step is None or step.model is None:
            return None
        if step.model.first_output is None:
            step.model.first_output = now
        if step.has_output:
            return None
        step.has_output = True
        return now - step.began

    def end_model_call(
        self, now: float, error: ErrorCode | None = None, *, cancelled: bool = False
    ) -> ModelCallEnded | None:
        """Return the end of the running model call, if there is one."""
        step = self.step
        if step is None or step.model is None:
            return None
        call, step.model = step.model, None
        ended = ModelCallEnded(
            turn=self.facts,
            step=step.number,
            attempt=call.attempt,
            began=min(call.began, now),
            first_output=call.first_output,
            ended=now if call.answered is None else call.answered,
            usage=call.usage,
            error=error,
            cancelled=cancelled,
        )
        step.models.append(ended)
        return ended

    def end_step(
        self, now: float, stop: StepStop, end: Exit | None = None, error: ErrorCode | None = None
    ) -> StepEnded | None:
        """Return the end of the open step, if there is one."""
        step, self.step = self.step, None
        if step is None:
            return None
        return StepEnded(
            turn=self.facts,
            step=step.number,
            began=step.began,
            ended=now,
            models=tuple(step.models),
            tools=tuple(step.tools),
            stop=stop,
            exit=end,
            error=error,
        )

    def end(self, now: float, how: Exit, error: ErrorCode | None) -> TurnEnded:
        """Return the end of the turn."""
        return TurnEnded(self.facts, self.began, now, self.steps, self.retries, how, error)

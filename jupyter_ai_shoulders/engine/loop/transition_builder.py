"""The state and effects of a transition under construction. Used by ``advance`` and its parts."""

from __future__ import annotations

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.engine.loop.effects import AppendEvent, Effect, SetStatus, StartOperation
from jupyter_ai_shoulders.engine.loop.event_reducer import apply_event
from jupyter_ai_shoulders.engine.loop.operations import Operation
from jupyter_ai_shoulders.engine.loop.state import (
    CallState,
    Phase,
    SessionState,
    TurnState,
    Verdict,
)
from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.sessions import SessionStatus


class TransitionBuilder:
    """Collects effects; recorded events are applied at once, so that later rules see them."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.effects: list[Effect] = []

    @property
    def turn(self) -> TurnState:
        """The open turn."""
        assert self.state.turn is not None, "phases other than Idle have a turn"
        return self.state.turn

    def record(self, event: Event) -> None:
        """Log the event as part of the open turn."""
        if event.turn_id is None and self.state.turn is not None:
            event = event.model_copy(update={"turn_id": self.state.turn.turn_id})
        self.state = apply_event(self.state, event)
        self.effects.append(AppendEvent(event))

    def add(self, effect: Effect) -> None:
        """Add an effect other than events and operations."""
        self.effects.append(effect)

    def set_status(self, status: SessionStatus) -> None:
        """Set the session's status."""
        self.effects.append(SetStatus(status))

    def enter(self, phase: Phase, operation: Operation | None = None) -> None:
        """Enter a phase and start its operation."""
        self.state = replace(self.state, phase=phase)
        if operation is not None:
            self.effects.append(StartOperation(operation))

    def set_verdict(self, call_id: CallId, verdict: Verdict) -> None:
        """Set a verdict without an event: it is determined again after a restart."""
        calls = tuple(
            replace(call, verdict=verdict) if call.call_id == call_id else call
            for call in self.turn.calls
        )
        self.state = replace(self.state, turn=replace(self.turn, calls=calls))

    def open_calls(self) -> list[CallState]:
        """Return the calls of the step without a result, in model order."""
        return [call for call in self.turn.calls if not call.settled]

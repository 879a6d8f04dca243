"""Derives measurements from committed events: the one source of metrics, spans and step log lines.

Made by ``host.metrics.service``, which adds it to the event bus. Pieces of streamed text are not
among the events it receives, so that a token costs nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.host.metrics.measurements import (
    ApprovalAnswered,
    ApprovalRequested,
    FirstOutput,
    Measurement,
    MeasurementSink,
    RetryScheduled,
    StepBegan,
    ToolEnded,
    ToolMovedToBackground,
    TurnBegan,
    TurnCost,
    TurnEnded,
    TurnFacts,
)
from jupyter_ai_shoulders.host.metrics.open_turns import OpenModelCall, OpenStep, OpenTurn
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Session

_log = logging.getLogger(__name__)

MOST_OPEN_TURNS = 10_000
"""Turns that wait to be resumed are kept, too; beyond this the oldest is forgotten."""


class TurnObserver:
    """Follows the turns of one host; an ``EventListener`` for the types in ``handlers``."""

    def __init__(
        self,
        clock: Clock,
        session_of: Callable[[SessionId], Session],
        sinks: Sequence[MeasurementSink],
    ) -> None:
        """``session_of`` raises ``NotFound`` for a deleted session."""
        self._clock = clock
        self._session_of = session_of
        self._sinks = sinks
        self._open: dict[TurnId, OpenTurn] = {}
        self._runs: dict[str, TurnFacts] = {}
        self._failed = False
        self.handlers: Mapping[str, Callable[[Any], None]] = {
            "turn-start": self._start,
            "turn-resume": self._resume,
            "step-start": self._step,
            "text-start": self._output,
            "reasoning-start": self._output,
            "tool-call": self._call,
            "usage-update": self._usage,
            "retry-wait": self._retry,
            "approval-request": self._request,
            "approval-answer": self._answer,
            "tool-start": self._settle_model_call,
            "tool-result": self._result,
            "run-end": self._run_end,
            "turn-end": self._end,
        }

    def on_event(self, logged: LoggedEvent) -> None:
        """Handle a committed event; a failure is logged once and never reaches the turn."""
        try:
            self.handlers[logged.event.type](logged.event)
        except Exception:  # noqa: BLE001 a turn must not fail because it is measured
            if not self._failed:
                self._failed = True
                _log.exception("A turn could not be measured; later failures are not reported.")

    # turns and steps

    def _start(self, event: ev.TurnStart) -> None:
        self._begin(event, resumed=False)

    def _resume(self, event: ev.TurnResume) -> None:
        self._interrupt(self._open.get(event.turn_id or TurnId("")))
        self._begin(event, resumed=True)

    def _begin(self, event: ev.TurnStart | ev.TurnResume, *, resumed: bool) -> None:
        facts = self._facts(event, event.model, event.provider, resumed=resumed)
        now = self._clock.monotonic()
        before = self._open.pop(facts.turn_id, None)
        turn = OpenTurn(facts, now)
        if before is not None:
            turn.began, turn.steps, turn.retries = before.began, before.steps, before.retries
        self._open[facts.turn_id] = turn
        if len(self._open) > MOST_OPEN_TURNS:
            del self._open[next(iter(self._open))]
        self._emit(TurnBegan(facts, now))

    def _interrupt(self, turn: OpenTurn | None) -> None:
        """End the step of a turn that was interrupted in this process."""
        if turn is not None:
            now = self._clock.monotonic()
            self._emit(turn.end_model_call(now, cancelled=True))
            self._emit(turn.end_step(now, "interrupted"))

    def _step(self, event: ev.StepStart) -> None:
        turn = self._turn(event)
        if turn is None:
            return
        now = self._clock.monotonic()
        self._emit(turn.end_model_call(now))
        self._emit(turn.end_step(now, "next_step"))
        turn.steps += 1
        turn.step = OpenStep(event.step, now, OpenModelCall(attempt=1, began=now))
        self._emit(StepBegan(turn.facts, event.step, now))

    def _end(self, event: ev.TurnEnd) -> None:
        now = self._clock.monotonic()
        code = None if event.error is None else event.error.code
        turn = self._open.pop(event.turn_id or TurnId(""), None)
        if turn is None:
            facts = self._facts(event, None, None)
            self._emit(TurnEnded(facts, None, now, 0, 0, event.exit, code))
            return
        cancelled = event.exit in ("cancelled", "interrupted")
        self._emit(turn.end_model_call(now, code, cancelled=cancelled))
        self._emit(turn.end_step(now, "turn_end", event.exit, code))
        self._emit(turn.end(now, event.exit, code))

    # the model

    def _output(self, event: ev.TextStart | ev.ReasoningStart | ev.ToolCall) -> None:
        turn = self._turn(event)
        seconds = None if turn is None else turn.note_output(self._clock.monotonic())
        if turn is not None and seconds is not None:
            self._emit(FirstOutput(turn.facts, seconds))

    def _call(self, event: ev.ToolCall) -> None:
        self._output(event)
        turn = self._turn(event)
        if turn is not None:
            turn.calls[event.call_id] = event

    def _usage(self, event: ev.UsageUpdate) -> None:
        turn = self._turn(event)
        if turn is None:
            return
        if event.cost_micro_usd:
            self._emit(TurnCost(turn.facts, event.cost_micro_usd))
        call = None if turn.step is None else turn.step.model
        if call is not None and event.model == turn.facts.model:  # else of a summary
            call.usage, call.answered = event, self._clock.monotonic()

    def _retry(self, event: ev.RetryWait) -> None:
        turn = self._turn(event)
        if turn is None:
            return
        now, delay = self._clock.monotonic(), event.delay_ms / 1000
        turn.retries += 1
        self._emit(turn.end_model_call(now, event.code or "provider_error"))
        self._emit(RetryScheduled(turn.facts, event.code, delay))
        if turn.step is not None:
            turn.step.model = OpenModelCall(attempt=event.attempt + 1, began=now + delay)

    # tool calls

    def _settle_model_call(self, event: ev.ToolStart | ev.ApprovalRequest) -> None:
        """Note that the answer of the model was complete, since its calls are carried out."""
        turn = self._turn(event)
        if turn is not None:
            self._emit(turn.end_model_call(self._clock.monotonic()))

    def _request(self, event: ev.ApprovalRequest) -> None:
        self._settle_model_call(event)
        turn = self._turn(event)
        if turn is not None:
            turn.requested[event.call_id] = self._clock.monotonic()
            self._emit(ApprovalRequested(turn.facts, event.tool, event.reason.kind))

    def _answer(self, event: ev.ApprovalAnswer) -> None:
        turn = self._turn(event)
        facts = self._facts(event, None, None) if turn is None else turn.facts
        began = None if turn is None else turn.requested.pop(event.call_id, None)
        waited = None if began is None else self._clock.monotonic() - began
        self._emit(ApprovalAnswered(facts, event.decision, event.by, waited))

    def _result(self, event: ev.ToolResult) -> None:
        turn = self._turn(event)
        facts = self._facts(event, None, None) if turn is None else turn.facts
        call: ev.ToolCall | None = None
        if turn is not None:
            if event.status not in ("cancelled", "skipped"):
                self._emit(turn.end_model_call(self._clock.monotonic()))
            turn.requested.pop(event.call_id, None)
            call = turn.calls.pop(event.call_id, None)
        if event.run is not None:
            self._runs[event.run] = facts
            self._emit(ToolMovedToBackground(facts, event.call_id, event.tool, event.run))
            return
        ended = self._tool_ended(facts, event, call=call, result=event)
        if turn is not None and turn.step is not None:
            turn.step.tools.append(ended)
        self._emit(ended)

    def _run_end(self, event: ev.RunEnd) -> None:
        facts = self._runs.pop(event.run, None) or self._facts(event, None, None)
        self._emit(self._tool_ended(facts, event))

    def _tool_ended(
        self,
        facts: TurnFacts,
        event: ev.ToolResult | ev.RunEnd,
        *,
        call: ev.ToolCall | None = None,
        result: ev.ToolResult | None = None,
    ) -> ToolEnded:
        error = event.result.error
        return ToolEnded(
            turn=facts,
            call_id=CallId(event.call_id),
            tool=event.tool,
            status=event.status,
            error=None if error is None else error.code,
            seconds=event.duration_ms / 1000,
            ended=self._clock.monotonic(),
            run=event.run if isinstance(event, ev.RunEnd) else None,
            call=call,
            result=result,
        )

    # values

    def _turn(self, event: ev.EventBase) -> OpenTurn | None:
        return None if event.turn_id is None else self._open.get(event.turn_id)

    def _facts(
        self,
        event: ev.EventBase,
        model: Any,
        provider: Any,
        *,
        resumed: bool = False,
    ) -> TurnFacts:
        try:
            session = self._session_of(event.session_id)
        except (NotFound, StateUnavailable):  # deleted while its last event was written
            session = None
        delegated = None if session is None else session.parent
        return TurnFacts(
            session_id=event.session_id,
            turn_id=event.turn_id or TurnId(""),
            model=model,
            provider=provider,
            source=None if session is None else session.source,
            kind=None if session is None else session.kind,
            owner=None if session is None else session.owner,
            parent=None if delegated is None else delegated.turn_id,
            resumed=resumed,
        )

    def _emit(self, measured: Measurement | None) -> None:
        if measured is not None:
            for sink in self._sinks:
                sink.record(measured)

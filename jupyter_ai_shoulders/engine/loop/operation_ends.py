"""Decides what follows when an operation ends. Pure.

Part of ``engine.loop.transition``.
"""

from __future__ import annotations

from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.external_agents import is_external_agent
from jupyter_ai_shoulders.engine.loop import batch, context_overflow, turns
from jupyter_ai_shoulders.engine.loop.accepted_phases import UNEXPECTED
from jupyter_ai_shoulders.engine.loop.effects import RefuseCommand, SyncLog
from jupyter_ai_shoulders.engine.loop.operations import (
    CallModel,
    CallsDone,
    ContextCompacted,
    ModelFailed,
    ModelFinished,
    OperationCrashed,
    OperationEnd,
    OperationStopped,
    PermissionChecked,
    RequestOverflowed,
    RequestPrepared,
    RetryElapsed,
    WaitRetry,
)
from jupyter_ai_shoulders.engine.loop.state import (
    CheckingPermission,
    PreparingRequest,
    Stopping,
    Streaming,
    WaitingToRetry,
)
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    Notice,
    RetryWait,
    StepStart,
)

_OUTGROWN = ErrorInfo(
    code="context_overflow",
    message="The conversation is too long for the model's context window.",
)


def handle_operation_end(draft: TransitionBuilder, signal: OperationEnd) -> RefuseCommand | None:
    """Decide what follows; while the turn stops, finish stopping."""
    if isinstance(draft.state.phase, Stopping):
        stopped = isinstance(signal, OperationStopped | ModelFinished | ModelFailed)
        turns.finish_stop(draft, draft.state.phase.reason, signal.usage if stopped else None)
        return None
    match signal:
        case RequestPrepared() | RequestOverflowed() | ContextCompacted():
            _request_ready(draft, signal)
        case ModelFinished():
            _model_finished(draft, signal)
        case ModelFailed():
            _model_failed(draft, signal)
        case RetryElapsed():
            _retry(draft)
        case PermissionChecked():
            return _apply_permission(draft, signal)
        case CallsDone(bug=error):
            draft.add(SyncLog())
            turns.fail_turn(draft, error) if error else batch.advance_batch(draft)
        case OperationCrashed(error=error):
            turns.fail_turn(draft, error)
        case OperationStopped():
            turns.interrupt_turn(draft)
        case _:
            assert_never(signal)
    return None


def _request_ready(
    draft: TransitionBuilder,
    signal: RequestPrepared | RequestOverflowed | ContextCompacted,
) -> None:
    if isinstance(signal, RequestOverflowed):
        context_overflow.handle_overflow(draft, signal)
        return
    if isinstance(signal, ContextCompacted):
        context_overflow.resume_after_compaction(draft, signal)
        return
    phase = draft.state.phase
    assert isinstance(phase, PreparingRequest)
    limit = draft.turn.step_limit
    draft.record(
        StepStart(step=phase.step, limit=limit, tokens_used=signal.tokens, window=signal.window)
    )
    draft.enter(Streaming(phase.step, attempt=1), CallModel(phase.step, attempt=1))


def _model_finished(draft: TransitionBuilder, signal: ModelFinished) -> None:
    draft.record(signal.usage)
    if signal.stop == "content_filter":
        turns.fail_turn(
            draft,
            ErrorInfo(
                code="content_filtered",
                message="The provider's content filter stopped the reply.",
                hint="Rephrase it, or choose another model.",
            ),
        )
        return
    if signal.stop == "context_overflow":
        context_overflow.handle_provider_refusal(draft, draft.turn.step, _OUTGROWN)
        return
    if signal.empty and signal.stop != "max_tokens" and turns.nudge_empty(draft):
        return
    _note_shortcomings(draft, signal)
    batch.advance_batch(draft)


def _note_shortcomings(draft: TransitionBuilder, signal: ModelFinished) -> None:
    if signal.stop == "max_tokens":
        text = "The reply was cut off at the model's output limit."
        draft.record(Notice(level="warning", code="output_limit", text=text))
    elif signal.empty and not is_external_agent(draft.turn.model):
        text = "The model returned an empty answer."
        draft.record(Notice(level="warning", code="empty_turn", text=text))


def _model_failed(draft: TransitionBuilder, signal: ModelFailed) -> None:
    phase = draft.state.phase
    assert isinstance(phase, Streaming)
    if signal.usage is not None:
        draft.record(signal.usage)
    if signal.error.code == "context_overflow":
        context_overflow.handle_provider_refusal(draft, phase.step, signal.error)
        return
    if signal.retry_ms is None:
        turns.fail_or_pause(draft, signal.error)
        return
    draft.record(
        RetryWait(
            attempt=phase.attempt,
            delay_ms=signal.retry_ms,
            reason=signal.error.message,
            code=signal.error.code,
        )
    )
    draft.enter(WaitingToRetry(phase.step, phase.attempt), WaitRetry(signal.retry_ms))


def _retry(draft: TransitionBuilder) -> None:
    phase = draft.state.phase
    assert isinstance(phase, WaitingToRetry)
    attempt = phase.attempt + 1
    draft.enter(Streaming(phase.step, attempt), CallModel(phase.step, attempt))


def _apply_permission(draft: TransitionBuilder, signal: PermissionChecked) -> RefuseCommand | None:
    if draft.state.phase != CheckingPermission(signal.call_id):
        return RefuseCommand(*UNEXPECTED)
    batch.apply_verdict(draft, signal)
    return None

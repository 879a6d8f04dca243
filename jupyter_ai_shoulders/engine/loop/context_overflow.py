"""Handles requests that are too long: by compaction, a question, or the end of the turn. Pure.

Part of ``engine.loop.transition``. The overflow is found before sending (``RequestOverflowed``) or
by the provider. This cannot loop: the range that may be replaced does not grow within a turn
(``engine.transcript.compaction_range``), so a second compaction finds nothing to replace and the
turn ends.
"""

from __future__ import annotations

from jupyter_ai_shoulders.engine.loop import turns
from jupyter_ai_shoulders.engine.loop.effects import SyncLog
from jupyter_ai_shoulders.engine.loop.event_reducer import COMPACTION_ASK
from jupyter_ai_shoulders.engine.loop.operations import (
    CompactContext,
    ContextCompacted,
    PrepareRequest,
    RequestOverflowed,
)
from jupyter_ai_shoulders.engine.loop.state import Compacting, Interrupted, PreparingRequest
from jupyter_ai_shoulders.engine.loop.synthetic_results import NOT_RUN, settled_result
from jupyter_ai_shoulders.engine.loop.transition_builder import TransitionBuilder
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Notice

_ELSE = "choose a model with a larger window, or start a new conversation."


def handle_overflow(draft: TransitionBuilder, signal: RequestOverflowed) -> None:
    """Handle a request that does not fit: compact once if possible."""
    phase = draft.state.phase
    if isinstance(phase, PreparingRequest) and signal.compactable:
        _make_room(draft, phase.step, overflow_error(signal), None, wanted=signal.wanted)
    else:
        turns.fail_turn(draft, overflow_error(signal))


def handle_provider_refusal(draft: TransitionBuilder, step: int, provider_error: ErrorInfo) -> None:
    """Handle a provider's refusal of a long prompt: compact and repeat the step."""
    for call in draft.open_calls():
        draft.record(settled_result(call.call_id, call.tool, "cancelled", NOT_RUN))
    _make_room(draft, step, provider_error, provider_error)


def resume_after_compaction(draft: TransitionBuilder, signal: ContextCompacted) -> None:
    """Prepare the step again, with messages sent in the meantime."""
    phase = draft.state.phase
    assert isinstance(phase, Compacting)
    draft.record(signal.rebase)
    draft.record(signal.notice)
    turns.consume_queue(draft)
    draft.enter(PreparingRequest(phase.step), PrepareRequest(phase.step, fresh=False))


def overflow_error(signal: RequestOverflowed) -> ErrorInfo:
    """Return the error: the size needed, the limit, and what to remove."""
    needs = (
        f"The conversation needs about {signal.tokens} tokens, and the model leaves room for "
        f"{signal.budget} of its {signal.window}."
    )
    provider_error = signal.provider_error
    named = ", ".join(f"{name} (about {tokens} tokens)" for name, tokens in signal.largest)
    largest: list[Json] = [{"name": name, "tokens": tokens} for name, tokens in signal.largest]
    return ErrorInfo(
        code="context_overflow",
        message=needs if provider_error is None else f"{provider_error.message} {needs}",
        hint=f"Remove or shorten what is largest: {named}; {_ELSE}" if named else _cap(_ELSE),
        details={
            "tokens": signal.tokens,
            "budget": signal.budget,
            "window": signal.window,
            "largest": largest,
        },
        provider=provider_error.provider if provider_error else None,
        model=provider_error.model if provider_error else None,
        request_id=provider_error.request_id if provider_error else None,
    )


def _make_room(
    draft: TransitionBuilder,
    step: int,
    error: ErrorInfo,
    provider_error: ErrorInfo | None,
    *,
    wanted: bool = False,
) -> None:
    """Start a compaction or ask for it; ``error`` ends the turn where none is allowed.

    ``wanted``: the user requested it.
    """
    policy = draft.state.policy
    if wanted:
        draft.enter(Compacting(step), CompactContext(step, provider_error, wanted=True))
    elif policy.compaction == "off":
        hint = f"{error.hint or _cap(_ELSE)} Earlier messages are not summarised: it is off."
        turns.fail_turn(draft, error.model_copy(update={"hint": hint}))
    elif policy.compaction == "ask" and policy.interactive and not draft.turn.may_compact:
        _ask(draft, error)
    else:
        draft.enter(Compacting(step), CompactContext(step, provider_error))


def _ask(draft: TransitionBuilder, error: ErrorInfo) -> None:
    text = f"{error.message} Earlier messages can be summarised to make room."
    draft.record(Notice(level="warning", code=COMPACTION_ASK, text=text, details=error.details))
    draft.enter(Interrupted())
    draft.set_status("waiting")
    draft.add(SyncLog())


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]

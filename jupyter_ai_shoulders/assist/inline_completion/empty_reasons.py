"""Results without suggestions, with the reason that the page shows. Pure; used by ``service``."""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.wire.api.completions import CompletionEnd, SilenceReason
from jupyter_ai_shoulders.wire.ids import ModelId

_UNWORTHY: frozenset[SilenceReason] = frozenset({"cancelled", "nothing", "disabled"})
"""Reasons that are not shown to the user."""


def empty_result(
    request_id: str, reason: SilenceReason, message: str | None = None, model: ModelId | None = None
) -> CompletionEnd:
    """Return a result without suggestions."""
    told = None if reason in _UNWORTHY else message
    return CompletionEnd(
        request_id=request_id, suggestions=(), model=model, reason=reason, message=told
    )


def empty_result_for_error(
    request_id: str, error: ShouldersError, model: ModelId | None
) -> CompletionEnd:
    """Return the empty result for an error."""
    info = error.info
    told = " ".join(filter(None, (info.message, info.hint)))
    return empty_result(request_id, _reason(error), told, model)


def _reason(error: ShouldersError) -> SilenceReason:
    match error.info.code:
        case "no_key":
            return "no_key"
        case "no_model" | "unknown_model":
            return "no_model"
        case "budget_exhausted":
            return "budget"
        case "content_filtered":
            return "nothing"
        case _ if isinstance(error, PolicyRefusal):
            return "budget"  # all other refusals come from the ledger
        case _:
            return "provider_down"

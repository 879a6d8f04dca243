"""Reads Anthropic's error bodies and error events.

Distinguishes by ``type`` and ``details.error_code``; by wording only where the API gives nothing
else.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_object, as_text
from jupyter_ai_shoulders.wire.errors import ErrorCode

_TYPES: Mapping[str, tuple[int, ErrorCode]] = {
    "invalid_request_error": (400, "bad_request_upstream"),
    "authentication_error": (401, "authentication"),
    "billing_error": (402, "billing"),
    "permission_error": (403, "permission"),
    "not_found_error": (404, "model_not_found"),
    "conflict_error": (409, "provider_error"),
    "request_too_large": (413, "too_large"),
    "rate_limit_error": (429, "rate_limited"),
    "api_error": (500, "provider_error"),
    "timeout_error": (504, "provider_timeout"),
    "overloaded_error": (529, "overloaded"),
}
_SPENT = frozenset({"contract_spend_limit_reached", "enforced_spend_limit_reached"})
_WORDS: tuple[tuple[str, ErrorCode], ...] = (
    ("prompt is too long", "context_overflow"),
    ("exceed context limit", "context_overflow"),
    ("credit balance is too low", "billing"),
    ("usage limits", "quota_exhausted"),
    ("spend limit", "quota_exhausted"),
)


def read_refusal(status: int | None, body: VendorObject) -> Refusal:
    """Read an error; ``status`` is None for one inside an answer that began with 200."""
    error = as_object(body.get("error"))
    implied, code = _TYPES.get(as_text(error.get("type")), (500, None))
    sentence = as_text(error.get("message"))
    better = _better_code(error, sentence)
    return Refusal(
        code=better or code,
        sentence=sentence,
        status=status or implied,
        retryable=False if better else None,
        request_id=as_text(body.get("request_id")) or None,
    )


def _better_code(error: VendorObject, sentence: str) -> ErrorCode | None:
    """Return a code for an error that retries cannot cure, where its type does not tell."""
    if as_text(as_object(error.get("details")).get("error_code")) in _SPENT:
        return "quota_exhausted"
    if as_text(error.get("type")) != "invalid_request_error":
        return None
    lower = sentence.lower()
    return next((code for words, code in _WORDS if words in lower), None)

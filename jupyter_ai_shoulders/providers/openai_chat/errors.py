"""Reads errors of Chat Completions servers, from bodies and stream events.

The shapes differ (``{"error": {…}}``, ``{"error": "text"}``, ``{"object": "error", …}``, numeric
codes), so codes are checked first, then types, then the wording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_object, as_text
from jupyter_ai_shoulders.wire.errors import ErrorCode

_NAMES: Mapping[str, ErrorCode] = {
    "context_length_exceeded": "context_overflow",
    "exceed_context_size_error": "context_overflow",
    "invalid_api_key": "authentication",
    "authentication_error": "authentication",
    "insufficient_quota": "quota_exhausted",
    "billing_hard_limit_reached": "quota_exhausted",
    "credit_balance_exhausted": "quota_exhausted",
    "organization_spend_limit_exceeded": "quota_exhausted",
    "project_spend_limit_exceeded": "quota_exhausted",
    "organization_usage_limit_exceeded": "quota_exhausted",
    "model_not_found": "model_not_found",
    "content_policy_violation": "content_filtered",
    "invalid_prompt": "content_filtered",
    "content_filter": "content_filtered",
    "rate_limit_exceeded": "rate_limited",
    "rate_limit_error": "rate_limited",
    "overloaded_error": "overloaded",
    "server_error": "provider_error",
    "api_error": "provider_error",
}
_FINAL: frozenset[ErrorCode] = frozenset(
    {"context_overflow", "authentication", "quota_exhausted", "model_not_found", "content_filtered"}
)
_IMPLIED: Mapping[ErrorCode, int] = {
    "context_overflow": 400,
    "content_filtered": 400,
    "authentication": 401,
    "model_not_found": 404,
    "quota_exhausted": 429,
    "rate_limited": 429,
    "overloaded": 503,
}
_WORDS: tuple[tuple[str, ErrorCode], ...] = (
    ("maximum context length", "context_overflow"),
    ("maximum input length", "context_overflow"),
    ("context size", "context_overflow"),
    ("context window", "context_overflow"),
    ("context length", "context_overflow"),
    ("prompt is too long", "context_overflow"),
    ("too many tokens", "context_overflow"),
)

_MAY_BE_OVERFLOW = frozenset({None, 400, 413, 422, 500})
"""Some servers answer 500 to an invalid request."""


def read_refusal(status: int | None, body: VendorObject) -> Refusal:
    """Read an error; ``status`` is None for one inside an answer that began with 200."""
    error = as_object(body.get("error")) or body
    sentence = as_text(error.get("message")) or as_text(body.get("error"))
    code = _code(error, status, sentence)
    if code is None and status == 403 and _moderated(error):
        code = "content_filtered"
    return Refusal(
        code=code,
        sentence=sentence,
        status=status or _number(error.get("code")) or _IMPLIED.get(code or "provider_error", 500),
        retryable=False if code in _FINAL else None,
    )


def _code(error: VendorObject, status: int | None, sentence: str) -> ErrorCode | None:
    names = (as_text(error.get("code")), as_text(error.get("type")))
    named: ErrorCode | None = next((_NAMES[name] for name in names if name in _NAMES), None)
    if named is not None or status not in _MAY_BE_OVERFLOW:
        return named
    lower = sentence.lower()
    return next((code for words, code in _WORDS if words in lower), None)


def _moderated(error: VendorObject) -> bool:
    metadata = as_object(error.get("metadata"))
    return "reasons" in metadata or "flagged_input" in metadata


def _number(code: Any) -> int | None:
    """Return an HTTP status given as ``code``, as OpenRouter and others do."""
    number = as_count(int(code) if isinstance(code, str) and code.isdecimal() else code)
    return number if number is not None and 400 <= number < 600 else None

"""Reads Google's errors, from bodies and streams.

Distinguishes by ``status`` and the typed ``details``; by wording only where there is nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.errors import ErrorCode

_STATUSES: Mapping[str, tuple[int, ErrorCode]] = {
    "INVALID_ARGUMENT": (400, "bad_request_upstream"),
    "FAILED_PRECONDITION": (400, "permission"),
    "OUT_OF_RANGE": (400, "bad_request_upstream"),
    "UNAUTHENTICATED": (401, "authentication"),
    "PERMISSION_DENIED": (403, "permission"),
    "NOT_FOUND": (404, "model_not_found"),
    "ABORTED": (409, "provider_error"),
    "RESOURCE_EXHAUSTED": (429, "rate_limited"),
    "CANCELLED": (499, "provider_error"),
    "UNKNOWN": (500, "provider_error"),
    "INTERNAL": (500, "provider_error"),
    "UNAVAILABLE": (503, "overloaded"),
    "DEADLINE_EXCEEDED": (504, "provider_timeout"),
}
_BAD_KEY = frozenset({"API_KEY_INVALID", "API_KEY_EXPIRED"})
_WORDS: tuple[tuple[re.Pattern[str], ErrorCode], ...] = (
    (
        re.compile(r"token count.*exceeds the maximum number of tokens", re.IGNORECASE),
        "context_overflow",
    ),
    (re.compile(r"API key (not valid|expired)", re.IGNORECASE), "authentication"),
    (re.compile(r"billing|prepay|credits? (is|are) depleted", re.IGNORECASE), "billing"),
    (re.compile(r"request payload size exceeds", re.IGNORECASE), "too_large"),
)
_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")


def read_refusal(status: int | None, body: VendorObject) -> Refusal:
    """Read an error; ``status`` is None for one inside an answer that began with 200."""
    error = as_object(body.get("error"))
    implied, code = _STATUSES.get(as_text(error.get("status")), (500, None))
    sentence = as_text(error.get("message")) or as_text(body.get("error"))
    details = [as_object(item) for item in as_list(error.get("details"))]
    better = _better_code(code, sentence, details)
    return Refusal(
        code=better or code,
        sentence=sentence,
        status=status or _http_status(error) or implied,
        retryable=False if better else None,
        retry_after_ms=_wait_ms(details),
    )


def _better_code(
    code: ErrorCode | None, sentence: str, details: list[VendorObject]
) -> ErrorCode | None:
    """Return a code for an error that retries cannot cure, where its status does not tell."""
    if any(as_text(detail.get("reason")) in _BAD_KEY for detail in details):
        return "authentication"
    if code == "rate_limited":
        return "quota_exhausted" if any("PerDay" in name for name in _quotas(details)) else None
    if code not in {"bad_request_upstream", "permission"}:
        return None
    return next((found for words, found in _WORDS if words.search(sentence)), None)


def _quotas(details: list[VendorObject]) -> Iterator[str]:
    for detail in details:
        for violation in as_list(detail.get("violations")):
            yield as_text(as_object(violation).get("quotaId"))


def _wait_ms(details: list[VendorObject]) -> int | None:
    """Return the wait of a ``RetryInfo``, ``"34.4s"`` for instance."""
    for detail in details:
        found = _DELAY.fullmatch(as_text(detail.get("retryDelay")))
        if found:
            return round(float(found.group(1)) * 1000)
    return None


def _http_status(error: VendorObject) -> int | None:
    code = as_count(error.get("code"))
    return code if code is not None and 400 <= code < 600 else None

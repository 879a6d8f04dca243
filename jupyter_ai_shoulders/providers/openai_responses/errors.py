"""Reads errors of the Responses API: bodies, both kinds of error events, failed responses.

The error object is that of Chat Completions, with more codes.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.providers.http.error_mapping import Refusal
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal as read_openai_refusal
from jupyter_ai_shoulders.providers.openai_responses.encode import Extra
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_object, as_text
from jupyter_ai_shoulders.wire.errors import ErrorCode

_CODES: Mapping[str, tuple[int, ErrorCode]] = {
    "bio_policy": (400, "content_filtered"),
    "cyber_policy": (400, "content_filtered"),
    "misalignment_policy_violation": (400, "content_filtered"),
    "image_content_policy_violation": (400, "content_filtered"),
    "image_too_large": (413, "too_large"),
    "image_file_too_large": (413, "too_large"),
    "data_residency_mismatch": (403, "permission"),
}
_IMAGE_WORDS = ("image", "base64")
"""Any other code with one of these words is about an unreadable image, which no retry cures."""


def read_refusal(status: int | None, body: VendorObject) -> Refusal:
    """Read an error; ``status`` is None for one inside an answer that began with 200."""
    error = error_of(body)
    code = as_text(error.get("code"))
    implied, found = _CODES.get(code, (400, None))
    if found is None and not any(word in code for word in _IMAGE_WORDS):
        return read_openai_refusal(status, {"error": error})
    return Refusal(
        code=found or "bad_request_upstream",
        sentence=as_text(error.get("message")),
        status=status or implied,
        retryable=False,
    )


def refused_extras(body: VendorObject) -> frozenset[Extra]:
    """Return the extras that this account or model was refused, to be left out of the next request.

    Encrypted reasoning of another organisation or model; summaries, which require a verified
    account.
    """
    error = error_of(body)
    if as_text(error.get("code")) == "invalid_encrypted_content":
        return frozenset({"reasoning_items"})
    if as_text(error.get("param")) == "reasoning.summary":
        return frozenset({"reasoning_summary"})
    return frozenset()


def error_of(body: VendorObject) -> VendorObject:
    """Return the error object of a body, an error event or a failed response."""
    failed = as_object(as_object(body.get("response")).get("error"))
    nested = as_object(body.get("error"))
    flat = {"code": body.get("code"), "message": body.get("message"), "param": body.get("param")}
    return failed or nested or flat

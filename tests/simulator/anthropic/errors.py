"""Error bodies of the Messages API."""

from __future__ import annotations

import json
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure

TYPES: dict[int, tuple[str, str]] = {
    400: ("invalid_request_error", "The request was invalid."),
    401: ("authentication_error", "invalid x-api-key"),
    402: ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    403: ("permission_error", "Your API key does not have permission to use this resource."),
    404: ("not_found_error", "Not found"),
    409: ("conflict_error", "Conflict"),
    413: ("request_too_large", "Request exceeds the maximum allowed number of bytes."),
    429: ("rate_limit_error", "This request would exceed your rate limit."),
    500: ("api_error", "Internal server error"),
    504: ("timeout_error", "The request timed out."),
    529: ("overloaded_error", "Overloaded"),
}

Json = dict[str, Any]


def error_body(kind: str, message: str, request_id: str, code: str | None = None) -> Json:
    """Return an error body."""
    error: Json = {"type": kind, "message": message}
    if code is not None:
        error["details"] = {"error_code": code}
    return {"type": "error", "error": error, "request_id": request_id}


def refusal_body(refused: RequestRefused, request_id: str) -> Json:
    """Return the body of a refused request."""
    return error_body(refused.type, refused.message, request_id)


def failure_body(failure: Failure, request_id: str) -> Json:
    """Return the body of a scripted failure."""
    kind, message = TYPES.get(failure.status, TYPES[500])
    return error_body(failure.type or kind, failure.message or message, request_id, failure.code)


def failure_event(failure: Failure) -> SseEvent:
    """Return the event of a failure inside a stream."""
    kind, message = TYPES.get(failure.status, TYPES[500])
    error = {"type": failure.type or kind, "message": failure.message or message}
    return SseEvent(json.dumps({"type": "error", "error": error}), "error")

"""Error bodies of Chat Completions: OpenAI's, vLLM's and Mistral's."""

from __future__ import annotations

import json
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure

TYPES: dict[int, tuple[str, str | None, str]] = {
    400: ("invalid_request_error", None, "The request was invalid."),
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    402: ("invalid_request_error", "insufficient_credits", "Insufficient credits."),
    403: ("permission_error", None, "You do not have access to this resource."),
    404: ("invalid_request_error", "model_not_found", "The model does not exist."),
    429: ("requests", "rate_limit_exceeded", "Rate limit reached. Please try again later."),
    500: ("server_error", None, "The server had an error while processing your request."),
    503: ("server_error", None, "The server is overloaded. Please try again later."),
}

Json = dict[str, Any]


def error_body(kind: str, message: str, param: str | None, code: str | int | None) -> Json:
    """Return an error body."""
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def refusal_body(refused: RequestRefused) -> Json:
    """Return the body of a refused request; 422 is Mistral's own form."""
    if refused.status == 422:
        location = ["body", *(refused.param or "").split(".")]
        return {
            "object": "error",
            "message": {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": location,
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
    return error_body(refused.type, refused.message, refused.param, refused.code)


def failure_body(failure: Failure) -> Json:
    """Return the body of a scripted failure."""
    kind, code, message = TYPES.get(failure.status, TYPES[500])
    return error_body(failure.type or kind, failure.message or message, None, failure.code or code)


def failure_event(failure: Failure) -> SseEvent:
    """Return the event of a failure inside a stream: an error object where a chunk was due."""
    return SseEvent(json.dumps(failure_body(failure)))

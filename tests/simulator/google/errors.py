"""Google's error bodies, and its errors inside a stream."""

from __future__ import annotations

import json
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure

Json = dict[str, Any]

TYPES = "type.googleapis.com/google.rpc"
STATUSES: dict[int, tuple[str, str]] = {
    200: ("INTERNAL", "An internal error has occurred."),
    400: ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    401: ("UNAUTHENTICATED", "Request had invalid authentication credentials."),
    403: ("PERMISSION_DENIED", "The caller does not have permission"),
    404: ("NOT_FOUND", "Requested entity was not found."),
    409: ("ABORTED", "The operation was aborted."),
    429: ("RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
    499: ("CANCELLED", "The operation was cancelled."),
    500: ("INTERNAL", "An internal error has occurred."),
    503: ("UNAVAILABLE", "The model is overloaded. Please try again later."),
    504: ("DEADLINE_EXCEEDED", "Deadline expired before operation could complete."),
}


def refusal_body(refused: RequestRefused) -> Json:
    """Return the body of a refused request; ``code`` is the reason of an ``ErrorInfo``."""
    status = refused.type if refused.type.isupper() else STATUSES[refused.status][0]
    details: list[Json] = []
    if refused.code is not None:
        info = {"reason": refused.code, "domain": "googleapis.com"}
        details.append({"@type": f"{TYPES}.ErrorInfo", **info})
    return error_body(refused.status, status, refused.message, details)


def failure_body(failure: Failure) -> Json:
    """Return the body of a scripted failure.

    ``code`` is a quota's id, ``retry-delay`` among its headers the delay of a ``RetryInfo``.
    """
    status, message = STATUSES.get(failure.status, STATUSES[500])
    details: list[Json] = []
    if failure.code is not None:
        violation = {"quotaId": failure.code}
        details.append({"@type": f"{TYPES}.QuotaFailure", "violations": [violation]})
    if "retry-delay" in failure.headers:
        delay = failure.headers["retry-delay"]
        details.append({"@type": f"{TYPES}.RetryInfo", "retryDelay": delay})
    message = failure.message or message
    return error_body(failure.status, failure.type or status, message, details)


def failure_event(failure: Failure) -> SseEvent:
    """Return a failure inside a stream, in one of the ways the service says it.

    ``nested``: an event; ``flat``: bare JSON over several lines; ``failed``: the same in a list.
    """
    body = failure_body(failure)
    match failure.shape:
        case "nested":
            return SseEvent(json.dumps(body))
        case "flat":
            return SseEvent(json.dumps(body, indent=2), bare=True)
        case "failed":
            return SseEvent(json.dumps([body], indent=2), bare=True)


def error_body(code: int, status: str, message: str, details: list[Json]) -> Json:
    """Return an error."""
    error: Json = {"code": code, "message": message, "status": status}
    return {"error": error | ({"details": details} if details else {})}

"""Errors in the form of Google's API: of a call, and of an invalid body."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import ErrorDetails

from jupyter_ai_shoulders.proxy.error_mapping import QUOTA_CODES, error_message, quota_status_of
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.errors import ErrorInfo

_RPC = "type.googleapis.com/google.rpc"
_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    502: "UNAVAILABLE",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TOO_LONG = "The input token count exceeds the maximum number of tokens allowed"
"""The phrase that clients look for."""
_PAYLOAD = "Invalid JSON payload received."
_NOT_PASSED_ON = "this proxy cannot pass it on to every provider."
_CAPITAL = re.compile("(?<=[a-z0-9])([A-Z])")


def refused(info: ErrorInfo, request_id: str) -> ErrorResponse:
    """Return the error as a response; this format has the request id in a header."""
    del request_id
    return ErrorResponse(quota_status_of(info), dump(error_body(info)))


def error_body(info: ErrorInfo) -> dict[str, Any]:
    """Return the error object, for a response or as a chunk of a stream."""
    status = quota_status_of(info)
    words = error_message(info)
    if info.code == "context_overflow":
        words = f"{_TOO_LONG}: {words}"
    return {
        "error": {
            "code": status,
            "message": words,
            "status": _STATUSES.get(status, "UNKNOWN"),
            "details": _details(info),
        }
    }


def _details(info: ErrorInfo) -> list[dict[str, Any]]:
    """Return our error code, and the details that the format has types for."""
    reason = {"reason": info.code.upper(), "domain": "shoulders"}
    details: list[dict[str, Any]] = [{"@type": f"{_RPC}.ErrorInfo", **reason}]
    param = (info.details or {}).get("param")
    if param:
        violation = {"field": param, "description": info.message}
        details.append({"@type": f"{_RPC}.BadRequest", "fieldViolations": [violation]})
    if info.code in QUOTA_CODES:
        # clients wait and retry unless a quota is a daily one
        quota = {"quotaId": "BudgetPerDay", "subject": info.code}
        details.append({"@type": f"{_RPC}.QuotaFailure", "violations": [quota]})
    return details


def describe_validation_error(problem: ErrorDetails, _: bytes) -> tuple[str, str]:
    """Return the path of an invalid field, and a sentence about it."""
    path = _path(problem["loc"])
    match problem["type"]:
        case "extra_forbidden":
            *parents, name = problem["loc"]
            where = f" at '{_path(parents)}'" if parents else ""
            return path, f'{_PAYLOAD} Unknown name "{name}"{where}: Cannot find field.'
        case "json_invalid":
            return path, f"{_PAYLOAD} {problem['msg'].removeprefix('Invalid JSON: ')}."
        case "missing":
            return path, f"* GenerateContentRequest.{path}: {path} is not specified"
        case "none_required":
            return path, f"'{path}' is not supported: {_NOT_PASSED_ON}"
        case _:
            return path, f"Invalid value at '{path}': {problem['msg']}."


def _path(location: Sequence[int | str]) -> str:
    """Return a path in Google's notation: ``contents[0].parts[1].inline_data``."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{_snake(step)}" for step in location)
    return "".join(steps).removeprefix(".")


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda found: f"_{found.group().lower()}", name)

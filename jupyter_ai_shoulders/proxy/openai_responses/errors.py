"""Errors of the Responses format: of a response that failed midway, and of an invalid body.

All other errors are those of Chat Completions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from pydantic_core import ErrorDetails, from_json

from jupyter_ai_shoulders.proxy.error_mapping import error_message, status_of
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo

_CODES: Mapping[ErrorCode, str] = {
    "rate_limited": "rate_limit_exceeded",
    "quota_exhausted": "rate_limit_exceeded",
    "billing": "rate_limit_exceeded",
    "budget_exhausted": "rate_limit_exceeded",
}


def response_error(info: ErrorInfo) -> dict[str, str]:
    """Return the error of a failed response; the format has a closed set of codes."""
    other = "server_error" if status_of(info) >= 500 else "invalid_prompt"
    return {"code": _CODES.get(info.code, other), "message": error_message(info)}


def describe_field_error(item: ErrorDetails, raw: bytes) -> tuple[str, str]:
    """Return the path of an invalid field, and a sentence about it."""
    if item["type"] == "json_invalid":
        return "", "We could not parse the JSON body of your request."
    path = _path(item, from_json(raw))
    match item["type"]:
        case "missing":
            return path, f"Missing required parameter: '{path}'."
        case "extra_forbidden":
            return path, f"Unknown parameter: '{path}'."
        case "not_supported":
            return path, f"Unsupported parameter: '{path}'. {item['msg']}"
        case _:
            return path, f"Invalid '{path}': {item['msg']}."


def _path(item: ErrorDetails, body: Json) -> str:
    """Return the path of a field, as in ``input[0].content``; steps that name a union member are
    skipped.
    """
    path, value = "", body
    for step in item["loc"]:
        if isinstance(value, list) and isinstance(step, int):
            path, value = f"{path}[{step}]", cast("list[Json]", value)[step]
        elif isinstance(value, dict) and step in value:
            path, value = _dotted(path, step), cast("dict[Any, Json]", value)[step]
    return _dotted(path, item["loc"][-1]) if item["type"] == "missing" else path


def _dotted(path: str, step: int | str) -> str:
    return f"{path}.{step}" if path else str(step)

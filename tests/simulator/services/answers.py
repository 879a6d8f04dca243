"""What a simulated service answers, and the ways in which it can fail."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import parse_qsl

from tests.simulator.http import HttpRequest

KEY = "sim-service-key-0123456789"
"""The key that services accept."""

Fault = Literal[
    "reset",
    "cut",
    "slow",
    "busy",
    "busy_long",
    "error_500",
    "error_503",
    "html",
    "wrong_shape",
    "truncated_gzip",
]
"""``busy`` asks for a pause of a second, ``busy_long`` for ten minutes; ``slow`` never answers."""

FAULTS: tuple[Fault, ...] = (
    *("reset", "cut", "slow", "busy", "busy_long"),
    *("error_500", "error_503", "html", "wrong_shape", "truncated_gzip"),
)


@dataclass(frozen=True, slots=True)
class ServiceAnswer:
    """A whole answer."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


class Refused(Exception):
    """A request that the real service would refuse, with its answer."""

    def __init__(self, answer: ServiceAnswer) -> None:
        super().__init__(answer.body.decode())
        self.answer = answer


def json_answer(
    body: Any, status: int = 200, content_type: str = "application/json"
) -> ServiceAnswer:
    """Return an answer with this JSON."""
    return ServiceAnswer(json.dumps(body).encode(), status, {"Content-Type": content_type})


def parameters(request: HttpRequest, allowed: frozenset[str]) -> dict[str, str]:
    """Return the query. Raises ``ValueError`` for what the service does not document."""
    query = dict(parse_qsl(request.query, keep_blank_values=True))
    unknown = sorted(query.keys() - allowed)
    if unknown:
        raise ValueError(f"Unknown parameter: {', '.join(unknown)}")
    return query


def json_body(request: HttpRequest, allowed: frozenset[str]) -> dict[str, Any]:
    """Return the body of a POST. Raises ``ValueError``."""
    if request.method != "POST":
        raise ValueError("Use POST.")
    if request.headers.get("content-type") != "application/json":
        raise ValueError("Content-Type must be application/json")
    body = json.loads(request.body)
    if not isinstance(body, dict):
        raise ValueError("The body must be an object")  # noqa: TRY004 - one error for all
    fields = cast("dict[str, Any]", body)
    unknown = sorted(fields.keys() - allowed)
    if unknown:
        raise ValueError(f"Unknown field: {', '.join(unknown)}")
    return fields


_PACKED = gzip.compress(b'{"results": []}' * 50)
_FAILING: Mapping[Fault, ServiceAnswer] = {
    "busy": ServiceAnswer(b"slow down", 429, {"Retry-After": "1"}),
    "busy_long": ServiceAnswer(b"slow down", 429, {"Retry-After": "600"}),
    "error_500": ServiceAnswer(b"oops", 500),
    "error_503": ServiceAnswer(b"down for maintenance", 503),
    "html": ServiceAnswer(
        b"<!DOCTYPE html><title>Bad gateway</title><h1>Bad gateway</h1>",
        200,
        {"Content-Type": "text/html"},
    ),
    "wrong_shape": json_answer([{"unexpected": [1, 2, 3]}]),
    "truncated_gzip": ServiceAnswer(
        _PACKED[: len(_PACKED) // 2],
        200,
        {"Content-Encoding": "gzip", "Content-Type": "application/json"},
    ),
}


def failing_answer(fault: Fault) -> ServiceAnswer:
    """Return the answer of a fault that is an answer; the server plays the others."""
    return _FAILING[fault]

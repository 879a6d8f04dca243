"""Classifies a server's response by API. Pure; used by ``api_detection``.

Each API has its own path and form for its model list.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from jupyter_ai_shoulders.providers.vendor_json import as_list, as_object, as_text
from jupyter_ai_shoulders.wire.api.provider_setup import ApiKind

ResponseClass = Literal["speaks", "wants_key", "no"]
"""Whether a response has the form of an API, or is a refusal in its form."""
ORDER: tuple[ApiKind, ...] = ("ollama", "google", "anthropic", "openai_chat")
"""Preference where a server has several APIs: the most capable first."""
REFUSALS = frozenset({401, 403})
HTTP_OK = 200
HTTP_BAD = 400


@dataclass(frozen=True, slots=True)
class ProbeResponse:
    """The response of one address."""

    url: str
    status: int | None
    """None without a response."""
    body: bytes = b""
    failure: str = ""
    """Why there was no response."""


def classify_response(kind: ApiKind, reading: ProbeResponse) -> ResponseClass:
    """Return the class of a response for one API."""
    if reading.status is None:
        return "no"
    body = _parsed(reading.body)
    if reading.status == HTTP_OK:
        return "speaks" if _lists(kind, as_object(body)) else "no"
    return "wants_key" if _refuses(kind, reading.status, body) else "no"


def _lists(kind: ApiKind, body: Mapping[str, Any]) -> bool:
    """Return whether this is the API's model list."""
    models, data = body.get("models"), body.get("data")
    names = [as_text(as_object(item).get("name")) for item in as_list(models)]
    is_google = any(name.startswith("models/") for name in names)
    is_claude = "has_more" in body or any(
        as_object(item).get("type") == "model" for item in as_list(data)
    )
    match kind:
        case "ollama":
            return isinstance(models, list) and not is_google
        case "google":
            return is_google
        case "anthropic":
            return isinstance(data, list) and is_claude and body.get("object") != "list"
        case "openai_chat" | "openai_responses":
            return isinstance(data, list) and (not is_claude or body.get("object") == "list")


def _refuses(kind: ApiKind, status: int, body: Any) -> bool:
    """Return whether this is the API's refusal of a missing or invalid key."""
    if isinstance(body, list):  # Google's form of an error
        return kind == "google" and status in REFUSALS | {HTTP_BAD}
    found = as_object(body)
    error = as_object(found.get("error"))
    is_claude = found.get("type") == "error" and "type" in error
    is_google = isinstance(error.get("status"), str)
    match kind:
        case "ollama":
            return False
        case "google":
            bad_key = status == HTTP_BAD and b"API_KEY" in json.dumps(found).encode()
            return is_google and (status in REFUSALS or bad_key)
        case "anthropic":
            return is_claude and status in REFUSALS
        case "openai_chat" | "openai_responses":
            return status in REFUSALS and bool(found) and not is_claude and not is_google


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None

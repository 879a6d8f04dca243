"""Issues and verifies thought signatures.

A signature identifies its model and part. Used by ``reply`` and ``turn_order``.
"""

from __future__ import annotations

import base64
import json
from typing import Any

from tests.simulator.google.schema import Part
from tests.simulator.signed_state import seal_content, unseal_content

DUMMY_WORD = "skip_thought_signature_validator"
DUMMIES = (
    base64.b64encode(DUMMY_WORD.encode()).decode(),
    DUMMY_WORD.replace("_", "/"),
)
"""Accepted for calls that Gemini did not make: as bytes, and as Gemini CLI 0.61 sends the word."""


def sign(model: str, part: dict[str, Any]) -> str:
    """Return the signature of a part as it is sent, without one."""
    return seal_content(content_of(model, part))


def is_signed_by(model: str, part: Part) -> bool:
    """Return whether the part's signature was made for it, by this model, or is the dummy."""
    # bytes in the JSON of a protocol buffer may be in either alphabet
    given = (part.thought_signature or "").replace("-", "+").replace("_", "/")
    return given in DUMMIES or unseal_content(given) == content_of(model, plain(part))


def plain(part: Part) -> dict[str, Any]:
    """Return a part as ``sign`` took it; ids of calls do not matter."""
    if part.function_call is not None:
        call = part.function_call
        return {"functionCall": {"name": call.name, "args": call.args or {}}}
    return {"text": part.text or ""} | ({"thought": True} if part.thought else {})


def content_of(model: str, part: dict[str, Any]) -> bytes:
    """Return what is sealed."""
    return json.dumps([model, part], sort_keys=True).encode()

"""Issues and verifies the signatures of thinking blocks.

A signature contains the model, text and preceding conversation under a keyed hash, so the simulator
stores nothing. Used by ``reply`` (to sign) and ``thinking_checks`` (to verify).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, JsonValue

from tests.simulator.anthropic.merged_turns import MergedTurn, turns_of
from tests.simulator.anthropic.schema import CountTokensBody
from tests.simulator.signed_state import seal_content, unseal_content

UNBOUND = ("thinking", "redacted_thinking")


class Seal(BaseModel):
    """What a signature says: fingerprints of the block and of the conversation before it."""

    model_config = ConfigDict(frozen=True)
    model: str
    text: str
    system: str
    tools: str
    messages: str


def seal(body: CountTokensBody, text: str, before: Sequence[MergedTurn] | None = None) -> Seal:
    """Return the seal of a thinking block that follows ``before`` (by default all messages)."""
    earlier = turns_of(body.messages) if before is None else before
    return Seal(
        model=body.model,
        text=fingerprint(text),
        system=fingerprint(system_text(body)),
        tools=fingerprint([dump(tool) for tool in body.tools or []]),
        messages=fingerprint([plain_turn(turn) for turn in earlier]),
    )


def sign(made: Seal) -> str:
    """Return the seal as a signature."""
    return seal_content(made.model_dump_json().encode())


def unseal(signature: str) -> Seal | None:
    """Return what a signature says, or None when it was not made here."""
    content = unseal_content(signature)
    return None if content is None else Seal.model_validate_json(content)


def system_text(body: CountTokensBody) -> str:
    """Return the system prompt as one text; breakpoints and blocks do not matter."""
    if isinstance(body.system, list):
        return "\n".join(block.text for block in body.system)
    return body.system or ""


def plain_turn(turn: MergedTurn) -> JsonValue:
    """Return a turn without breakpoints and without its own thinking, which may be left out."""
    return [
        turn.role,
        *(dump(placed.block) for placed in turn.blocks if placed.block.type not in UNBOUND),
    ]


def dump(model: BaseModel) -> JsonValue:
    """Return a block as JSON without cache breakpoints, at any depth."""
    return without_breakpoints(model.model_dump(mode="json", exclude_none=True))


def without_breakpoints(value: JsonValue) -> JsonValue:
    """Return the value without ``cache_control``."""
    if isinstance(value, dict):
        return {
            key: without_breakpoints(item) for key, item in value.items() if key != "cache_control"
        }
    if isinstance(value, list):
        return [without_breakpoints(item) for item in value]
    return value


def fingerprint(value: JsonValue) -> str:
    """Return a short hash of a JSON value."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]

"""References of an event to stored content: by its fields, not by its text."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.storage.blob_access import referenced_blobs
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import event_adapter

HASH = "0123456789abcdef" * 4
CALL: JsonObject = {
    "type": "tool-call",
    "call_id": "c",
    "tool": "read_output",
    "raw": None,
    "invalid": None,
    "risk": "read",
    "external": False,
    "title": "Read on",
    "target": None,
}
RESULT: JsonObject = {
    "type": "tool-result",
    "call_id": "c",
    "tool": "read_output",
    "status": "ok",
    "content": [{"type": "text", "text": HASH}],
    "duration_ms": 1,
}


def named(event: JsonObject) -> list[str]:
    return list(referenced_blobs(event_adapter().validate_python(event)))


@pytest.mark.parametrize(
    "event",
    [
        {**CALL, "arguments": {"handle": HASH, "blob": HASH}},
        {"type": "message-add", "message_id": "m", "text": HASH},
        {
            **RESULT,
            "result": {"ok": True, "kind": "text", "data": {"handle": HASH, "blob": HASH}},
        },
        {
            "type": "message-add",
            "message_id": "m",
            "text": "Look",
            "attachments": [
                {
                    "kind": "image",
                    "name": "a.png",
                    "media_type": "image/png",
                    "data": None,
                    "blob": HASH,
                }
            ],
        },
    ],
    ids=["arguments", "a message", "the data of a result", "a picture of a message"],
)
def test_a_hash_that_somebody_wrote_names_nothing(event: JsonObject) -> None:
    assert named(event) == []


@pytest.mark.parametrize(
    "event",
    [
        {"type": "context-add", "role": "meta", "source": "x", "blob": HASH},
        {**RESULT, "result": {"ok": True, "kind": "text", "data": None}, "handle": HASH},
    ],
    ids=["context", "a result"],
)
def test_a_field_made_for_a_hash_names_it(event: JsonObject) -> None:
    assert named(event) == [HASH]

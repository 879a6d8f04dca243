"""What ``tests.bench.load_bounds`` sends to a server: bodies, frames and configuration files."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Mapping

EMPTY: dict[str, int] = {}


def encoded(value: object) -> bytes:
    """Return the value as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def many_keys(count: int) -> dict[str, int]:
    """Return an object of which nobody knows a key."""
    return {f"k{i:06d}": i for i in range(count)}


def _cell(number: int) -> dict[str, object]:
    return {
        "id": f"cell-{number}",
        "cell_type": "code",
        "version": "0" * 16,
        "source": "print(1)\n" * 5,
        "execution_count": None,
        "executed_version": None,
    }


def _with_picture(name: str, size: int) -> dict[str, object]:
    """Return a message with a picture of so many bytes in base64, in its letters' usual variety."""
    data = base64.b64encode(random.Random(size).randbytes(size * 3 // 4)).decode()
    picture = {"kind": "image", "media_type": "image/png", "data": data, "blob": None}
    return {"id": name, "text": "x", "attachments": [picture]}


UNKNOWN_KEYS = 180_000
BODIES: Mapping[str, Callable[[], bytes]] = {
    "3 MB of unknown keys": lambda: encoded(many_keys(UNKNOWN_KEYS)),
    "3 MB of nesting": lambda: b'{"text":' + b"[" * 3_000_000,
    "array of a million numbers": lambda: encoded({"text": [1] * 1_000_000}),
    "string of 15 MB": lambda: encoded({"id": "a", "text": "long " * 3_000_000}),
    "number of 3 MB": lambda: b'{"id":' + b"9" * 3_000_000 + b"}",
    "29 000 unknown keys": lambda: encoded(many_keys(29_000)),
    "broken at the end of 3 MB": lambda: encoded(many_keys(UNKNOWN_KEYS))[:-1],
}
"""Sent to every route below."""
ROUTES = (
    *(("POST", "sessions"), ("PATCH", "sessions/{session}"), ("PUT", "settings")),
    *(("POST", "sessions/{session}/messages"), ("POST", "sessions/{session}/preview")),
    *(("POST", "runs"), ("PUT", "tools/permissions"), ("POST", "completions"), ("PUT", "budget")),
    *(("POST", "anchors/adopt"), ("POST", "edits"), ("PUT", "providers/simulator/key")),
)
PROXIED = ("v1/messages", "v1/chat/completions", "v1/responses")
SPECIAL: tuple[tuple[str, str, str, Callable[[], bytes]], ...] = (
    (
        *("POST", "sessions/{session}/messages", "a million attachments that are none"),
        lambda: encoded({"id": "b", "text": "x", "attachments": [1] * 1_000_000}),
    ),
    (
        *("POST", "sessions/{session}/messages", "100 000 attachments without a path"),
        lambda: encoded({"id": "c", "text": "x", "attachments": [{"kind": "file"}] * 100_000}),
    ),
    (
        *("POST", "sessions/{session}/messages", "20 000 attachments"),
        lambda: encoded(
            {"id": "d", "text": "x", "attachments": [{"kind": "file", "path": "x"}] * 20_000}
        ),
    ),
    (
        *("POST", "sessions/{session}/messages", "message of 900 KB"),
        lambda: encoded({"id": "e", "text": "long " * 180_000}),
    ),
    (
        *("POST", "sessions/{session}/messages", "message of 900 KB of lines"),
        lambda: encoded({"id": "f", "text": "é,\n" * 300_000}),
    ),
    (
        *("POST", "sessions/{session}/messages", "picture of 20 MB"),
        lambda: encoded(_with_picture("g", 20 << 20)),
    ),
    (
        *("POST", "sessions/{session}/messages", "picture of 5 MB"),
        lambda: encoded(_with_picture("h", 5 << 20)),
    ),
    (
        *("POST", "sessions/{session}/messages", "pictures of 5.9 MB"),
        lambda: encoded(_with_picture("i", 5_900_000)),
    ),
    (
        *("POST", "proxy:v1/messages", "49 000 unknown keys in a message"),
        lambda: encoded({"model": "simulated", "max_tokens": 10, "messages": [many_keys(49_000)]}),
    ),
    (
        *("POST", "proxy:v1/messages", "24 000 empty messages"),
        lambda: encoded({"model": "simulated", "max_tokens": 10, "messages": [EMPTY] * 24_000}),
    ),
    (
        *("PUT", "tools/permissions", "2 000 rules"),
        lambda: encoded(
            {
                "disabled": [],
                "rules": [{"action": "ask", "tool": "read_file"}] * 2_000,
                "disable_external": False,
            }
        ),
    ),
    (
        *("PUT", "tools/permissions", "300 000 rules"),
        lambda: encoded(
            {"disabled": [], "rules": [{"action": "ask", "tool": "read_file"}] * 20_000}
        ),
    ),
    (
        *("POST", "proxy:v1/messages", "conversation of 12 MB"),
        lambda: encoded(
            {
                "model": "simulated",
                "max_tokens": 10,
                "messages": [
                    {"role": ("user", "assistant")[i % 2], "content": "long " * 800}
                    for i in range(3001)
                ],
            }
        ),
    ),
    (
        *("POST", "proxy:v1/messages", "100 000 empty messages"),
        lambda: encoded({"model": "simulated", "max_tokens": 10, "messages": [EMPTY] * 100_000}),
    ),
)
FRAMES: Mapping[str, Callable[[], bytes]] = {
    "3 MB of unknown keys": lambda: encoded({"type": "subscribe", **many_keys(UNKNOWN_KEYS)}),
    "3 MB of nesting": lambda: b'{"type":"subscribe","after":' + b"[" * 3_000_000,
    "a million numbers as cells": lambda: encoded(
        {"type": "document-open", "cells": [1] * 1_000_000}
    ),
    "string of 15 MB": lambda: encoded({"type": "text-content", "text": "long " * 3_000_000}),
    "notebook of 10 000 cells": lambda: encoded(
        {
            "type": "document-open",
            "path": "a.ipynb",
            "claim_epoch": 1,
            "dirty": False,
            "saved_at": None,
            "kernel_id": None,
            "cells": [_cell(i) for i in range(10_000)],
        }
    ),
    "290 000 numbers as cells": lambda: encoded({"type": "document-open", "cells": [1] * 290_000}),
    "number of 3 MB": lambda: b'{"type":"subscribe","after":' + b"9" * 3_000_000 + b"}",
}
FILES: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "models.json, 100 000 unknown keys": ("models", lambda: encoded(many_keys(100_000))),
    "settings.json, 100 000 unknown keys": ("settings", lambda: encoded(many_keys(100_000))),
    "tools.json, 100 000 unknown keys": ("tools", lambda: encoded(many_keys(100_000))),
    "skills.json, 100 000 unknown keys": ("skills", lambda: encoded(many_keys(100_000))),
    "models.json, 9 000 unknown keys": ("models", lambda: encoded(many_keys(9_000))),
    "tools.json, 3 000 rules": (
        "tools",
        lambda: encoded({"version": 1, "rules": [{"action": "ask", "tool": "x"}] * 3_000}),
    ),
    "models.json, 3 000 models": (
        "models",
        lambda: encoded(
            {"models": [{"id": f"m{i}", "provider": "anthropic"} for i in range(3_000)]}
        ),
    ),
    "skills.json, 9 000 skills": ("skills", lambda: encoded([f"s{i}" for i in range(9_000)])),
    "tools.json, 60 000 rules": (
        "tools",
        lambda: encoded({"version": 1, "rules": [{"action": "ask", "tool": "read_file"}] * 60_000}),
    ),
    "models.json, 60 000 models": (
        "models",
        lambda: encoded({"models": [{"id": f"m{i}", "provider": "p"} for i in range(60_000)]}),
    ),
    "models.json, 3 MB of nesting": ("models", lambda: b"[" * 3_000_000),
    "settings.json, 3 MB of nesting": ("settings", lambda: b'{"models":' + b"[" * 3_000_000),
    "tools.json, 3 MB of nesting": ("tools", lambda: b'{"rules":' + b"[" * 3_000_000),
}

"""Cuts long tool output for the model: head and tail, made once (chapter 05). Pure.

Used by ``engine.tool_calls`` for every result; the whole is kept as a blob.
"""

from __future__ import annotations

LINE_LIMIT = 2_000
BYTE_LIMIT = 50 * 1024
HEAD_SHARE = 0.75


def digest(text: str) -> str:
    """Return ``text`` when it is short enough, else its head and tail with a note between."""
    lines = text.splitlines(keepends=True)
    if len(lines) > LINE_LIMIT:
        head = int(LINE_LIMIT * HEAD_SHARE)
        left_out = len(lines) - LINE_LIMIT
        text = _joined(
            "".join(lines[:head]), f"{left_out} lines", "".join(lines[head - LINE_LIMIT :])
        )
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded) <= BYTE_LIMIT:
        return text
    head = int(BYTE_LIMIT * HEAD_SHARE)
    return _joined(
        encoded[:head].decode("utf-8", "ignore"),
        f"{len(encoded) - BYTE_LIMIT} bytes",
        encoded[head - BYTE_LIMIT :].decode("utf-8", "ignore"),
    )


def _joined(head: str, left_out: str, tail: str) -> str:
    return f"{head.rstrip()}\n[… {left_out} left out …]\n{tail}"

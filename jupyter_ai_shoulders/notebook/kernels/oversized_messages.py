"""Messages of kernels that are too large to be decoded; used by ``notebook.kernels.connection``.

Text of 200 MB costs a gigabyte on its way through JSON into a notebook. Instead of it comes a line
that says what it was.
"""

from __future__ import annotations

import json
from typing import Any

from jupyter_ai_shoulders.notebook.kernel_channels import (
    CONTENT,
    HEADER,
    PARENT_HEADER,
    Frames,
    Message,
)

CONTENT_LIMIT = 32_000_000
"""Bytes of one message's content. A page is sent it, too, and the notebook keeps it."""


def is_oversized(frames: Frames) -> bool:
    """Return whether the message is too large to be decoded."""
    return len(frames[CONTENT]) > CONTENT_LIMIT


def replacement_message(frames: Frames) -> Message:
    """Return a message of the same kind that says what is left out. Raises ``ValueError``."""
    header: Message = json.loads(frames[HEADER])
    size = len(frames[CONTENT]) / 1e6
    said = f"… an output of {size:.0f} MB is left out here: it was too large to keep …"
    return {
        "header": header,
        "msg_id": header["msg_id"],
        "msg_type": header["msg_type"],
        "parent_header": json.loads(frames[PARENT_HEADER]),
        "metadata": {},
        "content": _content(header["msg_type"], said),
        "buffers": [],
    }


def _content(kind: str, said: str) -> dict[str, Any]:
    if kind == "stream":
        return {"name": "stderr", "text": f"{said}\n"}
    if kind == "error":
        return {"ename": "Error", "evalue": said, "traceback": []}
    bundle = {"data": {"text/plain": said}, "metadata": {}, "transient": {}}
    return {**bundle, "execution_count": None, "code": said, "status": "ok"}

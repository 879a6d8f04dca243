"""Replaces kernel messages that are too large to decode; used by ``notebook.kernels.connection``.

Text of 200 MB would take a gigabyte of memory on its way through JSON into a notebook. A line that
describes it replaces it.
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
"""Bytes of one message's content, which is also sent to pages and stored in the notebook."""


def is_oversized(frames: Frames) -> bool:
    """Return whether the message is too large to be decoded."""
    return len(frames[CONTENT]) > CONTENT_LIMIT


def replacement_message(frames: Frames) -> Message:
    """Return a message of the same kind with a notice as content. Raises ``ValueError``."""
    header: Message = json.loads(frames[HEADER])
    size = len(frames[CONTENT]) / 1e6
    text = f"… an output of {size:.0f} MB is left out here: it was too large to keep …"
    return {
        "header": header,
        "msg_id": header["msg_id"],
        "msg_type": header["msg_type"],
        "parent_header": json.loads(frames[PARENT_HEADER]),
        "metadata": {},
        "content": _content(header["msg_type"], text),
        "buffers": [],
    }


def _content(kind: str, text: str) -> dict[str, Any]:
    if kind == "stream":
        return {"name": "stderr", "text": f"{text}\n"}
    if kind == "error":
        return {"ename": "Error", "evalue": text, "traceback": []}
    bundle = {"data": {"text/plain": text}, "metadata": {}, "transient": {}}
    return {**bundle, "execution_count": None, "code": text, "status": "ok"}

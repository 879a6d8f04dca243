"""Decodes kernel messages as jupyter_client does, but keeps dates as text and limits the size.

Used by ``notebook.kernels.connection``. jupyter_client parses the dates in both headers of each
message with dateutil, which takes two thirds of the decoding of a short one. Text of 200 MB would
take a gigabyte of memory on its way through JSON into a notebook, so a notice replaces it.
"""

from __future__ import annotations

import json
from hmac import compare_digest
from typing import Any, cast

from jupyter_client.adapter import adapt
from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.kernel_channels import (
    CONTENT,
    HEADER,
    PARENT_HEADER,
    Frames,
    Message,
)

CONTENT_LIMIT = 32_000_000
"""Bytes of one message's content, which is also sent to pages and stored in the notebook."""


class KernelSession(Session):
    """A session whose received headers keep their dates as text."""

    def deserialize(
        self, msg_list: list[Any], content: bool = True, copy: bool = True
    ) -> dict[str, Any]:
        """Return the message of these frames, after checking that its signature is valid and new.

        Raises ``ValueError`` (signature), ``TypeError`` (frames missing).
        """
        if not (content and copy):
            return super().deserialize(msg_list, content, copy)
        if len(msg_list) < 5:
            raise TypeError(f"a message of {len(msg_list)} frames is none: there must be five")
        signature, header, parent, metadata, body = msg_list[:5]
        if self.auth is not None:
            self._accept(signature, self.sign([header, parent, metadata, body]))
        head = cast("dict[str, Any]", self.unpack(header))
        return adapt(
            {
                "header": head,
                "msg_id": head["msg_id"],
                "msg_type": head["msg_type"],
                "parent_header": self.unpack(parent),
                "metadata": self.unpack(metadata),
                "content": self.unpack(body),
                "buffers": [memoryview(frame) for frame in msg_list[5:]],
            }
        )

    def _accept(self, signature: bytes, right: bytes) -> None:
        """Raise ``ValueError`` for a wrong signature or a repeated message."""
        if not signature:
            raise ValueError("a message of the kernel is not signed")
        if signature in self.digest_history:
            raise ValueError(f"a message of the kernel came twice: {signature!r}")
        self._add_digest(signature)
        if not compare_digest(signature, right):
            raise ValueError(f"a message of the kernel has a wrong signature: {signature!r}")


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

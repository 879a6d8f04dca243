"""Messages of a kernel websocket as frames, and back; used by ``server.kernels.gateway``.

Two formats: ``v1.kernel.websocket.jupyter.org`` where the gateway offers it, else the older JSON
(https://jupyter-server.readthedocs.io/en/latest/developers/websocket-protocols.html).
"""

from __future__ import annotations

import json
from typing import Any, cast

from jupyter_client.session import Session
from jupyter_server.services.kernels.connection import base

from jupyter_ai_shoulders.notebook.kernel_channels import Channel, Frames, Message

V1 = "v1.kernel.websocket.jupyter.org"
_base: Any = base  # untyped
_PARTS = ("header", "parent_header", "metadata", "content")


def encode(message: Message, channel: Channel, session: Session, protocol: str | None) -> bytes:
    """Return what goes over the socket; text for the JSON format, as bytes."""
    if protocol == V1:
        return _base.serialize_msg_to_ws_v1(message, channel, pack=session.pack)
    parts = {name: message[name] for name in _PARTS}
    return cast("bytes", session.pack({**parts, "channel": channel, "buffers": []}))


def decode(received: str | bytes, session: Session, protocol: str | None) -> tuple[str, Frames]:
    """Return the channel and the frames, with an empty signature. Raises ``ValueError``."""
    if protocol == V1 and isinstance(received, bytes):
        channel, frames = _base.deserialize_msg_from_ws_v1(received)
        return channel, [b"", *frames]
    message: Message
    if isinstance(received, bytes):
        message = _base.deserialize_binary_message(received)
    else:
        message = json.loads(received)
    frames = [cast("bytes", session.pack(message[name])) for name in _PARTS]
    return message["channel"], [b"", *frames, *message.get("buffers", ())]

"""Encodes messages for the Anthropic API; used by ``encode``.

The API requires tool results first, no empty text and restricted ids; thinking returns verbatim or
not at all.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any, assert_never

from jupyter_ai_shoulders.providers.formats.unsupported_content import EMPTY_RESULT
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.vendor_json import as_object, as_text
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ImagePart,
    ModelMessage,
    ReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)

_NOT_IN_IDS = re.compile(r"[^A-Za-z0-9_-]")

Block = dict[str, Any]


def loop_start(messages: Sequence[ModelMessage]) -> int:
    """Return the index after the last user message that is more than tool results."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, UserMessage) and not any(
            isinstance(part, ToolResultPart) for part in message.parts
        ):
            return index + 1
    return 0


class AnthropicHistory:
    """Encodes messages in order, with a digest of the prefix of each.

    Some models bind thinking to the exact prefix it was made after. Thinking that no longer follows
    its prefix is dropped, except in the running tool loop: the API requires it there, so it stays
    and ``stale_in_loop`` is set, which makes the request ask the server to drop it.
    """

    def __init__(self, endpoint: Endpoint, start: bytes, *, keep_stale: bool) -> None:
        """``start`` is the content before all messages: system prompt and tools.

        ``keep_stale``: whether the request can ask the server to drop stale thinking in the loop.
        """
        self._keep_stale = keep_stale
        self.stale_in_loop = False
        self._endpoint = endpoint
        self._bound = endpoint.model.thinking_support.bound
        self._digest = hashlib.sha256(start if self._bound else b"")

    def prefix(self) -> str | None:
        """Return the digest of everything encoded so far; None where nothing is bound to it."""
        return self._digest.hexdigest()[:16] if self._bound else None

    def encode(self, messages: Sequence[ModelMessage]) -> list[bytes]:
        """Return the messages that have content, as JSON."""
        encoded: list[bytes] = []
        start = loop_start(messages)
        for index, message in enumerate(messages):
            body = self._message(message, in_loop=index >= start)
            if body:
                encoded.append(body)
                if self._bound:
                    self._digest.update(body)
        return encoded

    def _message(self, message: ModelMessage, *, in_loop: bool) -> bytes:
        """Return the message as JSON, cached from an earlier request where possible."""
        keep = self._endpoint.encoded.get
        if isinstance(message, UserMessage):
            return keep(message, None, lambda: _encoded("user", _user_blocks(message)))
        stale = self._is_stale(message)
        replay = not stale or (in_loop and self._keep_stale)
        self.stale_in_loop = self.stale_in_loop or (stale and replay)
        return keep(message, replay, lambda: self._assistant(message, replay=replay))

    def _is_stale(self, message: AssistantMessage) -> bool:
        """Return whether the message's thinking is bound to a prefix other than the current one."""
        prefix = self.prefix() or ""
        return self._bound and any(
            isinstance(part, ReasoningPart)
            and part.state is not None
            and self._endpoint.owns(part.state)
            and as_text(as_object(part.state.data).get("prefix")) != prefix
            for part in message.parts
        )

    def _assistant(self, message: AssistantMessage, *, replay: bool) -> bytes:
        found = (self._assistant_block(part, replay=replay) for part in message.parts)
        blocks = [block for block in found if block is not None]
        visible = any(block["type"] in {"text", "tool_use"} for block in blocks)
        return _encoded("assistant", blocks if visible else [])

    def _assistant_block(self, part: AssistantPart, *, replay: bool) -> Block | None:
        match part:
            case TextPart():
                return {"type": "text", "text": part.text} if part.text.strip() else None
            case ReasoningPart():
                return self._thinking_block(part) if replay else None
            case ToolCallPart():
                return {
                    "type": "tool_use",
                    "id": vendor_call_id(part.call_id),
                    "name": part.tool,
                    "input": part.arguments,
                }
            case _:
                assert_never(part)

    def _thinking_block(self, part: ReasoningPart) -> Block | None:
        if part.state is None or not self._endpoint.owns(part.state):
            return None
        return as_object(as_object(part.state.data).get("block")) or None


def _encoded(role: str, blocks: list[Block]) -> bytes:
    return encode_json({"role": role, "content": blocks}) if blocks else b""


def _user_blocks(message: UserMessage) -> list[Block]:
    """Return tool results first, as the API requires, then the user's parts."""
    results = [_result(part) for part in message.parts if isinstance(part, ToolResultPart)]
    said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
    return results + _content(said)


def _result(part: ToolResultPart) -> Block:
    block: Block = {
        "type": "tool_result",
        "tool_use_id": vendor_call_id(part.call_id),
        "content": _content(part.content) or [{"type": "text", "text": EMPTY_RESULT}],
    }
    return block | ({"is_error": True} if part.is_error else {})


def _content(parts: Iterable[ResultContent]) -> list[Block]:
    return [
        _image(part) if isinstance(part, ImagePart) else {"type": "text", "text": part.text}
        for part in parts
        if isinstance(part, ImagePart) or part.text.strip()
    ]


def _image(part: ImagePart) -> Block:
    source = {"type": "base64", "media_type": part.media_type, "data": part.data}
    return {"type": "image", "source": source}


def vendor_call_id(call_id: CallId) -> str:
    """Return the id in the characters the API accepts; other vendors' ids may contain others."""
    clean = _NOT_IN_IDS.sub("_", call_id)
    if clean == call_id:
        return clean
    return f"{clean}_{hashlib.sha256(call_id.encode('utf-8', 'replace')).hexdigest()[:8]}"

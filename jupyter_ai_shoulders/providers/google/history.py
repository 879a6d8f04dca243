"""Encodes messages as ``contents``; used by ``encode``.

Thought signatures return in the part they came with. Calls made by other models carry a placeholder
that turns Gemini's validation off.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from typing import assert_never

from jupyter_ai_shoulders.providers.formats.unsupported_content import EMPTY_RESULT, NO_IMAGES
from jupyter_ai_shoulders.providers.google.function_names import function_name
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_object,
    as_text,
)
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

NO_SIGNATURE = base64.b64encode(b"skip_thought_signature_validator").decode()
"""The placeholder signature of a call that Gemini did not make."""

IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_IN_RESULTS = frozenset({"image/png", "image/jpeg", "image/webp"})

Part = VendorObject
_NUMBER = re.compile(r"gemini-(\d+)")


class GoogleHistory:
    """Encodes messages for one model."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._signed = _enforces_signatures(endpoint.model.model)

    def encode(self, messages: Iterable[ModelMessage]) -> list[bytes]:
        """Return the contents that have parts, as JSON, with commas between those of a message."""
        made = (self._cached(message) for message in messages)
        return [content for content in made if content]

    def _cached(self, message: ModelMessage) -> bytes:
        return self._endpoint.encoded.get(message, None, lambda: self._encode(message))

    def _encode(self, message: ModelMessage) -> bytes:
        made = self._user(message) if isinstance(message, UserMessage) else self._model(message)
        return b",".join(encode_json(content) for content in made)

    def _user(self, message: UserMessage) -> list[VendorObject]:
        """Return all results in one content, as the API requires, and the rest in another."""
        results = [part for part in message.parts if isinstance(part, ToolResultPart)]
        shown = [image for part in results for image in self._beside(part)]
        said = [part for part in message.parts if not isinstance(part, ToolResultPart)]
        parts = [part for item in (*shown, *said) for part in self._content(item)]
        return [
            *_content_of("user", [self._response(part) for part in results]),
            *_content_of("user", parts),
        ]

    def _model(self, message: AssistantMessage) -> list[VendorObject]:
        parts: list[Part] = []
        calls = 0
        for part in message.parts:
            parts += self._model_parts(part, first_call=not calls)
            calls += isinstance(part, ToolCallPart)
        return _content_of("model", parts)

    def _model_parts(self, part: AssistantPart, *, first_call: bool) -> list[Part]:
        signature = self._signature(part)
        match part:
            case TextPart():
                return _text(part.text, self._tail(part), signature)
            case ReasoningPart():
                return self._thought(part, signature)
            case ToolCallPart():
                if not signature and first_call and self._signed:
                    signature = NO_SIGNATURE
                return [_call(part) | _signed(signature)]
            case _:
                assert_never(part)

    def _thought(self, part: ReasoningPart, signature: str) -> list[Part]:
        """Return the signed end of a thought; unsigned text need not be sent back."""
        if not signature:
            return []
        text = part.text[len(part.text) - self._tail(part) :]
        thought = {"thought": True} if self._data(part).get("thought") is True else {}
        return [{"text": text} | thought | _signed(signature)]

    def _data(self, part: AssistantPart) -> VendorObject:
        owned = part.state is not None and self._endpoint.owns(part.state)
        return as_object(part.state.data) if owned and part.state is not None else {}

    def _signature(self, part: AssistantPart) -> str:
        return as_text(self._data(part).get("signature"))

    def _tail(self, part: AssistantPart) -> int:
        """Return how many characters at the end are signed."""
        return as_count(self._data(part).get("tail")) or 0

    def _response(self, part: ToolResultPart) -> Part:
        texts = [item.text for item in part.content if isinstance(item, TextPart)]
        said = "\n".join(text for text in texts if text.strip())
        response: VendorObject = {
            "id": part.call_id,
            "name": function_name(part.tool),
            "response": {"error" if part.is_error else "output": said or EMPTY_RESULT},
        }
        images = [_blob(item) for item in part.content if self._inside(item)]
        return {"functionResponse": response | ({"parts": images} if images else {})}

    def _inside(self, item: ResultContent) -> bool:
        """Return whether an image can be part of a result."""
        return (
            isinstance(item, ImagePart)
            and self._signed
            and self._endpoint.model.images
            and item.media_type in _IN_RESULTS
        )

    def _beside(self, part: ToolResultPart) -> list[ImagePart]:
        """Return the images of a result that must be sent after it, as the user's."""
        images = [item for item in part.content if isinstance(item, ImagePart)]
        return [item for item in images if not self._inside(item)]

    def _content(self, item: ResultContent) -> list[Part]:
        if isinstance(item, TextPart):
            return _text(item.text, 0, "")
        if self._endpoint.model.images and item.media_type in IMAGES:
            return [_blob(item)]
        return [{"text": NO_IMAGES}]


def _content_of(role: str, parts: Sequence[Part]) -> list[VendorObject]:
    return [{"role": role, "parts": list(parts)}] if parts else []


def _text(text: str, tail: int, signature: str) -> list[Part]:
    """Return a text, with its signed last ``tail`` characters as a separate part."""
    if not signature:
        return [{"text": text}] if text.strip() else []
    head = text[: len(text) - tail]
    before = [{"text": head}] if head else []
    return [*before, {"text": text[len(head) :]} | _signed(signature)]


def _signed(signature: str) -> Part:
    return {"thoughtSignature": signature} if signature else {}


def _call(part: ToolCallPart) -> Part:
    call = {"id": part.call_id, "name": function_name(part.tool), "args": part.arguments}
    return {"functionCall": call}


def _blob(item: ResultContent) -> Part:
    assert isinstance(item, ImagePart)
    return {"inlineData": {"mimeType": item.media_type, "data": item.data}}


def _enforces_signatures(model: str) -> bool:
    """Return whether calls must return their thought signature: from Gemini 3 on.

    Function results may contain images from the same generation on. A name without a number is a
    current model's.
    """
    found = _NUMBER.search(model)
    return found is None or int(found.group(1)) >= 3

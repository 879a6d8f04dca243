"""Decodes ``contents`` into messages. Pure; used by ``decode``.

Callers return a streamed answer as they stored it: often one content per chunk, with a signature in
an empty part after its text. So adjacent contents of one role are read as one turn.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.proxy.google.schema import (
    Blob,
    Content,
    FunctionCall,
    FunctionResponse,
    Part,
)
from jupyter_ai_shoulders.proxy.google.signatures import decode_signature
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.base import JsonObject
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

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_DATA = ("text", "inline_data", "function_call", "function_response")


def messages(contents: Sequence[Content], sealer: StateSealer) -> Iterator[ModelMessage]:
    """Yield the messages. Raises ``InvalidRequest``."""
    if contents[0].role == "model":
        raise InvalidRequest("Please ensure that the first content is a user turn.")
    calls: list[ToolCallPart] = []
    count = 0
    for is_model, turn in groupby(contents, key=lambda content: content.role == "model"):
        parts = [part for content in turn for part in content.parts]
        if is_model:
            made = _ModelTurn(sealer, count).read(parts)
            calls = [part for part in made if isinstance(part, ToolCallPart)]
            count += len(calls)
            if made:
                yield AssistantMessage(parts=tuple(made))
        else:
            yield _user(parts, calls)
            calls = []


class _ModelTurn:
    """Joins the pieces of texts and thoughts; a signature ends a piece."""

    def __init__(self, sealer: StateSealer, calls_before: int) -> None:
        self._sealer = sealer
        self._calls = calls_before
        self._pieces: list[str] = []
        self._thought = False
        self._made: list[AssistantPart] = []

    def read(self, parts: Iterable[Part]) -> list[AssistantPart]:
        """Return the parts of the message, without empty texts."""
        for part in parts:
            _check_data(part)
            if part.function_call is not None:
                self._end(None)
                self._made.append(self._call(part.function_call, part.thought_signature))
            elif part.text is not None:
                self._text(part.text, part.thought_signature, thought=part.thought is True)
            else:
                raise InvalidRequest("Model turns can hold text and function calls only.")
        self._end(None)
        return self._made

    def _text(self, text: str, signature: str | None, *, thought: bool) -> None:
        if thought != self._thought:
            self._end(None)
        self._thought = thought
        self._pieces.append(text)
        if signature:
            self._end(decode_signature(self._sealer, signature))

    def _end(self, sealed: ReasoningPart | None) -> None:
        text = "".join(self._pieces)
        self._pieces = []
        if self._thought and sealed is not None:
            self._made.append(sealed)
        elif text and self._thought:
            self._made.append(ReasoningPart(text=text))
        elif text or sealed:
            self._made.append(TextPart(text=text, state=sealed.state if sealed else None))

    def _call(self, call: FunctionCall, signature: str | None) -> ToolCallPart:
        """Return a call; without an id it is numbered in the conversation."""
        sealed = decode_signature(self._sealer, signature)
        self._calls += 1
        return ToolCallPart(
            call_id=CallId(call.id or f"call_{self._calls}"),
            tool=call.name,
            arguments=call.args or {},
            state=None if sealed is None else sealed.state,
        )


def _user(parts: Iterable[Part], calls: Sequence[ToolCallPart]) -> UserMessage:
    """Return a user message with results first, as every vendor requires."""
    waiting = list(calls)
    results: list[ToolResultPart] = []
    said: list[ResultContent] = []
    for part in parts:
        _check_data(part)
        if part.function_response is not None:
            results.append(_result(part.function_response, waiting))
        elif part.text is not None:
            said.append(TextPart(text=part.text))
        elif part.inline_data is not None:
            said.append(_blob(part.inline_data))
        else:
            raise InvalidRequest("Function calls can only be in model turns.")
    return UserMessage(parts=(*results, *said))


def _result(response: FunctionResponse, waiting: list[ToolCallPart]) -> ToolResultPart:
    """Return the result of a call, matched by its id or, where that is missing, by its name."""
    found = [call for call in waiting if call.call_id == response.id]
    found = found or [call for call in waiting if call.tool == response.name]
    if not found:
        raise InvalidRequest(
            f"The function response of {response.name!r} does not come immediately after a content "
            "with that function call, or comes twice."
        )
    waiting.remove(found[0])
    images = [_blob(item.inline_data) for item in response.parts or ()]
    text, is_error = _said(response.response)
    return ToolResultPart(
        call_id=found[0].call_id,
        tool=response.name,
        content=(TextPart(text=text), *images),
        is_error=is_error,
    )


def _said(response: JsonObject) -> tuple[str, bool]:
    """Return a result as text, and whether it is an error: ``output``, ``result`` or ``error``."""
    if len(response) == 1:
        [(name, value)] = response.items()
        if name in {"output", "result", "error"}:
            return value if isinstance(value, str) else _json(value), name == "error"
    return _json(response), False


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _blob(blob: Blob) -> ResultContent:
    """Return inline data as an image or text."""
    try:
        data = base64.urlsafe_b64decode(blob.data.replace("+", "-").replace("/", "_"))
    except (ValueError, binascii.Error) as error:
        raise InvalidRequest("Invalid value at 'inline_data.data': Base64 decoding failed.") from (
            error
        )
    if blob.mime_type in IMAGES:
        return ImagePart(media_type=blob.mime_type, data=base64.b64encode(data).decode())
    if blob.mime_type.startswith("text/"):
        return TextPart(text=data.decode("utf-8", "replace"))
    raise InvalidRequest(
        f"Unsupported MIME type: {blob.mime_type}. This proxy passes on text and images "
        f"({', '.join(sorted(IMAGES))})."
    )


def _check_data(part: Part) -> None:
    """Raise ``InvalidRequest`` unless the part has one kind of data."""
    given = [name for name in _DATA if getattr(part, name) is not None]
    if len(given) != 1:
        problem = "must have one initialized field" if not given else "is already set"
        raise InvalidRequest(f"* GenerateContentRequest.contents.parts: oneof 'data' {problem}")

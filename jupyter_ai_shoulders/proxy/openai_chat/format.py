"""Chat Completions behind the ``WireFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.openai_chat.decode import decode
from jupyter_ai_shoulders.proxy.openai_chat.errors import refused
from jupyter_ai_shoulders.proxy.openai_chat.response_body import completion, model_body
from jupyter_ai_shoulders.proxy.openai_chat.schema import ChatBody
from jupyter_ai_shoulders.proxy.openai_chat.stream import ChunkWriter
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.request_parsing import read
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo


class OpenAIFormat:
    """The errors and model lists that both of OpenAI's formats share."""

    def __init__(self, sealer: StateSealer, clock: Clock) -> None:
        self._sealer = sealer
        self._clock = clock

    def refused(self, info: ErrorInfo, request_id: str) -> ErrorResponse:
        """Return an error as a response."""
        return refused(info, request_id)

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models."""
        return dump({"object": "list", "data": [model_body(model) for model in models]})

    def model(self, model: ModelInfo) -> bytes:
        """Return one model."""
        return dump(model_body(model))

    def _now(self) -> int:
        return int(self._clock.now().timestamp())


class OpenAIChatFormat(OpenAIFormat):
    """``v1/chat/completions``."""

    def read(self, raw: bytes) -> ProxyRequest:
        """Decode a request. Raises ``InvalidRequest``."""
        return decode(read(ChatBody, raw), self._sealer)

    def writer(self, request: ProxyRequest, reply_id: str) -> ChunkWriter:
        """Return the writer of a streamed response."""
        return ChunkWriter(request, reply_id, self._now(), self._sealer)

    def body(self, request: ProxyRequest, reply_id: str, answer: ReplyAccumulator) -> bytes:
        """Return the complete response."""
        return dump(completion(request, reply_id, self._now(), answer, self._sealer))

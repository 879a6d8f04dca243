"""Anthropic Messages behind the ``WireFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_ai_shoulders.proxy.anthropic.decode import decode
from jupyter_ai_shoulders.proxy.anthropic.errors import refused
from jupyter_ai_shoulders.proxy.anthropic.response_body import message
from jupyter_ai_shoulders.proxy.anthropic.schema import CountBody, MessagesBody
from jupyter_ai_shoulders.proxy.anthropic.stream import MessagesWriter
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.request_parsing import read
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo

UNKNOWN_DATE = "1970-01-01T00:00:00Z"
"""The API's own value for a model with an unknown release date."""


class AnthropicFormat:
    """``v1/messages``; ``counting`` reads the body of ``v1/messages/count_tokens``."""

    def __init__(self, sealer: StateSealer, *, counting: bool = False) -> None:
        self._sealer = sealer
        self._body = CountBody if counting else MessagesBody

    def read(self, raw: bytes) -> ProxyRequest:
        """Decode a request. Raises ``InvalidRequest``."""
        return decode(read(self._body, raw), self._sealer)

    def writer(self, request: ProxyRequest, reply_id: str) -> MessagesWriter:
        """Return the writer of a streamed response."""
        return MessagesWriter(request, reply_id, self._sealer)

    def body(self, request: ProxyRequest, reply_id: str, answer: ReplyAccumulator) -> bytes:
        """Return the complete response."""
        return dump(message(request, reply_id, answer, self._sealer))

    def refused(self, info: ErrorInfo, request_id: str) -> ErrorResponse:
        """Return an error as a response."""
        return refused(info, request_id)

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models, all on one page."""
        data = [_model(model) for model in models]
        ends = {
            "first_id": data[0]["id"] if data else None,
            "last_id": data[-1]["id"] if data else None,
        }
        return dump({"data": data, **ends, "has_more": False})

    def model(self, model: ModelInfo) -> bytes:
        """Return one model."""
        return dump(_model(model))


def _model(model: ModelInfo) -> dict[str, Any]:
    return {
        "id": model.id,
        "type": "model",
        "display_name": model.name,
        "created_at": UNKNOWN_DATE,
        "lifecycle": "active",
        "max_input_tokens": model.context_window,
        "max_tokens": model.max_output,
    }

"""Google ``generateContent`` behind the ``WireFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.google.decode import decode, decode_count
from jupyter_ai_shoulders.proxy.google.errors import describe_validation_error, refused
from jupyter_ai_shoulders.proxy.google.response_body import response
from jupyter_ai_shoulders.proxy.google.schema import CountBody, GenerateBody
from jupyter_ai_shoulders.proxy.google.stream import ContentWriter
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.request_parsing import read
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.proxy.wire_format import ErrorResponse
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo

METHODS = ("generateContent", "streamGenerateContent", "countTokens")


class GoogleFormat:
    """One call: in this format the URL holds the model and the method.

    ``method`` is ``generateContent``, ``streamGenerateContent`` or ``countTokens``. ``events``
    selects server-sent events (``?alt=sse``) instead of a JSON array for a stream.
    """

    def __init__(
        self,
        sealer: StateSealer,
        model: str = "",
        method: str = "generateContent",
        *,
        events: bool = True,
    ) -> None:
        self._sealer = sealer
        self._model = model
        self._method = method
        self._events = events

    def read(self, raw: bytes) -> ProxyRequest:
        """Decode a request. Raises ``InvalidRequest``."""
        if self._method == "countTokens":
            return decode_count(
                self._model, read(CountBody, raw, describe_validation_error), self._sealer
            )
        stream = self._method == "streamGenerateContent"
        return decode(
            self._model,
            read(GenerateBody, raw, describe_validation_error),
            self._sealer,
            stream=stream,
        )

    def writer(self, request: ProxyRequest, reply_id: str) -> ContentWriter:
        """Return the writer of a streamed response."""
        return ContentWriter(request, reply_id, self._sealer, events=self._events)

    def body(self, request: ProxyRequest, reply_id: str, answer: ReplyAccumulator) -> bytes:
        """Return the complete response."""
        return dump(response(request, reply_id, answer, self._sealer))

    def refused(self, info: ErrorInfo, request_id: str) -> ErrorResponse:
        """Return an error as a response."""
        return refused(info, request_id)

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models, all on one page."""
        return dump({"models": [_model(model) for model in models]})

    def model(self, model: ModelInfo) -> bytes:
        """Return one model."""
        return dump(_model(model))


def _model(model: ModelInfo) -> dict[str, Any]:
    limits = {"inputTokenLimit": model.context_window, "outputTokenLimit": model.max_output}
    return {
        "name": f"models/{model.id}",
        "displayName": model.name,
        "description": f"{model.name} of {model.provider_name}",
        "supportedGenerationMethods": list(METHODS),
        "thinking": model.reasoning,
        **{name: limit for name, limit in limits.items() if limit is not None},
    }

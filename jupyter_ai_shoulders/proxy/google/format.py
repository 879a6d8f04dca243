"""Google ``generateContent`` behind the ``CallerFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jupyter_ai_shoulders.proxy.answer import Answer
from jupyter_ai_shoulders.proxy.asked import Asked
from jupyter_ai_shoulders.proxy.caller_format import Refused
from jupyter_ai_shoulders.proxy.event_text import dump
from jupyter_ai_shoulders.proxy.google.body import response
from jupyter_ai_shoulders.proxy.google.decode import decode, decode_count
from jupyter_ai_shoulders.proxy.google.errors import refused
from jupyter_ai_shoulders.proxy.google.schema import CountBody, GenerateBody
from jupyter_ai_shoulders.proxy.google.stream import ContentWriter
from jupyter_ai_shoulders.proxy.google.wording import wording
from jupyter_ai_shoulders.proxy.request_body import read
from jupyter_ai_shoulders.proxy.state_box import StateBox
from jupyter_ai_shoulders.wire.api import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo

METHODS = ("generateContent", "streamGenerateContent", "countTokens")


class GoogleFormat:
    """One call: here the model and the kind of answer are in the address, not in the body.

    ``method`` is one of ``generateContent``, ``streamGenerateContent`` and ``countTokens``;
    ``events``: a stream is one of events (``?alt=sse``), else an array.
    """

    def __init__(
        self,
        box: StateBox,
        model: str = "",
        method: str = "generateContent",
        *,
        events: bool = True,
    ) -> None:
        self._box = box
        self._model = model
        self._method = method
        self._events = events

    def read(self, raw: bytes) -> Asked:
        """Decode a request. Raises ``InvalidRequest``."""
        if self._method == "countTokens":
            return decode_count(self._model, read(CountBody, raw, wording), self._box)
        stream = self._method == "streamGenerateContent"
        return decode(self._model, read(GenerateBody, raw, wording), self._box, stream=stream)

    def writer(self, asked: Asked, reply_id: str) -> ContentWriter:
        """Return what writes the answer as a stream."""
        return ContentWriter(asked, reply_id, self._box, events=self._events)

    def body(self, asked: Asked, reply_id: str, answer: Answer) -> bytes:
        """Return the answer in one piece."""
        return dump(response(asked, reply_id, answer, self._box))

    def refused(self, info: ErrorInfo, request_id: str) -> Refused:
        """Return an error as an answer."""
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

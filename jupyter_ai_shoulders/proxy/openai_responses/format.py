"""Responses behind the ``CallerFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.proxy.answer import Answer
from jupyter_ai_shoulders.proxy.asked import Asked
from jupyter_ai_shoulders.proxy.caller_format import Refused
from jupyter_ai_shoulders.proxy.event_text import dump
from jupyter_ai_shoulders.proxy.openai_chat.body import model_body, model_list
from jupyter_ai_shoulders.proxy.openai_chat.errors import refused
from jupyter_ai_shoulders.proxy.openai_responses.body import response
from jupyter_ai_shoulders.proxy.openai_responses.decode import decode
from jupyter_ai_shoulders.proxy.openai_responses.places import explain
from jupyter_ai_shoulders.proxy.openai_responses.schema import CountBody, ResponsesBody
from jupyter_ai_shoulders.proxy.openai_responses.stream import ResponseWriter
from jupyter_ai_shoulders.proxy.request_body import read
from jupyter_ai_shoulders.proxy.state_box import StateBox
from jupyter_ai_shoulders.wire.api import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo


class OpenAIResponsesFormat:
    """``v1/responses``; ``counting`` reads the body of ``v1/responses/input_tokens``."""

    def __init__(self, box: StateBox, clock: Clock, *, counting: bool = False) -> None:
        self._box = box
        self._clock = clock
        self._counting = counting

    def read(self, raw: bytes) -> Asked:
        """Decode a request. Raises ``InvalidRequest``."""
        if self._counting:
            fields = dict(read(CountBody, raw, explain))
            return decode(ResponsesBody.model_construct(**fields), self._box)
        return decode(read(ResponsesBody, raw, explain), self._box)

    def writer(self, asked: Asked, reply_id: str) -> ResponseWriter:
        """Return what writes the answer as a stream."""
        return ResponseWriter(asked, reply_id, self._now(), self._box)

    def body(self, asked: Asked, reply_id: str, answer: Answer) -> bytes:
        """Return the answer in one piece."""
        return dump(response(asked, reply_id, self._now(), answer, self._box))

    def refused(self, info: ErrorInfo, request_id: str) -> Refused:
        """Return an error as an answer."""
        return refused(info, request_id)

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models."""
        return dump(model_list(models))

    def model(self, model: ModelInfo) -> bytes:
        """Return one model."""
        return dump(model_body(model))

    def _now(self) -> int:
        return int(self._clock.now().timestamp())

"""Responses behind the ``WireFormat`` port; made by ``server.proxy``."""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.proxy.event_encoding import dump
from jupyter_ai_shoulders.proxy.openai_chat.format import OpenAIFormat
from jupyter_ai_shoulders.proxy.openai_responses.decode import decode
from jupyter_ai_shoulders.proxy.openai_responses.errors import describe_field_error
from jupyter_ai_shoulders.proxy.openai_responses.response_body import response
from jupyter_ai_shoulders.proxy.openai_responses.schema import CountBody, ResponsesBody
from jupyter_ai_shoulders.proxy.openai_responses.stream import ResponseWriter
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.request_parsing import read
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer


class OpenAIResponsesFormat(OpenAIFormat):
    """``v1/responses``; ``counting`` reads the body of ``v1/responses/input_tokens``."""

    def __init__(self, sealer: StateSealer, clock: Clock, *, counting: bool = False) -> None:
        super().__init__(sealer, clock)
        self._counting = counting

    def read(self, raw: bytes) -> ProxyRequest:
        """Decode a request. Raises ``InvalidRequest``."""
        if self._counting:
            fields = dict(read(CountBody, raw, describe_field_error))
            return decode(ResponsesBody.model_construct(**fields), self._sealer)
        return decode(read(ResponsesBody, raw, describe_field_error), self._sealer)

    def writer(self, request: ProxyRequest, reply_id: str) -> ResponseWriter:
        """Return the writer of a streamed response."""
        return ResponseWriter(request, reply_id, self._now(), self._sealer)

    def body(self, request: ProxyRequest, reply_id: str, answer: ReplyAccumulator) -> bytes:
        """Return the complete response."""
        return dump(response(request, reply_id, self._now(), answer, self._sealer))

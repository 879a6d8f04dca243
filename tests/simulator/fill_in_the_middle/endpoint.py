"""``/v1/fim/completions`` (Mistral), ``/beta/completions`` (DeepSeek), ``/infill`` (llama.cpp).

The checks in order, then the reply. Called by ``server``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from tests.simulator.chaos_stream import SseEvent, interleave
from tests.simulator.chunking import Counter, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.fill_in_the_middle.reply import FillInReplyComposer, Style
from tests.simulator.fill_in_the_middle.schema import (
    DeepSeekBody,
    InfillBody,
    MistralBody,
)
from tests.simulator.http import HttpRequest
from tests.simulator.openai_chat import errors
from tests.simulator.openai_chat.endpoint import check_key
from tests.simulator.openai_validation_errors import parse, place
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest

Body = MistralBody | DeepSeekBody | InfillBody

STYLES: Mapping[str, Style] = {
    "/v1/fim/completions": "mistral",
    "/beta/completions": "deepseek",
    "/infill": "llamacpp",
}
MODELS: Mapping[Style, frozenset[str]] = {
    "mistral": frozenset({"codestral-latest", "mistral-code-fim-latest"}),
    "deepseek": frozenset({"deepseek-v4-flash", "deepseek-v4-pro"}),
    "llamacpp": frozenset(),
}
"""Models that fill in; llama.cpp serves one model, and requests name none."""
UNKNOWN = SseEvent('{"object":"something.new"}')


@dataclass(slots=True)
class FillInEndpoint:
    """The endpoints of all three."""

    keys: frozenset[str]
    counter: Counter

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is for one of them."""
        return request.path in STYLES

    def plays(self, request: HttpRequest) -> bool:
        """Return whether a request is for an answer of the script."""
        return request.method == "POST"

    def look_up(self, request: HttpRequest) -> Mapping[str, Any]:
        """Refuse: there is nothing to look up."""
        raise RequestRefused(f"Method {request.method} not allowed", status=405)

    def accept(self, request: HttpRequest) -> AcceptedFill:
        """Check a request for an answer. Raises ``RequestRefused``."""
        style = STYLES[request.path]
        check_key(request.headers, self.keys, optional=style == "llamacpp")
        body = read_body(style, request.body)
        if not isinstance(body, InfillBody) and body.model not in MODELS[style]:
            raise RequestRefused(
                f"Invalid model: {body.model}", type="invalid_model", code="invalid_model"
            )
        return AcceptedFill(self, request, style, body)

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        return "x-request-id"


@dataclass(frozen=True, slots=True)
class AcceptedFill:
    """A checked request for what stands between two texts."""

    endpoint: FillInEndpoint
    http: HttpRequest
    style: Style
    body: Body

    @property
    def model(self) -> str:
        """The model's name; llama.cpp's is that of its file."""
        return "sim-llamacpp" if isinstance(self.body, InfillBody) else self.body.model

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        body = self.body
        return SimRequest(
            format="fill_in",
            model=self.model,
            stream=body.stream,
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=body.input_prefix if isinstance(body, InfillBody) else body.prompt,
            tool_results=(),
            tool_names=(),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = usage_of(reply, len(self.http.body))
        name = self.endpoint.counter.new("fim-sim")
        composer = FillInReplyComposer(self.style, self.model, reply, usage, name)
        if not self.body.stream:
            return composer.whole()
        asked = isinstance(self.body, DeepSeekBody) and self.body.stream_options is not None
        events = composer.events(usage=asked)
        if reply.delivery.unknown_events:
            events = interleave(events, [UNKNOWN], before_first=True)
        failed = [errors.failure_event(reply.failure)] if reply.failure else []
        return Stream({}, with_failure(events, reply.failure, failed), reply.delivery)


def read_body(style: Style, raw: bytes) -> Body:
    """Return the body. Raises ``RequestRefused``: 422 in Mistral's own form."""
    match style:
        case "mistral":
            try:
                return MistralBody.model_validate_json(raw)
            except ValidationError as error:
                where = place(error.errors(include_url=False)[0]["loc"])
                raise RequestRefused("Unprocessable", status=422, param=where) from error
        case "deepseek":
            return parse(DeepSeekBody, raw)
        case "llamacpp":
            return parse(InfillBody, raw)

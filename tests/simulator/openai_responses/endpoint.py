"""``POST /v1/responses`` and ``/v1/responses/input_tokens``: the checks in order, then the reply.

Key, JSON and schema, model, rules, items, capabilities, size. Called by ``server``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

from tests.simulator.chunking import Counter, estimate, usage_of
from tests.simulator.endpoint_protocol import Stream
from tests.simulator.http import HttpRequest
from tests.simulator.openai_chat import errors
from tests.simulator.openai_chat.endpoint import check_key
from tests.simulator.openai_responses.capabilities import CHECKS, COUNT_CHECKS
from tests.simulator.openai_responses.issued_items import IssuedItems
from tests.simulator.openai_responses.item_rules import ITEM_RULES
from tests.simulator.openai_responses.models import (
    RESPONSES_MODELS,
    ResponsesModel,
)
from tests.simulator.openai_responses.reply import (
    OpenAIResponsesReplyComposer,
    text_of,
)
from tests.simulator.openai_responses.rules import COUNT_RULES, RULES
from tests.simulator.openai_responses.schema import (
    AnyItem,
    FunctionCallOutput,
    InputTokensBody,
    ResponsesBody,
    UserMessage,
)
from tests.simulator.openai_validation_errors import parse
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest


@dataclass(slots=True)
class ResponsesEndpoint:
    """The Responses API."""

    keys: frozenset[str]
    counter: Counter
    served: Mapping[str, ResponsesModel] = field(default_factory=lambda: RESPONSES_MODELS)
    issued: IssuedItems = field(default_factory=IssuedItems)

    def accept(self, request: HttpRequest) -> AcceptedResponse:
        """Check a request for an answer. Raises ``RequestRefused``."""
        check_key(request.headers, self.keys, optional=False)
        body = parse(ResponsesBody, request.body, tagged_tools=True)
        model = self._checked(request, body)
        for rule in RULES:
            rule(body)
        for check in CHECKS:
            check(body, model)
        return AcceptedResponse(self, request, body, model)

    def count(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the body of a token count. Raises ``RequestRefused``."""
        check_key(request.headers, self.keys, optional=False)
        self._checked(request, parse(InputTokensBody, request.body, tagged_tools=True))
        return {"object": "response.input_tokens", "input_tokens": estimate(len(request.body))}

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        return "x-request-id"

    def _checked(self, request: HttpRequest, body: InputTokensBody) -> ResponsesModel:
        """Check what both requests have; return the model."""
        model = self._model(body.model)
        for rule in COUNT_RULES:
            rule(body)
        for rule in ITEM_RULES:
            rule(body.items, body.model, self.issued)
        for check in COUNT_CHECKS:
            check(body, model)
        check_window(request, model)
        return model

    def _model(self, name: str) -> ResponsesModel:
        model = self.served.get(name)
        if model is None:
            raise RequestRefused(
                f"The requested model '{name}' does not exist.",
                status=404,
                param="model",
                code="model_not_found",
            )
        return model


@dataclass(frozen=True, slots=True)
class AcceptedResponse:
    """A checked request for a response."""

    endpoint: ResponsesEndpoint
    http: HttpRequest
    body: ResponsesBody
    model: ResponsesModel

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        trailing = takewhile(
            lambda item: isinstance(item, FunctionCallOutput), reversed(self.body.items)
        )
        outputs = [
            text_of(item.output) for item in trailing if isinstance(item, FunctionCallOutput)
        ]
        return SimRequest(
            format="openai_responses",
            model=self.body.model,
            stream=bool(self.body.stream),
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=user_text(self.body.items),
            tool_results=tuple(reversed(outputs)),
            tool_names=tuple(tool.name for tool in self.body.tools or []),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = usage_of(reply, len(self.http.body))
        composer = OpenAIResponsesReplyComposer(
            self.body, self.model, reply, usage, self.endpoint.counter
        )
        composer.remember(self.endpoint.issued)
        if not self.body.stream:
            return composer.response()
        return Stream({}, composer.events(), reply.delivery)


def check_window(request: HttpRequest, model: ResponsesModel) -> None:
    """The prompt fits the context window."""
    if estimate(len(request.body)) > model.window:
        raise RequestRefused(
            "Your input exceeds the context window of this model. Please adjust your input and try "
            "again.",
            param="input",
            code="context_length_exceeded",
        )


def user_text(items: Sequence[AnyItem]) -> str:
    """Return the text of the latest user message that has any."""
    for item in reversed(items):
        if isinstance(item, UserMessage) and text_of(item.content):
            return text_of(item.content)
    return ""

"""``POST /v1/chat/completions`` and ``GET /v1/models``: the checks in order, then the reply.

Called by ``server``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from tests.simulator.chaos_stream import interleave
from tests.simulator.chunking import Counter, estimate, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.http import HttpRequest
from tests.simulator.openai_chat import errors
from tests.simulator.openai_chat.capabilities import check_model
from tests.simulator.openai_chat.models import ChatModel
from tests.simulator.openai_chat.reply import (
    UNKNOWN,
    OpenAIChatReplyComposer,
    model_list,
)
from tests.simulator.openai_chat.rules import BODY_RULES, SERVER_RULES
from tests.simulator.openai_chat.schema import (
    ChatBody,
    Message,
    TextPart,
    ToolMessage,
    UserMessage,
)
from tests.simulator.openai_validation_errors import parse
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest


@dataclass(slots=True)
class ChatEndpoint:
    """Chat Completions."""

    keys: frozenset[str]
    counter: Counter
    served: Mapping[str, ChatModel]

    def accept(self, request: HttpRequest) -> AcceptedChat:
        """Check a request for an answer. Raises ``RequestRefused``."""
        keyless = any(model.server.keyless for model in self.served.values())
        check_key(request.headers, self.keys, optional=keyless)
        body = parse(ChatBody, request.body)
        model = self._model(body.model)
        check_key(request.headers, self.keys, optional=model.server.keyless)
        for rule in SERVER_RULES:
            rule(body, model)
        for rule in BODY_RULES:
            rule(body)
        check_model(body, body.model, model)
        check_window(request, model)
        return AcceptedChat(self, request, body, model)

    def models(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the models served. Raises ``RequestRefused``."""
        check_key(request.headers, self.keys, optional=False)
        return model_list(list(self.served))

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        return "x-request-id"

    def _model(self, name: str) -> ChatModel:
        model = self.served.get(name)
        if model is None:
            raise RequestRefused(
                f"The model `{name}` does not exist or you do not have access to it.",
                status=404,
                code="model_not_found",
            )
        return model


@dataclass(frozen=True, slots=True)
class AcceptedChat:
    """A checked request for a completion."""

    endpoint: ChatEndpoint
    http: HttpRequest
    body: ChatBody
    model: ChatModel

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        trailing = takewhile(
            lambda message: isinstance(message, ToolMessage), reversed(self.body.messages)
        )
        results = [message_text(message) for message in trailing]
        return SimRequest(
            format="openai_chat",
            model=self.body.model,
            stream=bool(self.body.stream),
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=user_text(self.body.messages),
            tool_results=tuple(reversed(results)),
            tool_names=tuple(tool.function.name for tool in self.body.tools or []),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = usage_of(reply, len(self.http.body))
        composer = OpenAIChatReplyComposer(
            self.body, self.model, reply, usage, self.endpoint.counter
        )
        if not self.body.stream:
            return composer.completion()
        delivery = reply.delivery
        events = composer.events()
        if delivery.unknown_events:
            events = interleave(events, [UNKNOWN], before_first=True)
        failed = [errors.failure_event(reply.failure)] if reply.failure else []
        return Stream({}, with_failure(events, reply.failure, failed), delivery)


def check_key(headers: Mapping[str, str], keys: frozenset[str], *, optional: bool) -> None:
    """The bearer key is one of ours; a local server may ask for none."""
    given = headers.get("authorization", "").removeprefix("Bearer ")
    if not given and optional:
        return
    if not given:
        raise RequestRefused(
            "You didn't provide an API key. You need to provide your API key in an Authorization "
            "header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
            status=401,
        )
    if given not in keys:
        raise RequestRefused(
            f"Incorrect API key provided: {masked(given)}. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            status=401,
            code="invalid_api_key",
        )


def masked(key: str) -> str:
    """Return a key as the service shows it back."""
    return f"{key[:3]}{'*' * 8}{key[-4:]}" if len(key) > 8 else "*" * len(key)


def check_window(request: HttpRequest, model: ChatModel) -> None:
    """The prompt fits the context window."""
    tokens = estimate(len(request.body))
    if tokens > model.window:
        raise RequestRefused(
            f"This model's maximum context length is {model.window} tokens. However, your messages "
            f"resulted in {tokens} tokens. Please reduce the length of the messages.",
            param="messages",
            code="context_length_exceeded",
        )


def user_text(messages: list[Message]) -> str:
    """Return the text of the latest user message that has any."""
    for message in reversed(messages):
        if isinstance(message, UserMessage) and message_text(message):
            return message_text(message)
    return ""


def message_text(message: Message) -> str:
    """Return the text of a message."""
    if isinstance(message.content, list):
        return "\n".join(part.text for part in message.content if isinstance(part, TextPart))
    return message.content or ""

"""``POST /v1/messages``, ``/v1/messages/count_tokens`` and ``GET /v1/models``: the checks in order.

Authentication, version, JSON and schema, model, rules, capabilities, thinking, size; then the
scripted reply. Called by ``server``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from tests.simulator.anthropic import errors
from tests.simulator.anthropic.capabilities import check_model
from tests.simulator.anthropic.merged_turns import MergedTurn, only, turns_of
from tests.simulator.anthropic.models import CLAUDE_MODELS, ClaudeModel
from tests.simulator.anthropic.prompt_cache import PromptCache
from tests.simulator.anthropic.reply import (
    PING,
    UNKNOWN,
    AnthropicReplyComposer,
    model_list,
)
from tests.simulator.anthropic.rules import RULES
from tests.simulator.anthropic.schema import (
    CountTokensBody,
    MessagesBody,
    TextBlock,
    ToolResultBlock,
    parse,
)
from tests.simulator.anthropic.thinking_checks import (
    BINDING_BETA,
    IssuedThinking,
    check_thinking_blocks,
)
from tests.simulator.chaos_stream import interleave
from tests.simulator.chunking import Counter, estimate, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.http import HttpRequest
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest, Usage

VERSIONS = ("2026-10-21", "2023-06-01")
BETAS = frozenset(
    {
        BINDING_BETA,
        "fine-grained-tool-streaming-2025-05-14",
        "interleaved-thinking-2025-05-14",
        "prompt-caching-2024-07-31",
        "structured-outputs-2025-11-13",
        "token-counting-2024-11-01",
    }
)
MAX_BYTES = 32 << 20

Body = TypeVar("Body", bound=CountTokensBody)


@dataclass(slots=True)
class MessagesEndpoint:
    """The Messages API."""

    keys: frozenset[str]
    counter: Counter
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    issued: IssuedThinking = field(default_factory=IssuedThinking)
    cache: PromptCache = field(default_factory=PromptCache)

    def accept(self, request: HttpRequest) -> AcceptedMessage:
        """Check a request for an answer. Raises ``RequestRefused``."""
        body, model = self._checked(request, MessagesBody)
        return AcceptedMessage(self, request, body, model)

    def count(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the body of a token count. Raises ``RequestRefused``."""
        self._checked(request, CountTokensBody)
        return {"input_tokens": estimate(len(request.body))}

    def models(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the models served. Raises ``RequestRefused``."""
        check_headers(request.headers, self.keys)
        return model_list()

    def refusal(self, refused: RequestRefused, request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return errors.refusal_body(refused, request_id)

    def failure(self, failure: Failure, request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return errors.failure_body(failure, request_id)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        return "request-id"

    def _checked(self, request: HttpRequest, kind: type[Body]) -> tuple[Body, ClaudeModel]:
        betas = check_headers(request.headers, self.keys)
        if len(request.body) > MAX_BYTES:
            message = "Request exceeds the maximum size"
            raise RequestRefused(message, status=413, type="request_too_large")
        body = parse(kind, request.body)
        model = self._model(body.model)
        for rule in RULES:
            rule(body)
        check_model(body, body.model, model)
        check_thinking_blocks(body, model, self.issued, betas)
        check_window(request, model)
        return body, model

    def _model(self, name: str) -> ClaudeModel:
        model = CLAUDE_MODELS.get(name)
        if model is None:
            raise RequestRefused(f"model: {name}", status=404, type="not_found_error")
        return replace(model, window=self.windows.get(name, model.window))


@dataclass(frozen=True, slots=True)
class AcceptedMessage:
    """A checked request for a message."""

    endpoint: MessagesEndpoint
    http: HttpRequest
    body: MessagesBody
    model: ClaudeModel

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        turns = turns_of(self.body.messages)
        return SimRequest(
            format="anthropic",
            model=self.body.model,
            stream=self.body.stream,
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=user_text(turns),
            tool_results=tuple(result_text(result) for result in turns[-1].results),
            tool_names=tuple(tool.name for tool in self.body.tools or []),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = reply.usage or self._usage(reply)
        composer = AnthropicReplyComposer(
            self.body, self.model, reply, usage, self.endpoint.counter
        )
        composer.remember(self.endpoint.issued)
        if not self.body.stream:
            return composer.message()
        delivery = reply.delivery
        events = interleave(composer.events(), [PING] * delivery.pings, before_first=False)
        if delivery.unknown_events:
            events = interleave(events, [UNKNOWN], before_first=True)
        failed = [errors.failure_event(reply.failure)] if reply.failure else []
        return Stream({}, with_failure(events, reply.failure, failed), delivery)

    def _usage(self, reply: Reply) -> Usage:
        """Return an estimate from the sizes, and what the prompt cache had of it."""
        estimated = usage_of(reply, len(self.http.body))
        cached = self.endpoint.cache.usage(json.loads(self.http.body), estimated.output)
        total = max(estimated.input, cached.input)
        return cached.model_copy(update={"input": total})


def check_headers(headers: Mapping[str, str], keys: frozenset[str]) -> frozenset[str]:
    """Check key, version and betas; return the betas. Raises ``RequestRefused``."""
    check_key(headers, keys)
    version = headers.get("anthropic-version")
    if version is None:
        raise RequestRefused("anthropic-version: header is required")
    if version not in VERSIONS:
        raise RequestRefused(f'anthropic-version: "{version}" is not a valid version')
    asked = headers.get("anthropic-beta", "")
    betas = frozenset(asked.split(",")) if asked else frozenset[str]()
    unknown = ", ".join(f"`{beta}`" for beta in sorted(betas - BETAS))
    if unknown:
        raise RequestRefused(f"Unexpected value(s) {unknown} for the `anthropic-beta` header.")
    return betas


def check_key(headers: Mapping[str, str], keys: frozenset[str]) -> None:
    """The key is one of ours, in either header."""
    given = headers.get("x-api-key")
    bearer = headers.get("authorization", "").removeprefix("Bearer ")
    if not given and not bearer:
        raise RequestRefused(
            "x-api-key header is required", status=401, type="authentication_error"
        )
    if (given or bearer) not in keys:
        message = "invalid x-api-key" if given else "Invalid bearer token"
        raise RequestRefused(message, status=401, type="authentication_error")


def check_window(request: HttpRequest, model: ClaudeModel) -> None:
    """The prompt fits the context window."""
    tokens = estimate(len(request.body))
    if tokens > model.window:
        raise RequestRefused(f"prompt is too long: {tokens} tokens > {model.window} maximum")


def user_text(turns: list[MergedTurn]) -> str:
    """Return the text of the latest user turn that has any."""
    for turn in reversed(turns):
        texts = [block.text for block in only(turn, TextBlock)]
        if turn.role == "user" and texts:
            return "\n".join(texts)
    return ""


def result_text(result: ToolResultBlock) -> str:
    """Return the text of a result."""
    if isinstance(result.content, list):
        return "\n".join(block.text for block in result.content if isinstance(block, TextBlock))
    return result.content or ""

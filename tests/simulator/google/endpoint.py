"""``models/{model}:generateContent`` and its relatives: the checks in order, then the reply.

Called by ``server``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from tests.simulator.chaos_stream import interleave
from tests.simulator.chunking import Counter, estimate, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.google import errors
from tests.simulator.google.capabilities import check_model
from tests.simulator.google.models import (
    GEMINI_MODELS,
    GeminiModel,
)
from tests.simulator.google.reply import UNKNOWN, GoogleReplyComposer
from tests.simulator.google.rules import RULES
from tests.simulator.google.schema import (
    Content,
    CountTokensBody,
    GenerateContentBody,
)
from tests.simulator.google.turn_order import (
    check_signatures,
    check_turns,
    responses_of,
)
from tests.simulator.google.validation_errors import invalid, parse
from tests.simulator.http import HttpRequest
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest
from tests.simulator.signed_state import unseal_content

CALL = re.compile(r"/(v1|v1beta)/models/([^/:]+):(\w+)")
LIST = re.compile(r"/(v1|v1beta)/models")
ANSWERS = ("generateContent", "streamGenerateContent")
KEY_HEADER = "x-goog-api-key"


@dataclass(slots=True)
class GenerateContentEndpoint:
    """``generateContent``."""

    keys: frozenset[str]
    counter: Counter
    windows: Mapping[str, int]

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is in this format; lists of models are recognised by the key."""
        if CALL.fullmatch(request.path):
            return True
        named = KEY_HEADER in request.headers or "key" in parse_qs(request.query)
        return bool(LIST.fullmatch(request.path)) and (named or request.path.startswith("/v1beta/"))

    def plays(self, request: HttpRequest) -> bool:
        """Return whether a request is for an answer of the script."""
        return request.method == "POST" and self._method(request) in ANSWERS

    def accept(self, request: HttpRequest) -> AcceptedContent:
        """Check a request for an answer. Raises ``RequestRefused``."""
        check_google_key(request, self.keys)
        model = self._model(request)
        body = parse(GenerateContentBody, request.body)
        stream = self._method(request) == "streamGenerateContent"
        for rule in RULES:
            rule(body)
        check_turns(body)
        check_model(body, model, stream=stream)
        check_signatures(body, model.name, needed=model.current)
        self._check_window(request, model)
        if body.continuation_token is not None:
            check_continuation(body.continuation_token)
        return AcceptedContent(self, request, body, model, stream)

    def look_up(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the models, or how many tokens a request has. Raises ``RequestRefused``."""
        check_google_key(request, self.keys)
        if request.method == "GET" and LIST.fullmatch(request.path):
            return model_list(parse_qs(request.query))
        if request.method == "POST" and self._method(request) == "countTokens":
            model = self._model(request)
            check_count(parse(CountTokensBody, request.body), model)
            return {"totalTokens": estimate(len(request.body))}
        raise RequestRefused("Not Found", status=404)

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return errors.refusal_body(refused)

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return errors.failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id; the real one has none."""
        return "x-request-id"

    def _method(self, request: HttpRequest) -> str:
        found = CALL.fullmatch(request.path)
        return found.group(3) if found else ""

    def _model(self, request: HttpRequest) -> GeminiModel:
        found = CALL.fullmatch(request.path)
        version, name = (found.group(1), found.group(2)) if found else ("v1", "")
        if name not in GEMINI_MODELS:
            raise RequestRefused(
                f"models/{name} is not found for API version {version}, or is not supported for "
                "generateContent. Call ListModels to see the list of available models and their "
                "supported methods.",
                status=404,
            )
        return GEMINI_MODELS[name]

    def _check_window(self, request: HttpRequest, model: GeminiModel) -> None:
        tokens = estimate(len(request.body))
        window = self.windows.get(model.name, model.window)
        if tokens > window:
            raise invalid(
                f"The input token count ({tokens}) exceeds the maximum number of tokens allowed "
                f"({window})."
            )


@dataclass(frozen=True, slots=True)
class AcceptedContent:
    """A checked request for an answer."""

    endpoint: GenerateContentEndpoint
    http: HttpRequest
    body: GenerateContentBody
    model: GeminiModel
    stream: bool

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        last = next(content for content in reversed(self.body.turns) if content.role == "user")
        results = [json.dumps(item.response) for item in responses_of(last)]
        return SimRequest(
            format="google",
            model=self.model.name,
            stream=self.stream,
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=user_text(self.body.turns),
            tool_results=tuple(results),
            tool_names=tuple(function.name for function in self.body.functions),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any] | Sequence[Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = usage_of(reply, len(self.http.body))
        counter = self.endpoint.counter
        composer = GoogleReplyComposer(self.body, self.model, reply, usage, counter)
        if not self.stream:
            return composer.whole()
        if parse_qs(self.http.query).get("alt") != ["sse"]:
            return composer.chunks()
        events = composer.events()
        if reply.delivery.unknown_events:
            events = interleave(events, [UNKNOWN], before_first=True)
        failed = [errors.failure_event(reply.failure)] if reply.failure else []
        return Stream({}, with_failure(events, reply.failure, failed), reply.delivery)


def check_google_key(request: HttpRequest, keys: frozenset[str]) -> None:
    """The key is one of ours, in the header or in the query."""
    in_query = parse_qs(request.query).get("key", [""])[0]
    given = request.headers.get(KEY_HEADER) or in_query
    if not given:
        raise RequestRefused(
            "Method doesn't allow unregistered callers (callers without established identity). "
            "Please use API Key or other form of API consumer identity to call this API.",
            status=403,
        )
    if given not in keys:
        raise RequestRefused(
            "API key not valid. Please pass a valid API key.", code="API_KEY_INVALID"
        )


def check_count(body: CountTokensBody, model: GeminiModel) -> None:
    """Contents or a whole request that an answer could be given to, not both, for this model."""
    asked = body.generate_content_request
    if asked is None:
        if not body.contents:
            raise invalid("contents is not specified")
        return
    if body.contents:
        raise invalid("contents and generate_content_request are mutually exclusive")
    if asked.model is None or asked.model.removeprefix("models/") != model.name:
        raise invalid(f"generate_content_request.model does not name models/{model.name}")
    for rule in RULES:
        rule(asked)
    check_turns(asked)
    check_model(asked, model, stream=True)
    check_signatures(asked, model.name, needed=model.current)


def check_continuation(token: str) -> None:
    """The token is one that came with an answer."""
    if unseal_content(token) is None:
        raise invalid("Invalid continuation token.")


def model_list(query: Mapping[str, list[str]]) -> Mapping[str, Any]:
    """Return a page of the models; tokens are positions."""
    start = int(query.get("pageToken", ["0"])[0])
    end = start + int(query.get("pageSize", ["50"])[0])
    items = list(GEMINI_MODELS.values())
    more = {"nextPageToken": str(end)} if end < len(items) else {}
    return {"models": [listed(model) for model in items[start:end]], **more}


def listed(model: GeminiModel) -> Mapping[str, Any]:
    """Return a model as it is listed."""
    return {
        "name": f"models/{model.name}",
        "displayName": model.name,
        "inputTokenLimit": model.window,
        "outputTokenLimit": min(model.max_output, 65_536),
        "supportedGenerationMethods": ["generateContent", "countTokens"],
        "thinking": True,
    }


def user_text(contents: Sequence[Content]) -> str:
    """Return the text of the latest user turn that has any."""
    for content in reversed(contents):
        texts = [part.text for part in content.parts or [] if part.text]
        if content.role == "user" and texts:
            return "\n".join(texts)
    return ""

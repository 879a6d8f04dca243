"""An Ollama server below ``/api/``: ``chat``, ``generate``, ``tags``, ``show`` and ``version``.

Runs the checks in order, then replies. A local Ollama requires no key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from tests.simulator.chaos_stream import SseEvent, interleave
from tests.simulator.chunking import Counter, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.http import HttpRequest
from tests.simulator.ollama.generate import (
    AcceptedGenerate,
    check_generate,
)
from tests.simulator.ollama.models import MODELS, OllamaModel, find_model
from tests.simulator.ollama.reply import (
    CREATED,
    UNKNOWN,
    OllamaReplyComposer,
)
from tests.simulator.ollama.rules import RULES
from tests.simulator.ollama.schema import ChatBody, GenerateBody, ShowBody
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Failure, Reply, SimRequest

Body = TypeVar("Body", bound=BaseModel)

MESSAGES = {
    404: "model not found",
    429: "too many concurrent requests",
    500: "llama runner process has terminated: exit status 2",
    502: "upstream error",
    503: "server busy, please try again.  maximum pending requests exceeded",
}


@dataclass(slots=True)
class OllamaEndpoint:
    """An Ollama."""

    counter: Counter

    def serves(self, request: HttpRequest) -> bool:
        """Return whether a request is in this format."""
        return request.path.startswith("/api/")

    def plays(self, request: HttpRequest) -> bool:
        """Return whether a request is for an answer of the script."""
        return request.method == "POST" and request.path in {"/api/chat", "/api/generate"}

    def accept(self, request: HttpRequest) -> AcceptedOllamaChat | AcceptedGenerate:
        """Check a request for an answer. Raises ``RequestRefused``."""
        if request.path == "/api/generate":
            asked = parse(GenerateBody, request.body)
            check_generate(asked, pulled(asked.model))
            return AcceptedGenerate(request, asked)
        body = parse(ChatBody, request.body)
        model = pulled(body.model)
        for rule in RULES:
            rule(body, model)
        return AcceptedOllamaChat(self, request, body, model)

    def look_up(self, request: HttpRequest) -> Mapping[str, Any]:
        """Return the models, one of them, or the version. Raises ``RequestRefused``."""
        match f"{request.method} {request.path}":
            case "GET /api/tags":
                return {"models": [tag(model) for model in MODELS]}
            case "POST /api/show":
                return shown(pulled(parse(ShowBody, request.body).model))
            case "GET /api/version":
                return {"version": "0.31.0"}
            case _:
                raise RequestRefused("404 page not found", status=404)

    def refusal(self, refused: RequestRefused, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        return {"error": refused.message}

    def failure(self, failure: Failure, _request_id: str) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        return failure_body(failure)

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id; the real one has none."""
        return "x-request-id"


@dataclass(frozen=True, slots=True)
class AcceptedOllamaChat:
    """A checked request for an answer."""

    endpoint: OllamaEndpoint
    http: HttpRequest
    body: ChatBody
    model: OllamaModel

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        messages = self.body.messages
        said = (m.content for m in reversed(messages) if m.role == "user" and m.content)
        trailing = takewhile(lambda message: message.role == "tool", reversed(messages))
        results = [message.content for message in trailing]
        return SimRequest(
            format="ollama",
            model=self.body.model,
            stream=self.body.stream,
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=next(said, ""),
            tool_results=tuple(reversed(results)),
            tool_names=tuple(tool.function.name for tool in self.body.tools or []),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        usage = usage_of(reply, len(self.http.body))
        composer = OllamaReplyComposer(self.body, self.model, reply, usage, self.endpoint.counter)
        if not self.body.stream:
            return composer.whole()
        events = composer.events()
        if reply.delivery.unknown_events:
            events = interleave(events, [UNKNOWN], before_first=True)
        failure = reply.failure
        failed = [SseEvent(json.dumps(failure_body(failure)), bare=True)] if failure else []
        headers = {"content-type": "application/x-ndjson"}
        return Stream(headers, with_failure(events, failure, failed), reply.delivery)


def parse(kind: type[Body], raw: bytes) -> Body:
    """Return the body. Raises ``RequestRefused`` in the words of Go's decoder."""
    try:
        return kind.model_validate_json(raw)
    except ValidationError as error:
        raise RequestRefused(wording(error.errors(include_url=False)[0])) from error


def wording(problem: ErrorDetails) -> str:
    """Return what is wrong with a body."""
    place = ".".join(str(step) for step in problem["loc"] if isinstance(step, str))
    match problem["type"]:
        case "json_invalid":
            return "invalid character in JSON body"
        case "extra_forbidden":
            return f'json: unknown field "{place}"'
        case "missing":
            return f'json: missing field "{place}"'
        case _ if problem["loc"][0] == "think":
            return (
                f"invalid think value: {json.dumps(problem['input'])} (must be true, false, "
                '"high", "medium", "low" or "max")'
            )
        case _:
            given = type(problem["input"]).__name__
            return f"json: cannot unmarshal {given} into Go struct field {place}: {problem['msg']}"


def pulled(name: str) -> OllamaModel:
    """Return the model. Raises ``RequestRefused`` for one that was not pulled."""
    if not name:
        raise RequestRefused("model is required")
    model = find_model(name)
    if model is None:
        raise RequestRefused(f"model '{name}' not found", status=404)
    return model


def failure_body(failure: Failure) -> Mapping[str, Any]:
    """Return the body of a scripted failure, which inside a stream is a line."""
    return {"error": failure.message or MESSAGES.get(failure.status, "something went wrong")}


def tag(model: OllamaModel) -> Mapping[str, Any]:
    """Return a model as it is listed."""
    details = {"format": "gguf", "family": model.family, "parameter_size": "8B"}
    names = {"name": model.name, "model": model.name, "modified_at": CREATED}
    return {**names, "size": 1, "digest": "0" * 64, "details": details}


def shown(model: OllamaModel) -> Mapping[str, Any]:
    """Return what is known of a model."""
    info = {
        "general.architecture": model.family,
        f"{model.family}.context_length": model.context_length,
    }
    return {"capabilities": sorted(model.capabilities), "model_info": info, "modified_at": CREATED}

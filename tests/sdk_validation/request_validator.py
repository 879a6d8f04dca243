"""Judges every request that reaches a simulator in any test by the official SDKs' types.

Independent of the simulator's own schemas. Installed by ``tests.conftest``: a test whose requests
break a vendor's types fails with the path of the offence. Tests that send such requests on purpose
have the marker ``malformed_requests``; the summary of a run counts both.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tests.sdk_validation.google_types import embedding_problems as google_embedding_problems
from tests.sdk_validation.google_types import google_problems
from tests.sdk_validation.request_schemas import (
    anthropic_count_problems,
    anthropic_problems,
    chat_problems,
    embedding_problems,
    ollama_embedding_problems,
    ollama_problems,
    responses_count_problems,
    responses_problems,
)

Body = dict[str, Any]
Sent = tuple[str, Any]
"""Path and body of a request."""

COMPATIBLE_ONLY = {"reasoning", "reasoning_content", "reasoning_details", "extra_content"}
"""Fields of compatible chat servers that OpenAI's types lack, at any level."""


def _messages(body: Body) -> list[str]:
    """``block_binding`` is a beta's; the simulator wants its header."""
    thinking = body.get("thinking")
    if isinstance(thinking, dict):
        given = cast("Body", thinking)
        known = {name: value for name, value in given.items() if name != "block_binding"}
        body = {**body, "thinking": known}
    return anthropic_problems(body)


def _compatible(body: Body) -> list[str]:
    strange = not str(body.get("model", "")).startswith("gpt-")
    return chat_problems(_without(body) if strange else body)


def _without(node: Any) -> Any:
    if isinstance(node, list):
        return [_without(item) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    found = cast("Body", node)
    return {name: _without(value) for name, value in found.items() if name not in COMPATIBLE_ONLY}


def _google_count(body: Body) -> list[str]:
    whole = body.get("generateContentRequest", body)
    return google_problems({name: value for name, value in whole.items() if name != "model"})


_JUDGES: Sequence[tuple[str, str, Callable[[Body], list[str]]]] = (
    ("/messages/count_tokens", "anthropic count", anthropic_count_problems),
    ("/messages", "anthropic", _messages),
    ("/responses/input_tokens", "openai_responses count", responses_count_problems),
    ("/responses", "openai_responses", responses_problems),
    ("/chat/completions", "openai_chat", _compatible),
    (":countTokens", "google count", _google_count),
    ("enerateContent", "google", google_problems),
    ("/api/chat", "ollama", ollama_problems),
    ("/v1/embeddings", "openai embeddings", embedding_problems),
    (":batchEmbedContents", "google embeddings", google_embedding_problems),
    ("/api/embed", "ollama embeddings", ollama_embedding_problems),
)


@dataclass
class RequestValidator:
    """Collects the requests of one test after the other."""

    judged: Counter[str] = field(default_factory=Counter[str])
    """Requests by format, in the whole run."""
    excused: int = 0
    """Requests of tests that send malformed ones on purpose."""
    excused_tests: int = 0
    _sent: list[Sent] = field(default_factory=list[Sent])
    _verdicts: dict[tuple[str, str], list[str]] = field(
        default_factory=dict[tuple[str, str], list[str]]
    )

    def validate_request(self, path: str, body: Any) -> None:
        """Take a request that a test sent."""
        if isinstance(body, dict) and validator_for(path) is not None:
            self._sent.append((path, cast("Body", body)))

    def validate_requests(self, requests: Sequence[Mapping[str, Any]]) -> None:
        """Take the records of a simulator in another process."""
        for request in requests:
            self.validate_request(request["path"], request["body"])

    def finish(self, *, malformed: bool) -> list[str]:
        """Return what is wrong with the requests since the last call; nothing if ``malformed``."""
        sent, self._sent = self._sent, []
        if malformed:
            self.excused += len(sent)
            self.excused_tests += 1
            return []
        return [problem for path, body in sent for problem in self._problems(path, body)]

    def _problems(self, path: str, body: Body) -> list[str]:
        found = validator_for(path)
        assert found is not None, "only what has a judge is kept"
        name, look = found
        self.judged[name] += 1
        key = (name, json.dumps(body, sort_keys=True))
        if key not in self._verdicts:
            self._verdicts[key] = [f"{name} {path}: {problem}" for problem in look(body)]
        return self._verdicts[key]


def validator_for(path: str) -> tuple[str, Callable[[Body], list[str]]] | None:
    """Return the format of a path and who judges it; None for what is no request to a model."""
    for end, name, look in _JUDGES:
        if path.endswith(end):
            return name, look
    return None

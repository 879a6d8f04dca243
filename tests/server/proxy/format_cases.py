"""Cases for every format of the proxy: the same models, replies, failures and checks.

The tests of the official SDKs express them in their format and share the rest.
"""

from __future__ import annotations

from typing import Any

import openai
import pytest

from tests.server.proxy.conftest import (
    CLAUDE,
    DEEPSEEK,
    GEMINI,
    GPT,
    MODELS,
    OPENROUTER,
    QWEN,
)
from tests.simulator import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Simulator,
    ToolUse,
    Usage,
    reply,
)

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
PARAMETERS: Any = {"type": "object", "properties": {"n": {"type": "integer"}}}
"""Parameters of the tool ``read``, which reads a cell."""

both = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
every_model = pytest.mark.parametrize("model", MODELS)
thinking_models = pytest.mark.parametrize(
    "model", [CLAUDE, GPT, GEMINI, QWEN, OPENROUTER, DEEPSEEK]
)

GREETING = "Hällo, 日本 🙂."


def greets() -> Reply:
    """A reply of text and the usage that ``cached`` belongs to: 120 tokens in, 7 out."""
    return reply(GREETING, usage=Usage(input=120, output=7, cache_read=40))


def cached(model: str) -> int:
    """Return how many tokens of ``greets`` were cached: Ollama does not report it."""
    return 0 if model == QWEN else 40


def looks_twice() -> tuple[Reply, ...]:
    """Two calls at once, one more, and the end."""
    return (
        reply(
            Reasoning(text="Two cells."),
            "I look.",
            ToolUse(name="read", arguments={"n": 1}),
            ToolUse(name="read", arguments={}),
        ),
        reply(Reasoning(text="Once more."), ToolUse(name="read", arguments={"n": 3})),
        reply("Done."),
    )


def check_looks_of_claude(upstream: Simulator, model: str) -> None:
    """Check that Claude got its thinking back with its calls."""
    if model == CLAUDE:
        kinds = ["thinking", "text", "tool_use", "tool_use"]
        assert kinds_sent(upstream.requests[2].body) == kinds


def thinks_and_answers() -> tuple[Reply, ...]:
    """A reply with its reasoning, and one after it."""
    return reply(Reasoning(text="Look at cell 3."), "So."), reply("Well.")


def kinds_sent(body: Any) -> list[str]:
    """The kinds of blocks of the first answer in a request to Claude."""
    return [block["type"] for block in body["messages"][1]["content"]]


BROKEN_STREAM = r"overloaded|failed|too early|connection"
"""What the SDKs say of the streams of ``broken_in_the_middle``."""


def broken_in_the_middle(text: str = "A long text", after: int = 2) -> pytest.MarkDecorator:
    """Replies whose stream reports an error, or only ends."""
    broken = [
        reply(text, failure=Failure(status=529, after=after)),
        reply(text, delivery=Delivery(ending="cut")),
    ]
    return pytest.mark.parametrize("broken", broken, ids=["error", "cut"])


COUNTERS = {
    CLAUDE: "/v1/messages/count_tokens",
    GPT: "/v1/responses/input_tokens",
    GEMINI: "/v1beta/models/gemini-3.8-flash:countTokens",
}
"""Counting endpoints of vendors that have one; other vendors' tokens are estimated."""


def check_count(upstream: Simulator, model: str, tokens: int) -> None:
    """Check the count of "Hi " a hundred times with a tool, and who made it."""
    assert 80 < tokens < 400
    asked = [COUNTERS[model]] if model in COUNTERS else []
    assert [record.path for record in upstream.requests] == asked
    assert all(record.refusal is None for record in upstream.requests)


_OPENAI_ERRORS = [
    (Failure(status=400), openai.BadRequestError, None),
    (Failure(status=401), openai.AuthenticationError, "invalid_api_key"),
    (Failure(status=402), openai.RateLimitError, "insufficient_quota"),
    (Failure(status=404), openai.NotFoundError, "model_not_found"),
    (Failure(status=429), openai.RateLimitError, "rate_limit_exceeded"),
    (Failure(status=500), openai.InternalServerError, None),
    (Failure(status=529), openai.InternalServerError, None),
]
openai_errors = pytest.mark.parametrize(
    ("failure", "error", "code"),
    _OPENAI_ERRORS,
    ids=[str(failure.status) for failure, _, _ in _OPENAI_ERRORS],
)


def check_openai_error(upstream: Simulator, raised: openai.APIStatusError, code: Any) -> None:
    """Check the error that the caller gets, and that it does not contain the key."""
    body: Any = raised.body
    assert body["code"] == code
    assert upstream.key not in str(body)
    assert raised.request_id

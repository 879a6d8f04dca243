"""Model lists of compatible servers, and their deviations from OpenAI's API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
import pytest

from jupyter_ai_shoulders.core.catalogue.specs import ServerProfile
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import AnyTool, ListedModel, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.formats.server_profiles import PROFILES, profile_of
from jupyter_ai_shoulders.providers.openai_chat.encode import encode
from jupyter_ai_shoulders.providers.openai_chat.provider import OpenAIChatProvider
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from tests.providers.adapter_fixtures import (
    READ,
    Sent,
    answering,
    ask,
    collect,
    data_lines,
    make_endpoint,
    shipped,
)

Answers = Mapping[str, Any]
WHOLE = frozenset({"completion", "tools"})
SEES = frozenset({"completion", "tools", "vision"})


def saying(answers: Answers) -> httpx.MockTransport:
    """A server that has these paths."""

    def handle(request: httpx.Request) -> httpx.Response:
        found = answers.get(request.url.path)
        if found is None:
            return httpx.Response(404, json={"error": "Unexpected endpoint"})
        return httpx.Response(200, json=found)

    return httpx.MockTransport(handle)


async def listed(
    profile: ServerProfile, answers: Answers, url: str = "http://lab.test/v1"
) -> list[ListedModel]:
    made = make_endpoint("openai_chat", transport=saying(answers), profile=profile, url=url)
    return await OpenAIChatProvider(made).list_models()


PLAIN = {"object": "list", "data": [{"id": "m", "object": "model"}]}


@pytest.mark.parametrize(
    ("profile", "answers", "models"),
    [
        pytest.param("generic", {"/v1/models": PLAIN}, [ListedModel("m")], id="any"),
        pytest.param("deepseek", {"/v1/models": PLAIN}, [ListedModel("m")], id="DeepSeek"),
        pytest.param(
            "vllm",
            {"/v1/models": {"data": [{"id": "m", "max_model_len": 40_960}]}},
            [ListedModel("m", 40_960)],
            id="vLLM",
        ),
        pytest.param(
            "llamacpp",
            {
                "/v1/models": {"data": [{"id": "m", "meta": {"n_ctx_train": 131_072}}]},
                "/props": {"default_generation_settings": {"n_ctx": 8_192}},
            },
            [ListedModel("m", 8_192)],
            id="llama.cpp",
        ),
        pytest.param(
            "llamacpp",
            {"/v1/models": {"data": [{"id": "m", "meta": {"n_ctx_train": 131_072}}]}},
            [ListedModel("m", 131_072)],
            id="llama.cpp behind a proxy",
        ),
        pytest.param(
            "lmstudio",
            {
                "/api/v0/models": {
                    "data": [
                        {"id": "a", "type": "llm", "max_context_length": 32_768},
                        {
                            "id": "b",
                            "type": "vlm",
                            "max_context_length": 32_768,
                            "loaded_context_length": 4_096,
                        },
                        {"id": "c", "type": "embeddings", "max_context_length": 2_048},
                    ]
                }
            },
            [
                ListedModel("a", 32_768, None, WHOLE),
                ListedModel("b", 4_096, None, SEES),
                ListedModel("c", 2_048, None, frozenset({"embedding"})),
            ],
            id="LM Studio",
        ),
        pytest.param("lmstudio", {"/v1/models": PLAIN}, [ListedModel("m")], id="old LM Studio"),
        pytest.param(
            "mistral",
            {
                "/v1/models": {
                    "data": [
                        {
                            "id": "a",
                            "max_context_length": 262_144,
                            "capabilities": {"completion_chat": True, "function_calling": True},
                        },
                        {"id": "b", "capabilities": {"completion_chat": False, "vision": True}},
                    ]
                }
            },
            [
                ListedModel("a", 262_144, None, WHOLE),
                ListedModel("b", None, None, frozenset({"vision"})),
            ],
            id="Mistral",
        ),
        pytest.param(
            "openrouter",
            {
                "/v1/models": {
                    "data": [
                        {
                            "id": "x/y",
                            "context_length": 200_000,
                            "top_provider": {"max_completion_tokens": 64_000},
                            "supported_parameters": ["tools", "max_tokens"],
                            "architecture": {"input_modalities": ["text", "image"]},
                        }
                    ]
                }
            },
            [ListedModel("x/y", 200_000, 64_000, SEES)],
            id="OpenRouter",
        ),
    ],
)
async def test_models_are_listed_as_each_server_says(
    profile: ServerProfile, answers: Answers, models: list[ListedModel]
) -> None:
    assert await listed(profile, answers) == models


async def test_lm_studio_that_does_not_run_is_unreachable() -> None:
    made = make_endpoint("openai_chat", profile="lmstudio", url="http://127.0.0.1:9/v1")
    with pytest.raises(ProviderError) as caught:
        await OpenAIChatProvider(made).list_models()
    await made.upstream.aclose()
    assert caught.value.info.code == "provider_unreachable"


@pytest.mark.parametrize("name", ["lmstudio", "mistral", "deepseek", "openrouter"])
def test_shipped_servers_have_their_profile(name: str) -> None:
    (provider,) = [spec for spec in shipped().providers.values() if spec.id == name]
    assert profile_of(provider) is PROFILES[name]  # pyright: ignore[reportArgumentType] - named alike
    assert provider.needs_key == (name != "lmstudio")


def body_of(profile: ServerProfile, **more: Any) -> dict[str, Any]:
    made = make_endpoint("openai_chat", profile=profile)
    return json.loads(encode(ask("Hi", **more), made, PROFILES[profile]))


@pytest.mark.parametrize("profile", sorted(PROFILES))
def test_output_limit_has_the_name_the_server_knows(profile: ServerProfile) -> None:
    body = body_of(profile, max_output=100)
    limits = {name: body.get(name) for name in ("max_tokens", "max_completion_tokens")}
    named = "max_completion_tokens" if profile == "openai" else "max_tokens"
    assert {name for name, value in limits.items() if value == 100} == {named}
    assert [name for name, value in limits.items() if value is None] == [
        name for name in limits if name != named
    ]


OTHER = ToolDefinition(name="other", description="", parameters={"type": "object"})


@pytest.mark.parametrize("profile", ["lmstudio", "llamacpp"])
@pytest.mark.parametrize(
    ("tools", "choice", "sent"),
    [
        ((READ,), NamedTool("read"), "required"),
        ((READ, OTHER), NamedTool("read"), None),
        ((READ, OTHER), AnyTool(), "required"),
        ((READ,), "none", "none"),
        ((READ,), "auto", None),
    ],
)
def test_tool_is_demanded_by_a_word_where_names_are_not_known(
    profile: ServerProfile, tools: tuple[ToolDefinition, ...], choice: ToolChoice, sent: str | None
) -> None:
    assert body_of(profile, tools=tools, tool_choice=choice).get("tool_choice") == sent


ERRORS: dict[str, tuple[int, Any, ErrorCode, bool]] = {
    "vLLM": (
        400,
        {"object": "error", "message": "maximum context length is 10", "code": 400},
        "context_overflow",
        False,
    ),
    "vLLM without tools": (
        400,
        {"object": "error", "message": '"auto" tool choice requires --enable-auto-tool-choice'},
        "bad_request_upstream",
        False,
    ),
    "llama.cpp loads": (
        503,
        {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}},
        "overloaded",
        True,
    ),
    "llama.cpp is full": (
        400,
        {"error": {"code": 400, "message": "too long", "type": "exceed_context_size_error"}},
        "context_overflow",
        False,
    ),
    "llama-cpp-python": (
        500,
        {"error": {"message": "requested tokens exceed context window", "type": "internal"}},
        "context_overflow",
        False,
    ),
    "OpenRouter credits": (
        402,
        {"error": {"code": 402, "message": "Insufficient credits"}},
        "billing",
        False,
    ),
    "OpenRouter moderation": (
        403,
        {"error": {"code": 403, "message": "No.", "metadata": {"reasons": ["x"]}}},
        "content_filtered",
        False,
    ),
    "OpenRouter upstream": (
        502,
        {"error": {"code": 502, "message": "Provider returned error"}},
        "provider_error",
        True,
    ),
    "Mistral": (422, {"object": "error", "message": {"detail": []}}, "bad_request_upstream", False),
    "DeepSeek balance": (402, {"error": {"message": "Insufficient Balance"}}, "billing", False),
    "LM Studio": (400, {"error": "Model is unloaded."}, "bad_request_upstream", False),
}


@pytest.mark.parametrize("name", ERRORS)
async def test_errors_are_read_as_each_server_words_them(name: str) -> None:
    status, body, code, retryable = ERRORS[name]
    transport = answering(
        json.dumps(body).encode(), status=status, headers={"content-type": "application/json"}
    )
    sent = Sent()
    with pytest.raises(ProviderError) as caught:
        await collect(
            OpenAIChatProvider(make_endpoint("openai_chat", transport=transport, sent=sent))
        )
    assert (caught.value.info.code, caught.value.info.retryable) == (code, retryable)
    assert caught.value.info.hint


EVENTS: list[tuple[Any, ErrorCode]] = [
    ({"object": "error", "message": "boom", "code": 500}, "provider_error"),
    ({"error": {"message": "boom"}}, "provider_error"),
    ({"error": {"code": 429, "message": "slow"}}, "rate_limited"),
    ({"choices": [{"delta": {}, "finish_reason": "error"}]}, "provider_error"),
    (
        {
            "error": {"code": 502, "message": "gone"},
            "choices": [{"delta": {"content": ""}, "finish_reason": "error"}],
        },
        "provider_error",
    ),
]


@pytest.mark.parametrize(("event", "code"), EVENTS)
async def test_error_inside_a_stream_is_an_error(event: Any, code: ErrorCode) -> None:
    first = '{"choices":[{"index":0,"delta":{"content":"Hi"}}]}'
    transport = answering(data_lines(first, json.dumps(event)))
    with pytest.raises(ProviderError) as caught:
        await collect(OpenAIChatProvider(make_endpoint("openai_chat", transport=transport)))
    assert caught.value.info.code == code

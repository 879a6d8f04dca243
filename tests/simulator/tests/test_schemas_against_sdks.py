"""Compares the simulator's schemas with the official SDKs' request types."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.sdk_validation.request_schemas import (
    anthropic_problems,
    chat_problems,
    responses_problems,
)
from tests.simulator import Simulator
from tests.simulator.tests import test_anthropic_refusals as anthropic
from tests.simulator.tests import test_openai_chat_refusals as chat
from tests.simulator.tests import test_openai_responses_refusals as responses

Json = dict[str, Any]
STRUCTURE = (
    "Field required",
    "Extra inputs are not permitted",
    "Missing required",
    "Unknown param",
)
CACHED: Json = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}

MESSAGES: dict[str, Json] = {
    "least": {"messages": [anthropic.USER]},
    "blocks": {"messages": [anthropic.user(anthropic.text("Hi", **CACHED))]},
    "system blocks": {
        "messages": [anthropic.USER],
        "system": [anthropic.text("Be kind", **CACHED)],
        **CACHED,
    },
    "image": {
        "messages": [
            anthropic.user(
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
                },
                anthropic.text("What is it?"),
            )
        ]
    },
    "tool loop": anthropic.conversation(
        anthropic.USER,
        anthropic.assistant(anthropic.text("Wait"), anthropic.use("a"), anthropic.use("b")),
        anthropic.user(
            anthropic.result("a", is_error=True, content=[anthropic.text("no", **CACHED)]),
            anthropic.result("b"),
            anthropic.text("Go on"),
        ),
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
    ),
    "thinking": {
        "messages": [anthropic.USER],
        "thinking": {"type": "adaptive", "display": "summarized"},
        "output_config": {"effort": "low"},
        "metadata": {"user_id": "u"},
        "stop_sequences": ["END"],
        "service_tier": "auto",
    },
    "structured": {
        "messages": [anthropic.USER],
        "output_config": {
            "format": {
                "type": "json_schema",
                "schema": {"type": "object", "properties": {}, "additionalProperties": False},
            }
        },
    },
}


@pytest.mark.parametrize("name", MESSAGES)
async def test_valid_message_requests_are_taken_by_both(
    name: str, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body = {"model": "claude-opus-5-5", "max_tokens": 100, "stream": True, **MESSAGES[name]}
    headers = {"x-api-key": simulator.key, "anthropic-version": "2026-10-21"}
    response = await http.post("/v1/messages", json=body, headers=headers)
    assert (anthropic_problems(body), response.status_code) == ([], 200), response.text


CHATS: dict[str, Json] = {
    "least": {"messages": [chat.USER]},
    "options": {
        "messages": [{"role": "system", "content": "Be kind"}, chat.USER],
        "stream_options": {"include_usage": True},
        "max_completion_tokens": 100,
        "temperature": 0.1,
        "stop": ["END"],
        "prompt_cache_key": "nb",
        "metadata": {"a": "b"},
    },
    "image": {
        "messages": [
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is it?"},
                    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
                ],
            }
        ]
    },
    "tool loop": chat.conversation(
        chat.USER,
        chat.assistant(chat.call("a"), chat.call("b"), content="Wait"),
        chat.result("b"),
        chat.result("a"),
        tool_choice="required",
        parallel_tool_calls=True,
    ),
    "structured": {
        "messages": [chat.USER],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}},
        },
    },
}


@pytest.mark.parametrize("name", CHATS)
async def test_valid_chat_requests_are_taken_by_both(
    name: str, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body = {"model": "gpt-4.1", "stream": True, **CHATS[name]}
    headers = {"authorization": f"Bearer {simulator.key}"}
    response = await http.post("/v1/chat/completions", json=body, headers=headers)
    assert (chat_problems(body), response.status_code) == ([], 200), response.text


RESPONSES: dict[str, Json] = {
    "text": {"input": "Hi"},
    "options": {
        "instructions": "Be kind",
        "input": [responses.USER],
        "max_output_tokens": 100,
        "stream_options": {"include_obfuscation": False},
        "prompt_cache_key": "nb",
        "prompt_cache_options": {"mode": "explicit", "ttl": "30m"},
        "safety_identifier": "u",
        "metadata": {"a": "b"},
        "service_tier": "auto",
        "truncation": "auto",
        "text": {"verbosity": "low"},
    },
    "roles": {
        "input": [
            {"role": "developer", "content": "Be kind"},
            {"type": "message", "role": "system", "content": "Be brief"},
            responses.USER,
            {"role": "assistant", "content": "Well.", "phase": "commentary"},
            {
                "type": "message",
                "role": "assistant",
                "id": "msg_1",
                "status": "completed",
                "content": [{"type": "output_text", "text": "So.", "annotations": []}],
            },
            responses.USER,
        ],
    },
    "image": responses.image(detail="auto", image_url=responses.PNG),
    "file": responses.said(
        {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}
    ),
    "tool loop": responses.history(
        responses.thought(),
        responses.call("a", id="fc_1", status="completed"),
        responses.call("b"),
        responses.output(
            "b", [{"type": "input_image", "detail": "low", "image_url": responses.PNG}]
        ),
        responses.output("a"),
        tools=[responses.TOOL],
        tool_choice={"type": "function", "name": "run"},
        parallel_tool_calls=True,
        store=False,
        include=["reasoning.encrypted_content"],
        reasoning={"effort": "low", "summary": "auto"},
    ),
    "allowed tools": {
        "input": "Hi",
        "tools": [responses.TOOL],
        "tool_choice": {
            "type": "allowed_tools",
            "mode": "required",
            "tools": [{"type": "function", "name": "run"}],
        },
    },
    "structured": {
        "input": "Hi",
        "text": {
            "format": {
                "type": "json_schema",
                "name": "answer",
                "strict": True,
                "schema": {"type": "object", "properties": {}, "additionalProperties": False},
            }
        },
    },
}


@pytest.mark.parametrize("name", RESPONSES)
async def test_valid_responses_requests_are_taken_by_both(
    name: str, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    body = {"model": responses.MODEL, "stream": True, **RESPONSES[name]}
    response = await responses.post(http, simulator, body)
    assert (responses_problems(body), response.status_code) == ([], 200), response.text


STRUCTURAL_MESSAGES = [
    case for case in anthropic.CASES if case.message.endswith(STRUCTURE[:2]) and not case.headers
]
STRUCTURAL_CHATS = [case for case in chat.CASES if case.message.startswith(STRUCTURE[2:])]
SDK_OPTIONAL = {"no model", "no input", "output of no call"}
"""What the SDK's types leave open, as other uses of the endpoint need it not."""
STRUCTURAL_RESPONSES = [
    case
    for case in responses.CASES
    if case.message.startswith(STRUCTURE[2:]) and case.name not in SDK_OPTIONAL
]


@pytest.mark.parametrize("case", STRUCTURAL_MESSAGES, ids=lambda case: case.name)
def test_sdk_types_refuse_what_the_messages_schema_refuses(case: anthropic.Case) -> None:
    body: Json = {"model": "m", "max_tokens": 9, "messages": [anthropic.USER], "stream": True}
    body |= case.body
    sent = json.dumps({key: value for key, value in body.items() if value is not ...})
    assert anthropic_problems(json.loads(sent))


@pytest.mark.parametrize("case", STRUCTURAL_CHATS, ids=lambda case: case.name)
def test_sdk_types_refuse_what_the_chat_schema_refuses(case: chat.Case) -> None:
    body: Json = {"model": "m", "messages": [chat.USER], "stream": True} | case.body
    sent = json.dumps({key: value for key, value in body.items() if value is not ...})
    assert chat_problems(json.loads(sent))


@pytest.mark.parametrize("case", STRUCTURAL_RESPONSES, ids=lambda case: case.name)
def test_sdk_types_refuse_what_the_responses_schema_refuses(case: chat.Case) -> None:
    body: Json = {"model": "m", "input": "Hi", "stream": True} | case.body
    sent = json.dumps({key: value for key, value in body.items() if value is not ...})
    assert responses_problems(json.loads(sent))

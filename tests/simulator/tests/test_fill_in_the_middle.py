"""Tests of the fill-in-the-middle endpoints: refusals as strict as the vendors', and replies."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.simulator import Simulator

MISTRAL = "/v1/fim/completions"
DEEPSEEK = "/beta/completions"
LLAMA = "/infill"
OLLAMA = "/api/generate"
GOOD: dict[str, dict[str, Any]] = {
    MISTRAL: {"model": "codestral-latest", "prompt": "a", "suffix": "b", "max_tokens": 9},
    DEEPSEEK: {"model": "deepseek-v4-flash", "prompt": "a", "suffix": "b", "max_tokens": 9},
    LLAMA: {"input_prefix": "a", "input_suffix": "b", "n_predict": 9},
    OLLAMA: {"model": "sim-plain", "prompt": "a", "suffix": "b", "stream": False},
}


async def ask(simulator: Simulator, path: str, body: dict[str, Any], key: str) -> httpx.Response:
    headers = {"authorization": f"Bearer {key}"} if key else {}
    async with httpx.AsyncClient() as client:
        return await client.post(f"{simulator.url}{path}", json=body, headers=headers)


@pytest.mark.parametrize(
    ("path", "change", "status", "words"),
    [
        (MISTRAL, {"n": 3}, 422, "Extra inputs"),
        (MISTRAL, {"temperature": 2.0}, 422, "temperature"),
        (MISTRAL, {"model": "mistral-large-latest"}, 400, "Invalid model"),
        (DEEPSEEK, {"max_tokens": 5_000}, 400, "max_tokens"),
        (DEEPSEEK, {"thinking": {"type": "disabled"}}, 400, "thinking"),
        (DEEPSEEK, {"model": "deepseek-chat"}, 400, "Invalid model"),
        (LLAMA, {"input_suffix": None}, 400, "input_suffix"),
        (LLAMA, {"max_tokens": 9}, 400, "max_tokens"),
        (OLLAMA, {"model": "sim-llama"}, 400, "does not support insert"),
        (OLLAMA, {"input_suffix": "b"}, 400, "unknown field"),
        (OLLAMA, {"raw": True, "system": "s"}, 400, "raw mode"),
    ],
)
async def test_what_the_vendor_refuses_is_refused(
    path: str, change: dict[str, Any], status: int, words: str
) -> None:
    async with Simulator() as simulator:
        simulator.default("text")
        refused = await ask(simulator, path, {**GOOD[path], **change}, simulator.key)
        accepted = await ask(simulator, path, GOOD[path], simulator.key)

    assert (refused.status_code, accepted.status_code) == (status, 200)
    assert words in refused.text


@pytest.mark.parametrize("path", [MISTRAL, DEEPSEEK])
async def test_a_wrong_key_is_refused(path: str) -> None:
    async with Simulator() as simulator:
        statuses = [
            (await ask(simulator, path, GOOD[path], key)).status_code for key in ("", "wrong")
        ]

    assert statuses == [401, 401]


async def test_answers_in_one_piece_have_each_vendors_form() -> None:
    async with Simulator() as simulator:
        simulator.default("text")
        found = {
            path: (await ask(simulator, path, body, simulator.key)).json()
            for path, body in GOOD.items()
        }

    assert found[MISTRAL]["choices"][0]["message"]["content"] == "text"
    assert found[DEEPSEEK]["choices"][0]["text"] == "text"
    assert found[LLAMA]["content"] == "text"
    assert found[OLLAMA]["response"] == "text"


async def test_a_stream_of_deepseek_reports_usage_only_when_it_is_asked_to() -> None:
    async with Simulator() as simulator:
        simulator.default("some text")
        body = {**GOOD[DEEPSEEK], "stream": True}
        plain = await ask(simulator, DEEPSEEK, body, simulator.key)
        counted = await ask(
            simulator,
            DEEPSEEK,
            {**body, "stream_options": {"include_usage": True}},
            simulator.key,
        )

    assert "usage" not in plain.text
    assert json.loads(counted.text.split("data: ")[-2])["usage"]["total_tokens"] > 0
    assert counted.text.endswith("data: [DONE]\n\n")

"""Scripts, knobs, control routes, and the simulator as a process."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.simulator import (
    Delivery,
    Rule,
    Simulator,
    Text,
    ToolUse,
    When,
    reply,
)

BODY: dict[str, Any] = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "Fix it"}]}


async def ask(http: httpx.AsyncClient, simulator: Simulator, **more: Any) -> httpx.Response:
    headers = {"authorization": f"Bearer {simulator.key}"}
    return await http.post("/v1/chat/completions", json={**BODY, **more}, headers=headers)


async def answer(http: httpx.AsyncClient, simulator: Simulator, **more: Any) -> str:
    response = await ask(http, simulator, **more)
    return response.json()["choices"][0]["message"]["content"]


async def test_replies_come_first_then_rules_then_the_default(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.script("first", lambda request: request.user_text.upper())
    simulator.rules(Rule(when=When(user="^fix"), reply=reply("by rule")))
    texts = [await answer(http, simulator) for _ in range(3)]
    other = await answer(http, simulator, messages=[{"role": "user", "content": "Other"}])
    assert [*texts, other] == ["first", "FIX IT", "by rule", "Hello there"]


async def test_rule_can_ask_for_a_tool_result(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    simulator.rules(
        Rule(when=When(tool_result="NameError"), reply=reply("I see the error")),
        Rule(when=When(has_results=False), reply=reply(ToolUse(name="run", id="c"))),
    )
    tools = [{"type": "function", "function": {"name": "run"}}]
    first = (await ask(http, simulator, tools=tools)).json()["choices"][0]["message"]
    result = {"role": "tool", "tool_call_id": "c", "content": "NameError: x"}
    messages = [*BODY["messages"], first, result]
    assert await answer(http, simulator, tools=tools, messages=messages) == "I see the error"


async def test_end_of_the_script_is_an_error(http: httpx.AsyncClient, simulator: Simulator) -> None:
    simulator.reset()
    response = await ask(http, simulator)
    assert response.status_code == 500
    assert "no reply" in response.json()["error"]["message"]


async def raw_stream(http: httpx.AsyncClient, simulator: Simulator, delivery: Delivery) -> bytes:
    simulator.script(reply("Hello there", delivery=delivery))
    return (await ask(http, simulator, stream=True)).content


async def test_knobs_change_the_bytes(http: httpx.AsyncClient, simulator: Simulator) -> None:
    plain = await raw_stream(http, simulator, Delivery())
    marked = await raw_stream(http, simulator, Delivery(byte_order_mark=True))
    open_end = await raw_stream(http, simulator, Delivery(final_blank_line=False))
    unfinished = await raw_stream(http, simulator, Delivery(ending="no_terminator"))
    assert plain.endswith(b"data: [DONE]\n\n")
    assert marked.startswith(b"\xef\xbb\xbfdata: {")
    assert open_end.endswith(b"data: [DONE]")
    assert b"[DONE]" not in unfinished


@pytest.mark.parametrize("chunk", [1, 2, 3, (1, 5, 2)])
async def test_chunking_keeps_the_bytes(
    chunk: Any, http: httpx.AsyncClient, simulator: Simulator
) -> None:
    plain = await raw_stream(http, simulator, Delivery())
    cut = await raw_stream(http, simulator, Delivery(chunk=chunk))
    assert numbers_out(cut) == numbers_out(plain)


def numbers_out(stream: bytes) -> list[bytes]:
    return [line.partition(b'"object"')[2] for line in stream.split(b"\n")]


async def test_line_of_ten_megabytes_arrives(http: httpx.AsyncClient, simulator: Simulator) -> None:
    simulator.script(reply(Text(text="x" * 10_000_000, split="whole")))
    stream = (await ask(http, simulator, stream=True)).content
    assert max(len(line) for line in stream.split(b"\n")) > 10_000_000


async def test_keys_are_not_in_the_records(http: httpx.AsyncClient, simulator: Simulator) -> None:
    await ask(http, simulator)
    listed = (await http.get("/_sim/requests")).json()["requests"]
    assert simulator.key not in json.dumps(listed)
    assert [(one["path"], one["status"]) for one in listed] == [("/v1/chat/completions", 200)]


async def test_control_routes_set_and_forget_the_script(
    http: httpx.AsyncClient, simulator: Simulator
) -> None:
    script = {"replies": [{"parts": [{"kind": "text", "text": "from JSON"}]}]}
    assert (await http.put("/_sim/script", json=script)).json() == {"ok": True}
    assert (await http.post("/_sim/script", json=script)).json() == {"ok": True}
    assert (await http.get("/_sim/status")).json() == {"ok": True, "waiting_replies": 2}
    assert await answer(http, simulator) == "from JSON"
    assert (await http.post("/_sim/reset")).json() == {"ok": True}
    assert (await http.get("/_sim/requests")).json() == {"requests": []}
    assert (await http.get("/_sim/nothing")).status_code == 404


async def test_script_with_a_typo_is_refused(http: httpx.AsyncClient) -> None:
    response = await http.put("/_sim/script", json={"replys": []})
    assert response.status_code == 400
    assert response.json()[0]["loc"] == ["replys"]


async def test_what_is_not_http_is_refused(simulator: Simulator) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", int(simulator.url.split(":")[-1]))
    writer.write(b"nonsense\r\n\r\n")
    assert (await reader.readline()).startswith(b"HTTP/1.1 400")
    writer.close()
    await writer.wait_closed()


async def test_simulator_runs_as_a_process(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"default": {"parts": [{"kind": "text", "text": "Hi"}]}}))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.simulator"),
        *("--key", "k", "--script", str(script)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[3],
    )
    assert process.stdout is not None
    try:
        line = (await process.stdout.readline()).decode()
        url = line.removeprefix("Simulator listening on ").strip()
        async with httpx.AsyncClient(base_url=url) as client:
            response = await client.post(
                "/v1/chat/completions", json=BODY, headers={"authorization": "Bearer k"}
            )
        assert response.json()["choices"][0]["message"]["content"] == "Hi"
    finally:
        process.terminate()
        await process.wait()

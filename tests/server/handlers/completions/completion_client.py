"""Requests suggestions as a page does, and reads the provider's requests."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx

from tests.server.client import API, Answer, Api
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator.script import Reply

COMPLETIONS = "completions"


def asking(prefix: str, suffix: str = "", **fields: object) -> dict[str, object]:
    """The body of a request, for a Python file unless ``fields`` say otherwise."""
    given = {"request_id": "r1", "path": "work.py", "language": "python", "trigger": "plus"}
    return {**given, "prefix": prefix, "suffix": suffix, **fields}


def suggesting(*texts: str) -> Reply:
    """An answer of a model that is forced to call the tool."""
    return reply(ToolUse(name="answer", arguments=arguments(*texts)))


def arguments(*texts: str) -> dict[str, Any]:
    return {"prefix_end": "", "suffix_start": "EMPTY", "suggestions": list(texts)}


async def suggest(api: Api, prefix: str, suffix: str = "", **fields: object) -> Answer:
    answer = await api.post(COMPLETIONS, asking(prefix, suffix, **fields))
    assert answer.status == 200, answer
    return answer


def sent_text(upstream: Simulator, number: int = -1) -> str:
    """The text of one request to the provider."""
    record = upstream.requests[number]
    assert isinstance(record.body, dict)
    return "\n".join(_strings(cast("Any", record.body)))


def _strings(node: Any) -> list[str]:
    if isinstance(node, str):
        return [node]
    children: list[Any] = []
    if isinstance(node, dict):
        children = list(cast("dict[str, Any]", node).values())
    elif isinstance(node, list):
        children = cast("list[Any]", node)
    return [text for child in children for text in _strings(child)]


class Stream:
    """Received server-sent events."""

    def __init__(self, response: httpx.Response) -> None:
        self._lines = response.aiter_lines()

    async def next(self) -> dict[str, Any] | None:
        """Return the next event; None at the end."""
        name = None
        async for line in self._lines:
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                event = json.loads(value)
                assert event["type"] == name
                return event
        return None

    async def rest(self) -> list[dict[str, Any]]:
        """Return all remaining events."""
        found: list[dict[str, Any]] = []
        while (event := await self.next()) is not None:
            found.append(event)
        return found


@asynccontextmanager
async def streaming(
    url: str, headers: Mapping[str, str], body: Mapping[str, object]
) -> AsyncGenerator[Stream]:
    """Request a stream; leaving the context closes the connection."""
    target = f"{url}{'/'.join(API)}/{COMPLETIONS}"
    given = {**headers, "Accept": "text/event-stream"}
    async with (
        httpx.AsyncClient(timeout=None) as client,
        client.stream("POST", target, headers=given, json=dict(body)) as response,
    ):
        assert response.status_code == 200, await response.aread()
        yield Stream(response)

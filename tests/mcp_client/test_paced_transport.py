"""The bound on lists and objects of one event, whatever ends its lines."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2
import pytest

from jupyter_ai_shoulders.mcp_client import paced_transport
from jupyter_ai_shoulders.mcp_client.paced_transport import PacedTransport

EVENT = "event: message\ndata: [[[[]]]]\n\n"


class Pieces(httpx2.AsyncByteStream):
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece

    async def aclose(self) -> None:
        pass


async def read(pieces: list[bytes]) -> bytes:
    def answer(_: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, stream=Pieces(pieces))

    transport = PacedTransport(httpx2.MockTransport(answer))
    async with httpx2.AsyncClient(transport=transport) as client:
        return (await client.get("http://127.0.0.1/")).content


@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_each_event_has_the_bound_for_itself(
    end: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paced_transport, "MAX_PARTS", 6)
    event = EVENT.replace("\n", end).encode()
    assert await read([event] * 5) == event * 5
    with pytest.raises(httpx2.SSEError, match="lists and objects"):
        await read([event[:-20], b"[[[", b"[[[", b"[[["])

"""A caller that does not read its streamed answer is disconnected, and its call ends."""

import asyncio
import json
import socket

import pytest

from jupyter_ai_shoulders.server.handlers.stream_writer import StreamWriter
from jupyter_ai_shoulders.server.proxy.handlers import AnswerHandler
from tests.server.client import Api
from tests.server.proxy.conftest import CLAUDE
from tests.simulator import Simulator, reply


async def test_a_caller_that_does_not_read_is_disconnected(
    api: Api,
    upstream: Simulator,
    http_server_port: tuple[socket.socket, int],
    jp_base_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StreamWriter, "stalled_seconds", 0.2)
    monkeypatch.setattr("jupyter_ai_shoulders.server.handlers.stream_writer.MAX_UNSENT", 1 << 12)
    left = asyncio.Event()
    closed = AnswerHandler.on_connection_close

    def noted(handler: AnswerHandler) -> None:
        closed(handler)
        left.set()

    monkeypatch.setattr(AnswerHandler, "on_connection_close", noted)
    upstream.script(reply("word " * 5_000))
    body = json.dumps(
        {
            "model": CLAUDE,
            "max_tokens": 64_000,
            "stream": True,
            "messages": [{"role": "user", "content": "talk"}],
        }
    )
    listening, port = http_server_port  # its connections have buffers of the same size
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 12)
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 12)
    plain.connect(("127.0.0.1", port))
    reader, writer = await asyncio.open_connection(sock=plain, limit=1 << 12)
    writer.write(
        f"POST {jp_base_url}shoulders/proxy/v1/messages HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{port}\r\nAuthorization: {api.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
    )

    async with asyncio.timeout(60):
        await left.wait()
        got = await reader.read(-1)

    writer.close()
    assert b"200 OK" in got
    assert b"message_stop" not in got

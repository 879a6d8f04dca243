"""The simulated server: HTTP on 127.0.0.1, the key, and faults by script.

In a test::

    async with QdrantSimulator() as simulator:
        store = QdrantVectorStore(QdrantServer(simulator.url, simulator.key), "chunks", "ada")
        simulator.fail(Status(503))

The socket and HTTP are those of the simulator of model services.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, assert_never

from pydantic import ValidationError

from tests.retrieval.vectors.qdrant_simulator.routes import Routes
from tests.simulator.http import (
    BadHttp,
    ConnectionProtocol,
    HttpConnection,
    HttpRequest,
    head_bytes,
)
from tests.simulator.refusal import RequestRefused


@dataclass(frozen=True)
class Status:
    """Answer with this status and message instead."""

    status: int
    message: str = "Service internal error: broken on purpose"


@dataclass(frozen=True)
class Hang:
    """Never answer; with ``after`` the request is carried out first."""

    after: bool = False


@dataclass(frozen=True)
class Cut:
    """Carry the request out, and close the connection in the middle of the answer."""


@dataclass(frozen=True)
class Body:
    """Answer with status 200 and this body instead."""

    content: bytes


Fault = Status | Hang | Cut | Body
_JSON = {"content-type": "application/json"}


class QdrantSimulator:
    """A server with one key. Use as an async context manager."""

    def __init__(self, key: str | None = "qdrant-sim-key") -> None:
        self.key = key
        self.routes = Routes()
        self.requests: list[HttpRequest] = []
        self.refusals: list[str] = []
        """Requests that the store should not have sent; tests expect none."""
        self.url = ""
        self._faults: deque[Fault | None] = deque()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def fail(self, fault: Fault, *, after: int = 0) -> None:
        """Apply a fault to one request, ``after`` this many that are answered."""
        self._faults.extend([*(None,) * after, fault])

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ConnectionProtocol(self._accept), "127.0.0.1", 0
        )
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, connection: HttpConnection) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: HttpConnection) -> None:
        try:
            while (request := await connection.read_request()) is not None:
                self.requests.append(request)
                if not await self._exchange(connection, request):
                    return
        except (ConnectionError, BadHttp) as error:
            self.refusals.append(str(error))
        finally:
            await connection.close()

    async def _exchange(self, connection: HttpConnection, request: HttpRequest) -> bool:
        """Answer a request or apply a fault; return whether the connection is still usable."""
        fault = self._faults.popleft() if self._faults else None
        match fault:
            case None:
                await connection.send(self._answer(request))
            case Status(status, message):
                await connection.send(_error(status, message))
            case Body(content):
                await connection.send(_whole(200, content))
            case Cut():
                answer = self._answer(request)
                await connection.send(answer[:-10])
                return False
            case Hang(after):
                if after:
                    self._answer(request)
                await connection.gone.wait()
                return False
            case _:
                assert_never(fault)
        return True

    def _answer(self, request: HttpRequest) -> bytes:
        sent = request.headers.get("api-key")
        if sent != self.key:
            return _whole(401, b"Must provide an API key or an Authorization bearer token", {})
        try:
            return _whole(200, self.routes.answer(request))
        except RequestRefused as refused:
            if refused.status not in {404, 409}:
                self.refusals.append(refused.message)
            return _error(refused.status, refused.message)
        except (ValidationError, LookupError, TypeError, ValueError) as error:
            self.refusals.append(str(error))
            return _error(400, f"Format error in JSON body: {error}")


def _error(status: int, message: str) -> bytes:
    body: dict[str, Any] = {"status": {"error": message}, "time": 0.000_1}
    return _whole(status, json.dumps(body).encode())


def _whole(status: int, body: bytes, headers: dict[str, str] = _JSON) -> bytes:
    return head_bytes(status, {**headers, "content-length": str(len(body))}) + body

"""The server of all simulated services on 127.0.0.1, as an async context manager or a process."""

from __future__ import annotations

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, cast

from jupyter_ai_shoulders.core.web_services import ServiceId
from tests.simulator.http import (
    BadHttp,
    ConnectionProtocol,
    HttpConnection,
    HttpRequest,
    head_bytes,
)
from tests.simulator.services.answers import Fault, Refused, ServiceAnswer, failing_answer
from tests.simulator.services.papers import crossref_works, openalex
from tests.simulator.services.registers import (
    arxiv,
    crossref_work,
    datacite,
    doi_org,
    open_library,
)
from tests.simulator.services.web_search import brave, exa, searxng, tavily
from tests.simulator.services.zotero import zotero

Handler = Callable[[HttpRequest], ServiceAnswer]


def _crossref(request: HttpRequest) -> ServiceAnswer:
    search = request.path.rstrip("/") == "/works"
    return crossref_works(request) if search else crossref_work(request)


HANDLERS: Mapping[ServiceId, Handler] = {
    "openalex": openalex,
    "exa": exa,
    "crossref": _crossref,
    "datacite": datacite,
    "arxiv": arxiv,
    "openlibrary": open_library,
    "doi": doi_org,
    "brave": brave,
    "tavily": tavily,
    "searxng": searxng,
    "zotero": zotero,
}


class ServiceSimulator:
    """All services; ``requests`` are those received, by service."""

    def __init__(self, *, port: int = 0) -> None:
        self.handlers: dict[ServiceId, Handler] = dict(HANDLERS)
        """A test may put a handler of its own here."""
        self.requests: dict[ServiceId, list[HttpRequest]] = defaultdict(list)
        self._faults: dict[ServiceId, list[Fault | None]] = defaultdict(list)
        self._always: dict[ServiceId, Fault] = {}
        self._refusing: set[ServiceId] = set()
        self._port = port
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def fail(self, service: ServiceId, fault: Fault, times: int | None = None) -> None:
        """Fail this many times, else always."""
        if times is None:
            self._always[service] = fault
        else:
            self._faults[service].extend(fault for _ in range(times))

    def recover(self, service: ServiceId) -> None:
        """Answer properly again."""
        self._faults.pop(service, None)
        self._always.pop(service, None)
        self._refusing.discard(service)

    def refuse_connections(self, service: ServiceId) -> None:
        """Let ``trait`` lead to a port where nobody listens; call before it is used."""
        self._refusing.add(service)

    def url(self, service: ServiceId) -> str:
        """The base address of a service."""
        port = 9 if service in self._refusing else self._port
        return f"http://127.0.0.1:{port}/{service}"

    @property
    def trait(self) -> dict[str, Any]:
        """A value of ``Shoulders.services``."""
        return {service: {"base_url": self.url(service)} for service in self.handlers}

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        self._server = await asyncio.get_running_loop().create_server(
            lambda: ConnectionProtocol(self._accept), "127.0.0.1", self._port
        )
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening and drop every connection."""
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
        with contextlib.suppress(ConnectionError, BadHttp):
            request = await connection.read_request()
            if request is not None:
                await self._answer(connection, request)
        await connection.close()

    async def _answer(self, connection: HttpConnection, request: HttpRequest) -> None:
        name, _, path = request.path.lstrip("/").partition("/")
        service = cast("ServiceId", name)
        if service not in self.handlers:
            await _send(connection, ServiceAnswer(b"no such service", 404))
            return
        inner = HttpRequest(
            request.method, f"/{path}", request.query, request.headers, request.body
        )
        self.requests[service].append(inner)
        fault = self._next_fault(service)
        if fault == "slow":
            await connection.gone.wait()
        elif fault == "reset":
            connection.reset()
        elif fault == "cut":
            await _send(connection, self._handled(service, inner), cut=True)
        else:
            answer = self._handled(service, inner) if fault is None else failing_answer(fault)
            await _send(connection, answer)

    def _next_fault(self, service: ServiceId) -> Fault | None:
        waiting = self._faults[service]
        return waiting.pop(0) if waiting else self._always.get(service)

    def _handled(self, service: ServiceId, request: HttpRequest) -> ServiceAnswer:
        try:
            return self.handlers[service](request)
        except Refused as refused:
            return refused.answer


async def _send(connection: HttpConnection, answer: ServiceAnswer, *, cut: bool = False) -> None:
    head = {**answer.headers, "Content-Length": str(len(answer.body)), "Connection": "close"}
    body = answer.body[: len(answer.body) // 2] if cut else answer.body
    await connection.send(head_bytes(answer.status, head) + body)

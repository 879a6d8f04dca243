"""Handlers of the proxy: authenticate, hand the body to the relay, write what comes back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.core.errors import ProviderError, ShouldersError, TooLarge
from jupyter_ai_shoulders.proxy.caller_format import CallerFormat
from jupyter_ai_shoulders.proxy.relay import Exchange, Relay
from jupyter_ai_shoulders.server.base import HostSource, ShouldersHandler, error_of, info_of
from jupyter_ai_shoulders.server.body import MAX_BODY_BYTES
from jupyter_ai_shoulders.server.proxy.desk import Desk
from jupyter_ai_shoulders.server.proxy.outlet import EVENT_STREAM, Outlet

KEY_HEADERS = ("x-api-key", "x-goog-api-key")
PING_SECONDS = 15.0
"""After so long without an event the caller gets a sign of life: hub proxies cut after 60 s."""
_NO_TOKEN = "Send the Jupyter server's token as the API key of your client."  # noqa: S105 a sentence

ResultT = TypeVar("ResultT")


class ProxyHandler(ShouldersHandler):
    """Base of the proxy's handlers: any client's way to send the token, errors in its format."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``desk`` and ``caller``."""
        super().initialize(host_source)
        self.desk: Desk = route["desk"]
        self.caller: CallerFormat = route["caller"]
        self.request_id = self.desk.ids.new("req")
        self._work: asyncio.Task[Any] | None = None

    async def prepare(self) -> None:
        """Authenticate as Jupyter does; the vendors' own headers may hold the token too."""
        headers = self.request.headers
        given = next((headers[name] for name in KEY_HEADERS if name in headers), None)
        if given is not None and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {given}"
        try:
            await super().prepare()
        except web.HTTPError as error:
            if error.status_code == 403 and not self.current_user:
                raise web.HTTPError(401, _NO_TOKEN) from error
            raise
        self._identify()

    @property
    def relay(self) -> Relay:
        """The way to the providers."""
        return self.desk.relay(self.host.models)

    @property
    def raw(self) -> bytes:
        """The request's body. Raises ``TooLarge``."""
        size = len(self.request.body)
        if size > MAX_BODY_BYTES:
            raise TooLarge(
                f"The request has {size >> 20} MB; at most {MAX_BODY_BYTES >> 20} MB are accepted."
            )
        return self.request.body

    async def while_connected(self, work: Coroutine[Any, Any, ResultT]) -> ResultT | None:
        """Return the result of the work; None when the client left, which ends it."""
        task = self._work = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        return None if task.cancelled() else task.result()

    def on_connection_close(self) -> None:
        """The client went away: so does its call to the provider."""
        if self._work is not None:
            self._work.cancel()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the error in the caller's format, and when to try again."""
        error = error_of(kwargs)
        refused = self.caller.refused(info_of(status_code, error), self.request_id)
        self.set_status(refused.status)
        self._identify()
        if isinstance(error, ShouldersError):
            self.set_header("x-should-retry", "true" if error.info.retryable else "false")
        if isinstance(error, ProviderError) and error.retry_after_ms is not None:
            self.set_header("retry-after-ms", str(error.retry_after_ms))
            self.set_header("retry-after", str(-(-error.retry_after_ms // 1000)))
        self.finish(refused.body)

    def _identify(self) -> None:
        self.set_header("request-id", self.request_id)
        self.set_header("x-request-id", self.request_id)


class AnsweringHandler(ProxyHandler):
    """Base of handlers that pass a request on."""

    stream_type = EVENT_STREAM

    async def answer_request(self) -> None:
        """Pass the request on and answer, as a stream if it asks for one."""
        with self.desk.place():
            exchange = self.relay.open(self.caller, self.raw)
            if exchange.streams:
                await self.while_connected(self._stream(exchange))
            else:
                body = await self.while_connected(exchange.whole())
                if body is not None:
                    self.finish(body)

    async def _stream(self, exchange: Exchange) -> None:
        outlet = Outlet(self, self.stream_type)
        alive = asyncio.create_task(_keep_alive(exchange, outlet))
        try:
            await self._copy(exchange, outlet)
        finally:
            alive.cancel()
        await outlet.drain()
        self.finish()

    async def _copy(self, exchange: Exchange, outlet: Outlet) -> None:
        try:
            async with contextlib.aclosing(exchange.stream()) as stream:
                async for data in stream:
                    outlet.push(data)
                    await outlet.room()
        except Exception as error:
            if not outlet.begun:
                raise
            self.log.exception("A streamed answer of the model proxy broke")
            outlet.push(exchange.fail(info_of(500, error)))


class AnswerHandler(AnsweringHandler):
    """``v1/messages`` and ``v1/chat/completions``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Pass the request on and answer."""
        await self.answer_request()


async def _keep_alive(exchange: Exchange, outlet: Outlet) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(max(outlet.last + PING_SECONDS - loop.time(), 0.1))
        if loop.time() - outlet.last >= PING_SECONDS:
            outlet.push(exchange.idle())


class CountHandler(ProxyHandler):
    """``v1/messages/count_tokens``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Say about how many tokens a request is."""
        self.finish({"input_tokens": self.relay.count(self.caller, self.raw)})


class ModelListHandler(ProxyHandler):
    """``v1/models``, in the format the client speaks."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado; ``others`` are the formats of clients that send these headers."""
        super().initialize(host_source, **route)
        others: Mapping[str, CallerFormat] = route["others"]
        known = (caller for header, caller in others.items() if header in self.request.headers)
        self.caller = next(known, self.caller)

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the models that can answer."""
        self.finish(self.relay.models(self.caller))

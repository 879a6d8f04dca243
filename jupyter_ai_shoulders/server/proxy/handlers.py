"""Handlers of the proxy: authenticate, pass the body to the relay, write the answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from jupyter_server.auth import User
from jupyter_server.auth.decorator import authorized
from tornado import web
from tornado.iostream import StreamClosedError

from jupyter_ai_shoulders.core.errors import NotFound, ProviderError, ShouldersError
from jupyter_ai_shoulders.host.external_agents.proxy_access import PREFIX, ProxyGrant
from jupyter_ai_shoulders.proxy.relay import ProxyRelay, RelayedRequest
from jupyter_ai_shoulders.proxy.wire_format import WireFormat
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelIdentity
from jupyter_ai_shoulders.server.auth.user_identity import ANONYMOUS
from jupyter_ai_shoulders.server.handlers.base import (
    HostSource,
    ShouldersHandler,
    UnknownRouteHandler,
    error_info,
    raised_error,
)
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.server.handlers.stream_writer import EVENT_STREAM, StreamWriter
from jupyter_ai_shoulders.server.proxy.request_limiter import RequestLimiter
from jupyter_ai_shoulders.wire.ids import ModelId

KEY_HEADERS = ("x-api-key", "x-goog-api-key")
MAX_PROXIED_VALUES = 50_000
"""Maximum JSON values in a request: a long conversation and its tools have some ten thousand."""
PING_SECONDS = 15.0
"""After this long without an event the caller gets a ping: hub proxies cut after 60 s."""
_NO_KEY = (
    "Send the Jupyter server's token, or the secret of a kernel, as the API key of your client."
)

ResultT = TypeVar("ResultT")


class ProxyHandler(ShouldersHandler):
    """Base of the proxy's handlers: accepts every client's way to send a token, answers errors in
    its format.
    """

    max_body_bytes = MAX_BODY_BYTES
    max_body_values = MAX_PROXIED_VALUES

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``limiter`` and ``caller``.

        ``formats_by_header`` are the formats of clients that send these headers.
        """
        super().initialize(host_source)
        self.limiter: RequestLimiter = route["limiter"]
        formats_by_header: Mapping[str, WireFormat] = route.get("formats_by_header", {})
        known = (
            caller for header, caller in formats_by_header.items() if header in self.request.headers
        )
        self.caller: WireFormat = next(known, route["caller"])
        self.request_id = self.limiter.ids.new("req")
        self._work: asyncio.Task[Any] | None = None
        self._agent: ProxyGrant | None = None

    async def prepare(self) -> None:
        """Authenticate as Jupyter does, or by the secret of a kernel or an agent."""
        given = list(self._given_keys())
        if given and "Authorization" not in self.request.headers:
            self.request.headers["Authorization"] = f"token {given[0]}"
        users = filter(None, map(self.limiter.secrets.user_of, given))
        self._kernel = next(map(KernelIdentity, users), None)
        self._agent = await self._agent_of(given)
        if self._agent is not None:
            self._kernel = KernelIdentity(User(self._agent.owner or ANONYMOUS))
        try:
            await super().prepare()
        except web.HTTPError as error:
            by_key = bool(self.current_user) and self.token_authenticated
            if error.status_code in {403, 404} and not by_key:  # 404: a page of another origin
                raise web.HTTPError(401, _NO_KEY) from error
            raise
        if not self.current_user:  # Jupyter leaves the refusal to each method
            raise web.HTTPError(401, _NO_KEY)
        self._identify()

    async def _agent_of(self, given: Iterable[str]) -> ProxyGrant | None:
        """Return the agent in the panel whose secret is given."""
        for secret in given:
            if secret.startswith(PREFIX):
                host = await self._host_source()
                return host.protocols.proxy_access.find(secret)
        return None

    def set_cors_headers(self) -> None:
        """Leave them out: Jupyter would admit any page that knows a token."""

    def options(self, *args: Any, **kwargs: Any) -> None:
        """Refuse: pages of other origins may not use the proxy."""
        del args, kwargs
        raise web.HTTPError(405)

    def _given_keys(self) -> Iterator[str]:
        """Yield possible keys, as the different clients send them."""
        headers = self.request.headers
        kind, _, key = headers.get("Authorization", "").partition(" ")
        if kind.lower() in {"bearer", "token"}:
            yield key.strip()
        yield from (headers[name] for name in KEY_HEADERS if name in headers)

    @property
    def relay(self) -> ProxyRelay:
        """The relay to the providers."""
        session_id = None if self._agent is None else self._agent.session_id
        return self.limiter.relay(self.host.models, self.user, session_id)

    async def count(self) -> int | None:
        """Return the request's number of tokens; None when the client disconnected."""
        with self.limiter.slot():
            return await self.while_connected(self.relay.count(self.caller, self.request.body))

    async def while_connected(self, work: Coroutine[Any, Any, ResultT]) -> ResultT | None:
        """Return the result of the work; None when the client disconnected, which ends it."""
        task = self._work = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        return None if task.cancelled() else task.result()

    def on_connection_close(self) -> None:
        """Cancel the call to the provider: the client disconnected."""
        if self._work is not None:
            self._work.cancel()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer with the error in the caller's format, and when to try again."""
        error = raised_error(kwargs)
        refused = self.caller.refused(error_info(status_code, error), self.request_id)
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


class RelayHandler(ProxyHandler):
    """Base of handlers that relay a request."""

    stream_type = EVENT_STREAM

    async def answer_request(self) -> None:
        """Relay the request and answer, as a stream if it asks for one."""
        with self.limiter.slot():
            exchange = self.relay.open(self.caller, self.request.body)
            if exchange.streams:
                await self.while_connected(self._stream(exchange))
            else:
                body = await self.while_connected(exchange.complete())
                if body is not None:
                    self.finish(body)

    async def _stream(self, exchange: RelayedRequest) -> None:
        writer = StreamWriter(self, self.stream_type)
        alive = asyncio.create_task(_keep_alive(exchange, writer))
        try:
            await self._copy(exchange, writer)
            await writer.drain()
        except StreamClosedError:
            self.log.info("A client of the model proxy does not read its answer, or left")
            return
        finally:
            alive.cancel()
        self.finish()

    async def _copy(self, exchange: RelayedRequest, writer: StreamWriter) -> None:
        try:
            async with contextlib.aclosing(exchange.stream()) as stream:
                async for data in stream:
                    writer.push(data)
                    await writer.wait_for_capacity()
        except StreamClosedError:
            raise  # the client has disconnected
        except Exception as error:
            if not writer.has_started:
                raise
            self.log.exception("A streamed answer of the model proxy broke")
            writer.push(exchange.fail(error_info(500, error)))


class AnswerHandler(RelayHandler):
    """``v1/messages``, ``v1/chat/completions`` and ``v1/responses``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Relay the request and answer."""
        await self.answer_request()


async def _keep_alive(exchange: RelayedRequest, writer: StreamWriter) -> None:
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(max(writer.last + PING_SECONDS - loop.time(), 0.1))
        if loop.time() - writer.last >= PING_SECONDS:
            writer.push(exchange.idle())


class CountHandler(ProxyHandler):
    """``v1/messages/count_tokens``."""

    beside: Mapping[str, str] = {}
    """Constant fields beside the number."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Count the tokens of a request."""
        tokens = await self.count()
        if tokens is not None:
            self.finish({**self.beside, "input_tokens": tokens})


class InputTokensHandler(CountHandler):
    """``v1/responses/input_tokens``."""

    beside: Mapping[str, str] = {"object": "response.input_tokens"}


class ModelListHandler(ProxyHandler):
    """``v1/models``, in the format the client speaks."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the available models."""
        self.finish(self.relay.models(self.caller))


class ModelHandler(ProxyHandler):
    """``v1/models/{id}``, in the format the client speaks."""

    @web.authenticated
    @authorized
    async def get(self, model_id: str) -> None:
        """Describe a model."""
        self.finish(self.relay.model(self.caller, ModelId(model_id)))


class UnknownProxyRouteHandler(ProxyHandler, UnknownRouteHandler):
    """Everything else below the proxy's root: a 404 in the format the client speaks."""

    def refusal(self) -> NotFound:
        """Return the error that answers every request."""
        return NotFound(
            f"The model proxy has no route {self.request.method} {self.request.path}.",
            code="unknown_route",
            hint="It answers requests and lists models; nothing is stored that could be asked for.",
        )

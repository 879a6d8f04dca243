"""Routes that are imported on the first request, so that a server start does not pay for them.

Used by ``server.app``. pydantic, the wire models and the engine cost 0.5 s of import, in a thread:
kernels and other extensions share the event loop.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from importlib import import_module
from typing import Any

from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    HTTPServerRequest,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.routing import Router, RuleRouter
from tornado.web import Application, ErrorHandler, RequestHandler

_log = logging.getLogger(__name__)

Route = tuple[str, type[RequestHandler], dict[str, Any]]


class LazyRoutes(Router):
    """Placeholder in the application's routing table for routes that are not loaded yet."""

    SUPPORTED_METHODS: tuple[str, ...] = ()
    """Jupyter looks here for methods that lack authentication. It finds none, so the tests
    enumerate the real handlers instead."""

    def __init__(
        self, application: Application, modules: Sequence[str], load: Callable[[], Sequence[Route]]
    ) -> None:
        """``modules`` are imported before ``load`` is called."""
        self._application = application
        self._modules = modules
        self._load = load
        self._routes: RuleRouter | None = None

    def find_handler(self, request: HTTPServerRequest, **_: Any) -> HTTPMessageDelegate | None:
        """Return the handler of a request; tornado calls this for each one below our prefix."""
        if self._routes is None:
            return _Waiting(lambda: self._handler_once_loaded(request))
        return self._routes.find_handler(request)

    async def _handler_once_loaded(self, request: HTTPServerRequest) -> HTTPMessageDelegate:
        """Return the handler of a request once the routes are loaded.

        If they cannot be loaded, the request is answered with 500 and the next one tries again: an
        error raised here would drop the connection without an answer.
        """
        found: HTTPMessageDelegate | None = None
        status = 404
        try:
            for module in self._modules:
                await asyncio.to_thread(import_module, module)
            if self._routes is None:
                self._routes = _LoadedRoutes(self._application, self._load())
            found = self._routes.find_handler(request)
        except Exception:  # noqa: BLE001 - whatever it is, the connection must be answered
            _log.exception("The routes of the AI colleague could not be loaded")
            status = 500
        if found is None:
            failure = {"status_code": status}
            found = self._application.get_handler_delegate(request, ErrorHandler, failure)
        return found


class _Waiting(HTTPMessageDelegate):
    """Passes a request on to its handler, and reads no body before there is one."""

    def __init__(self, find: Callable[[], Awaitable[HTTPMessageDelegate]]) -> None:
        self._find = find
        self._handler: HTTPMessageDelegate | None = None

    async def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        """Find the handler; tornado reads no body before this has ended."""
        self._handler = await self._find()
        ready = self._handler.headers_received(start_line, headers)
        if ready is not None:
            await ready

    def data_received(self, chunk: bytes) -> Awaitable[None] | None:
        """Pass on a piece of the body."""
        assert self._handler is not None, "the head of a request comes first"
        return self._handler.data_received(chunk)

    def finish(self) -> None:
        """Begin to handle the request."""
        assert self._handler is not None, "the head of a request comes first"
        self._handler.finish()

    def on_connection_close(self) -> None:
        """Pass on that the client has gone."""
        if self._handler is not None:
            self._handler.on_connection_close()


class _LoadedRoutes(RuleRouter):
    def __init__(self, application: Application, routes: Sequence[Route]) -> None:
        self._application = application
        super().__init__(list(routes))

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        return self._application.get_handler_delegate(request, target, **target_params)

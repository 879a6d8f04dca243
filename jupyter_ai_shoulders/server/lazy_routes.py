"""Routes that are imported on the first request, so that a server start does not pay for them.

Used by ``server.app``. pydantic, the wire models and the engine cost 0.2 s of import.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Any

from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import Router, RuleRouter
from tornado.web import Application, ErrorHandler, RequestHandler

_log = logging.getLogger(__name__)

Route = tuple[str, type[RequestHandler], dict[str, Any]]


class LazyRoutes(Router):
    """Placeholder in the application's routing table for routes that are not loaded yet."""

    SUPPORTED_METHODS: tuple[str, ...] = ()
    """Jupyter looks here for methods that lack authentication. It finds none, so the tests
    enumerate the real handlers instead."""

    def __init__(self, application: Application, load: Callable[[], Sequence[Route]]) -> None:
        self._application = application
        self._load = load
        self._routes: RuleRouter | None = None

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        """Return the handler of a request; tornado calls this for each one below our prefix.

        If the routes cannot be loaded, the request is answered with 500 and the next one tries
        again: an error raised here would drop the connection without an answer.
        """
        if self._routes is None:
            try:
                self._routes = _LoadedRoutes(self._application, self._load())
            except Exception:  # noqa: BLE001 - whatever it is, the connection must be answered
                _log.exception("The routes of the AI colleague could not be loaded")
                failure = {"status_code": 500}
                return self._application.get_handler_delegate(request, ErrorHandler, failure)
        return self._routes.find_handler(request, **kwargs)


class _LoadedRoutes(RuleRouter):
    def __init__(self, application: Application, routes: Sequence[Route]) -> None:
        self._application = application
        super().__init__(list(routes))

    def get_target_delegate(
        self, target: Any, request: HTTPServerRequest, **target_params: Any
    ) -> HTTPMessageDelegate | None:
        return self._application.get_handler_delegate(request, target, **target_params)

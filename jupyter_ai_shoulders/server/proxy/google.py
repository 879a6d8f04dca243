"""The routes of Google's format, which has the model and the method in the address."""

from __future__ import annotations

from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.proxy.google.format import METHODS, GoogleFormat
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.server.handlers.base import HostSource
from jupyter_ai_shoulders.server.proxy.handlers import ProxyHandler, RelayHandler
from jupyter_ai_shoulders.wire.ids import ModelId

KEY_HEADER = "x-goog-api-key"
"""Header that identifies callers of this format, where others have the same route."""

CALL = rf"v1(?:alpha|beta)?/((?:models|tunedModels)/.+):({'|'.join(METHODS)})"
"""A model's id may have slashes and colons: only a path that ends in a method is a call."""


class GoogleCallHandler(RelayHandler):
    """``v1beta/models/{model}:generateContent`` and its relatives; the SDK also uses ``v1``."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``limiter`` and ``sealer``."""
        self._sealer: StateSealer = route["sealer"]
        super().initialize(host_source, limiter=route["limiter"], caller=GoogleFormat(self._sealer))

    @web.authenticated
    @authorized
    async def post(self, resource: str, method: str) -> None:
        """Relay the request, or estimate its tokens."""
        events = self.get_query_argument("alt", "json") == "sse"
        caller = GoogleFormat(self._sealer, model_of(resource), method, events=events)
        if method == "countTokens":
            self.caller = caller
            tokens = await self.count()
            if tokens is not None:
                self.finish({"totalTokens": tokens})
            return
        self.stream_type = "text/event-stream" if events else "application/json"
        self.caller = caller
        await self.answer_request()


class GoogleModelHandler(ProxyHandler):
    """``v1beta/models/{model}``."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``limiter`` and ``sealer``."""
        self._format = GoogleFormat(route["sealer"])
        super().initialize(host_source, limiter=route["limiter"], caller=self._format)

    @web.authenticated
    @authorized
    async def get(self, resource: str) -> None:
        """Describe a model."""
        self.finish(self.relay.model(self._format, ModelId(model_of(resource))))


def model_of(resource: str) -> str:
    """Return the model's id; ids of tuned models keep their prefix."""
    return resource.removeprefix("models/")

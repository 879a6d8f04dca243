"""``completions``: suggestions for a caret, whole or as an event stream, and a log of the requests
sent.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.assist.inline_completion.service import CompletionUpdate
from jupyter_ai_shoulders.server.handlers.base import HostSource, ShouldersHandler
from jupyter_ai_shoulders.server.handlers.stream_writer import EVENT_STREAM, StreamWriter
from jupyter_ai_shoulders.storage.json_encoding import encode_model
from jupyter_ai_shoulders.wire.api.completions import CompletionEnd, RequestCompletions


class CompletionsHandler(ShouldersHandler):
    """``completions``."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route."""
        super().initialize(host_source, **route)
        self._task: asyncio.Task[None] | None = None

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show the user's latest model requests, redacted."""
        self.answer_redacted(self.host.inline_completion.request_log.of(self.user))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Answer with the suggestions; a client that disconnects ends the call to the provider."""
        asked = self.body(RequestCompletions)
        streams = EVENT_STREAM in self.request.headers.get("Accept", "")
        work = self._stream(asked) if streams else self._whole(asked)
        task = self._task = asyncio.create_task(work)
        try:
            await asyncio.wait({task})
        finally:
            task.cancel()
        if not task.cancelled():
            task.result()

    def on_connection_close(self) -> None:
        """Cancel the call to the provider: the client disconnected."""
        if self._task is not None:
            self._task.cancel()

    async def _whole(self, request: RequestCompletions) -> None:
        async with contextlib.aclosing(
            self.host.inline_completion.suggest(request, self.user)
        ) as events:
            async for event in events:
                if isinstance(event, CompletionEnd):
                    self.answer(event)

    async def _stream(self, request: RequestCompletions) -> None:
        writer = StreamWriter(self)
        async with contextlib.aclosing(
            self.host.inline_completion.suggest(request, self.user)
        ) as events:
            async for event in events:
                writer.push(_sent(event))
        await writer.drain()
        self.finish()


class CompletionHandler(ShouldersHandler):
    """``completions/{request_id}``."""

    @web.authenticated
    @authorized
    async def delete(self, request_id: str) -> None:
        """Cancel a request; unknown and finished ones are ignored."""
        self.host.inline_completion.cancel(request_id, self.user)
        self.no_content()


def _sent(event: CompletionUpdate) -> bytes:
    """Return a server-sent event; JSON has no line breaks."""
    return f"event: {event.type}\ndata: {encode_model(event)[1]}\n\n".encode()

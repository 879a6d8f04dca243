"""In-memory log of the requests sent for suggestions, so that users can inspect them.

Holds the latest requests of each user; filled by ``service``, shown by
``server.handlers.completions``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import datetime

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.providers.base import ModelRequest, ResolvedModel
from jupyter_ai_shoulders.wire.api.completions import (
    RequestCompletions,
    SentCompletion,
    SentCompletions,
)

MAX_REQUESTS = 20
"""Requests of one user."""


@dataclass(frozen=True, slots=True, eq=False)
class SentRequest:
    """One request to a model; ``calls`` is how often it was sent."""

    command: RequestCompletions
    at: datetime
    resolved: ResolvedModel
    request: ModelRequest
    calls: int

    def view(self) -> SentCompletion:
        """Return the request as shown to its user."""
        spec, request = self.resolved.spec, self.request
        return SentCompletion(
            request_id=self.command.request_id,
            at=timestamp(self.at),
            path=self.command.path,
            trigger=self.command.trigger,
            model=spec.id,
            provider=spec.provider,
            calls=self.calls,
            system=request.system,
            messages=request.messages,
            suffix=None if request.fill_in is None else request.fill_in.suffix,
            tools=request.tools,
            response_schema=request.response_schema,
        )


class CompletionRequestLog:
    """The latest requests of each user."""

    def __init__(self, clock: Clock, most: int = MAX_REQUESTS) -> None:
        self._clock = clock
        self._most = most
        self._requests: dict[str | None, deque[SentRequest]] = {}

    def add(
        self,
        command: RequestCompletions,
        owner: str | None,
        resolved: ResolvedModel,
        request: ModelRequest,
        calls: int,
    ) -> None:
        """Log a request that is about to be sent."""
        kept = self._requests.setdefault(owner, deque(maxlen=self._most))
        kept.appendleft(SentRequest(command, self._clock.now(), resolved, request, calls))

    def forget(self, command: RequestCompletions, owner: str | None) -> None:
        """Remove a request that the budget refused, so it was not sent."""
        kept = self._requests.get(owner, deque[SentRequest]())
        for sent in [each for each in kept if each.command is command]:
            kept.remove(sent)

    def of(self, owner: str | None) -> SentCompletions:
        """Return the requests of one user, newest first."""
        return SentCompletions(
            requests=tuple(sent.view() for sent in self._requests.get(owner, deque[SentRequest]()))
        )

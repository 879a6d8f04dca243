"""The port of a caller's format; implemented by the packages beside it, used by ``relay``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyAccumulator, ReplyEvent
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """An error as an HTTP response."""

    status: int
    body: bytes


class ReplyWriter(Protocol):
    """Writes one reply as a stream; all bytes are whole events."""

    def begin(self, usage: TokenUsage) -> bytes:
        """Return the opening events; ``usage`` is the usage known so far."""
        ...

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in the caller's format; often nothing."""
        ...

    def idle(self) -> bytes:
        """Return a keep-alive for a stream that has been silent for a while."""
        ...

    def fail(self, info: ErrorInfo) -> bytes:
        """Return an error that ends the stream."""
        ...


class WireFormat(Protocol):
    """One format of requests, responses and errors."""

    def read(self, raw: bytes) -> ProxyRequest:
        """Decode a request. Raises ``InvalidRequest``."""
        ...

    def writer(self, request: ProxyRequest, reply_id: str) -> ReplyWriter:
        """Return the writer of a streamed response."""
        ...

    def body(self, request: ProxyRequest, reply_id: str, answer: ReplyAccumulator) -> bytes:
        """Return the complete response."""
        ...

    def refused(self, info: ErrorInfo, request_id: str) -> ErrorResponse:
        """Return an error as a response."""
        ...

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models."""
        ...

    def model(self, model: ModelInfo) -> bytes:
        """Return the model."""
        ...

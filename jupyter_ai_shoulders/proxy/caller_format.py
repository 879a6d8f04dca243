"""The port of a caller's format; implemented by each folder beside this file, used by ``relay``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.proxy.answer import Answer, ReplyEvent
from jupyter_ai_shoulders.proxy.asked import Asked
from jupyter_ai_shoulders.wire.api import ModelInfo
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class Refused:
    """An error as an HTTP answer."""

    status: int
    body: bytes


class ReplyWriter(Protocol):
    """Writes one answer as a stream; all bytes are whole events."""

    def begin(self, usage: TokenUsage) -> bytes:
        """Return what comes before all events; ``usage`` is what is known of it by now."""
        ...

    def feed(self, event: ReplyEvent) -> bytes:
        """Return the event in the caller's format; often nothing."""
        ...

    def idle(self) -> bytes:
        """Return a sign of life for a stream that has been silent for long."""
        ...

    def fail(self, info: ErrorInfo) -> bytes:
        """Return an error that ends the stream."""
        ...


class CallerFormat(Protocol):
    """One format of requests, answers and errors."""

    def read(self, raw: bytes) -> Asked:
        """Decode a request. Raises ``InvalidRequest``."""
        ...

    def writer(self, asked: Asked, reply_id: str) -> ReplyWriter:
        """Return what writes the answer as a stream."""
        ...

    def body(self, asked: Asked, reply_id: str, answer: Answer) -> bytes:
        """Return the answer in one piece."""
        ...

    def refused(self, info: ErrorInfo, request_id: str) -> Refused:
        """Return an error as an answer."""
        ...

    def models(self, models: Sequence[ModelInfo]) -> bytes:
        """Return the list of models."""
        ...

    def model(self, model: ModelInfo) -> bytes:
        """Return the model."""
        ...

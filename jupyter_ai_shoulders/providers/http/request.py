"""One call to a model service: sends it, checks that the response is a stream, and decodes it.

Shared by all adapters between their ``encode`` and ``decode``; used by their ``provider``.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.core.token_estimates import estimate_request, estimate_text
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    PartDelta,
    ProviderEvent,
    Stop,
    ToolArgumentsDelta,
    UsageReport,
)
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.error_mapping import (
    CalledService,
    Refusal,
    refusal_error,
    request_id,
)
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.streaming.sse import LineTooLong, ServerSentEvent, SseDecoder
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_list, as_object
from jupyter_ai_shoulders.wire.errors import ErrorCode
from jupyter_ai_shoulders.wire.usage import TokenUsage

if TYPE_CHECKING:
    from jupyter_ai_shoulders.providers.http.client import HttpResponse

DRAIN_SECONDS = 0.05
"""Wait for the end of a completed stream, so that its connection can be reused."""

_NOT_STREAMS = (
    "application/json",
    "text/html",
    "application/xhtml+xml",
    "application/problem+json",
)

ReadRefusal = Callable[[int | None, VendorObject], Refusal]
"""Reads an error: HTTP status (None inside a 200) and JSON object (empty when there was none)."""


class StreamErrorEvent(Exception):
    """Raised by a decoder for an error inside the stream."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.sentence)
        self.refusal = refusal


class StreamDecoder(Protocol):
    """An adapter's decoder of its stream."""

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Decode one event. Raises ``StreamErrorEvent``."""
        ...

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Decode ``[DONE]``."""
        ...

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Report the usage of a complete response that came instead of a stream."""
        ...

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """The stream ended without a stop; yield one only if the server is known to do that."""
        ...


class Framing(Protocol):
    """Splits bytes into the texts of events."""

    def feed(self, chunk: bytes) -> list[ServerSentEvent]:
        """Return the events that ``chunk`` completes. Raises ``LineTooLong``."""
        ...

    def close(self) -> list[ServerSentEvent]:
        """Return the unterminated last event, if there is one; its data may be cut off."""
        ...


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """The parts of an adapter that read responses."""

    decoder: StreamDecoder
    read_refusal: ReadRefusal
    framing: Callable[[], Framing] = SseDecoder


async def stream_events(
    endpoint: Endpoint, request: ModelRequest, call: HttpRequest, dialect: StreamFormat
) -> AsyncGenerator[ProviderEvent]:
    """Send the call and yield its events, ending with exactly one ``Stop``.

    Usage is estimated from ``request`` where the provider reports none. Raises ``ProviderError``.
    """
    with _reported(endpoint):
        async with endpoint.upstream.send(call) as answer:
            if answer.status != 200 or answer.content_type in _NOT_STREAMS:
                found = _object(await answer.body())
                if answer.status == 200:  # some gateways send a complete response; its usage counts
                    for event in dialect.decoder.whole(found):
                        yield event
                raise _refusal(answer, call.service, dialect.read_refusal, found)
            usage = _Usage(request, endpoint.model.family)
            reading = _Reading(call.service, answer, dialect, usage)
            async with contextlib.aclosing(answer.chunks()) as chunks:
                async for chunk in chunks:
                    for event in reading.feed(chunk):
                        yield event
                    if reading.stopped:
                        await _drain(chunks)
                        return
            for event in reading.close():
                yield event


async def fetch_json(
    endpoint: Endpoint, call: HttpRequest, read_refusal: ReadRefusal
) -> VendorObject:
    """Send the call and return the JSON object of the response. Raises ``ProviderError``."""
    with _reported(endpoint):
        async with endpoint.upstream.send(call) as answer:
            found = _object(await answer.body())
            if answer.status != 200 or not found or found.get("error") is not None:
                raise _refusal(answer, call.service, read_refusal, found)
            return found


@contextlib.contextmanager
def _reported(endpoint: Endpoint) -> Generator[None]:
    """Report the outcome of the call to the provider's health; an early close reports nothing."""
    try:
        yield
    except ProviderError as error:
        endpoint.report(error)
        raise
    endpoint.report(None)


class _Reading:
    """Decodes the bytes of one response; knows whether the terminal event was among them."""

    def __init__(
        self, service: CalledService, answer: HttpResponse, dialect: StreamFormat, usage: _Usage
    ) -> None:
        self._service = service
        self._answer = answer
        self._decoder = dialect.decoder
        self._usage = usage
        self._framing = dialect.framing()
        self.stopped = False

    def feed(self, chunk: bytes) -> Iterator[ProviderEvent]:
        try:
            for sent in self._framing.feed(chunk):
                yield from self._until_stop(self._translate(sent))
                if self.stopped:
                    return
        except LineTooLong as error:
            what = f"a line of the answer is longer than {error.limit >> 20} MB"
            raise self._fail("provider_protocol", what) from error
        except ValueError as error:
            raise self._fail("provider_protocol", "an event is not valid JSON") from error

    def close(self) -> Iterator[ProviderEvent]:
        try:
            for sent in self._framing.close():
                yield from self._until_stop(self._translate(sent))
        except ValueError as error:
            raise self._truncated() from error
        if not self.stopped:
            yield from self._until_stop(self._decoder.end_of_stream())
        if not self.stopped:
            raise self._truncated()

    def _until_stop(self, events: Iterable[ProviderEvent]) -> Iterator[ProviderEvent]:
        for event in events:
            self._usage.note(event)
            if isinstance(event, Stop):
                self.stopped = True
                yield from self._usage.missing()
                yield event
                return
            yield event

    def _translate(self, sent: ServerSentEvent) -> Iterable[ProviderEvent]:
        text = sent.data.strip()
        if not text:
            return ()
        if text.startswith("[DONE]"):
            return self._decoder.end_marker()
        return self._decode(_parse(text))

    def _decode(self, data: VendorObject) -> Iterator[ProviderEvent]:
        try:
            yield from self._decoder.feed(data)
        except StreamErrorEvent as error:
            answer = self._answer
            raise refusal_error(self._service, 500, answer.headers, error.refusal) from error

    def _truncated(self) -> ProviderError:
        return self._fail("stream_truncated", "the answer ended too early", retryable=True)

    def _fail(self, code: ErrorCode, what: str, *, retryable: bool = False) -> ProviderError:
        found = request_id(self._answer.headers)
        return self._service.fail(code, what, retryable=retryable, request_id=found)


class _Usage:
    """Tracks whether usage was reported, and estimates it otherwise."""

    def __init__(self, request: ModelRequest, family: TokenFamily) -> None:
        self._request = request
        self._family: TokenFamily = family
        self._reported = False
        self._shown: list[str] = []

    def note(self, event: ProviderEvent) -> None:
        if isinstance(event, UsageReport):
            self._reported = True
        elif isinstance(event, (PartDelta, ToolArgumentsDelta)) and not self._reported:
            self._shown.append(event.text)

    def missing(self) -> Iterator[ProviderEvent]:
        if self._reported:
            return
        sent = self._request
        prompt = estimate_request(sent.system, sent.messages, sent.tools, self._family)
        if sent.fill_in is not None:
            prompt += estimate_text(sent.fill_in.suffix, self._family)
        output = estimate_text("".join(self._shown), self._family)
        yield UsageReport(TokenUsage(input_tokens=prompt, output_tokens=output, estimated=True))


def _parse(text: str) -> VendorObject:
    """Return the object; an empty one for JSON of another type. Raises ``ValueError``."""
    try:
        return _unwrapped(json.loads(text))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _object(body: bytes) -> VendorObject:
    """Return the object of a body, an empty one where it is not JSON."""
    try:
        return _unwrapped(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _unwrapped(found: Any) -> VendorObject:
    """Return the object; Google and some gateways wrap errors in a list of one."""
    items = as_list(found)
    return as_object(items[0] if len(items) == 1 else found)


def _refusal(
    answer: HttpResponse, service: CalledService, read_refusal: ReadRefusal, found: VendorObject
) -> ProviderError:
    """Return the error of an unexpected response: a refusal, or no response of the API."""
    if 300 <= answer.status < 400:
        return _not_the_api(answer, service, "a redirection to another address")
    if answer.status != 200:
        return refusal_error(
            service, answer.status, answer.headers, read_refusal(answer.status, found)
        )
    if found.get("error") is not None or found.get("object") == "error":
        return refusal_error(service, 500, answer.headers, read_refusal(None, found))
    if found:
        return _not_the_api(answer, service, "a whole answer although a stream was asked for")
    what = "a web page" if "html" in answer.content_type else "something that is not the API's"
    return _not_the_api(answer, service, what)


def _not_the_api(answer: HttpResponse, service: CalledService, what: str) -> ProviderError:
    return service.fail(
        "provider_protocol",
        f"the address answered with {what}",
        status=answer.status,
        request_id=request_id(answer.headers),
    )


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    """Read to the end, briefly; errors are ignored, as the reply was complete."""
    with contextlib.suppress(TimeoutError, ProviderError):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in chunks:
                pass

"""Decoding and capability check shared by all fill-in-the-middle endpoints.

Used by the providers of ``openai_chat`` and ``ollama``, and by ``registry``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ProviderSpec
from jupyter_ai_shoulders.providers.base import (
    ModelRequest,
    ProviderEvent,
    Stop,
    StopReason,
    UsageReport,
)
from jupyter_ai_shoulders.providers.formats.server_profiles import profile_of
from jupyter_ai_shoulders.providers.http.request import ReadRefusal, StreamErrorEvent
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.vendor_json import VendorObject
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.usage import TokenUsage


@dataclass(frozen=True, slots=True)
class FillPiece:
    """The content of one event of a stream."""

    text: str = ""
    ended: StopReason | None = None
    """Why the text ends, in the event that tells."""
    is_last: bool = False
    """Whether this is the last relevant event."""
    usage: TokenUsage | None = None


class FillDecoder:
    """Decodes one stream, see ``http.request.StreamDecoder``."""

    def __init__(
        self,
        assembler: Assembler,
        read: Callable[[VendorObject], FillPiece],
        read_refusal: ReadRefusal,
    ) -> None:
        self._assembler = assembler
        self._read = read
        self._read_refusal = read_refusal
        self._ended: StopReason | None = None

    def feed(self, data: VendorObject) -> Iterable[ProviderEvent]:
        """Translate one event. Raises ``StreamErrorEvent``."""
        if data.get("error") is not None or data.get("object") == "error":
            raise StreamErrorEvent(self._read_refusal(None, data))
        piece = self._read(data)
        yield from self._assembler.delta("text", piece.text)
        self._ended = piece.ended or self._ended
        if piece.usage is not None:
            yield UsageReport(piece.usage)
        if piece.is_last:
            yield from self._end()

    def end_marker(self) -> Iterable[ProviderEvent]:
        """Decode ``[DONE]``: the end, if a reason was given."""
        yield from self._end()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Return nothing: these services do not report the usage of a complete response."""
        del answer
        return ()

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """Return nothing: the stream was cut off."""
        return ()

    def _end(self) -> Iterator[ProviderEvent]:
        if self._ended is not None:
            yield from self._assembler.finish(self._ended)
            yield Stop(self._ended)


def text_before(request: ModelRequest) -> str:
    """Return the text before the gap."""
    parts = (part for message in request.messages for part in message.parts)
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def supports_fill_in(spec: ModelSpec, provider: ProviderSpec) -> bool:
    """Return whether the model supports fill-in-the-middle."""
    match provider.kind:
        case "ollama":
            return spec.fill_in
        case "openai_chat":
            return spec.fill_in and profile_of(provider).fill_in is not None
        case _:
            return False

"""What fill-in-the-middle endpoints share: the text of a request, and streams that are only text.

Used by the providers of ``openai_chat`` and ``ollama``; ``registry`` asks which servers have one.
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
    """What one event of a stream says."""

    text: str = ""
    ended: StopReason | None = None
    """Why the text ends, in the event that says so."""
    is_last: bool = False
    """Whether nothing follows that counts."""
    usage: TokenUsage | None = None


class FillDecoder:
    """Translates one stream (``exchange.StreamDecoder``)."""

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
        """Translate ``[DONE]``: the end, if a reason was given."""
        yield from self._end()

    def whole(self, answer: VendorObject) -> Iterable[ProviderEvent]:
        """Nothing: these services do not say what a whole answer used."""
        del answer
        return ()

    def end_of_stream(self) -> Iterable[ProviderEvent]:
        """Nothing: the stream was cut."""
        return ()

    def _end(self) -> Iterator[ProviderEvent]:
        if self._ended is not None:
            yield from self._assembler.finish(self._ended)
            yield Stop(self._ended)


def text_before(request: ModelRequest) -> str:
    """Return the text that the answer follows."""
    parts = (part for message in request.messages for part in message.parts)
    return "".join(part.text for part in parts if isinstance(part, TextPart))


def supports_fill_in(spec: ModelSpec, provider: ProviderSpec) -> bool:
    """Return whether the model can be asked to fill in the middle of a text."""
    match provider.kind:
        case "ollama":
            return spec.fill_in
        case "openai_chat":
            return spec.fill_in and profile_of(provider).fill_in is not None
        case _:
            return False

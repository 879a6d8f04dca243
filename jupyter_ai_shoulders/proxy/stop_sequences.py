"""Ends a reply at the caller's stop sequences, independent of the provider.

Vendors differ in the stop sequences they accept, so they are applied here, to the events. Used by
``relay``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from jupyter_ai_shoulders.core.catalogue.specs import TokenFamily
from jupyter_ai_shoulders.core.token_estimates import estimate_text
from jupyter_ai_shoulders.providers.base import (
    PartDelta,
    PartEnd,
    PartStart,
    ProviderEvent,
    UsageReport,
)
from jupyter_ai_shoulders.proxy.reply_accumulator import ReplyEvent, StoppedAt
from jupyter_ai_shoulders.wire.ids import PartId
from jupyter_ai_shoulders.wire.usage import TokenUsage


async def until_stop_sequence(
    events: AsyncIterator[ProviderEvent], stops: tuple[str, ...], family: TokenFamily
) -> AsyncGenerator[ReplyEvent]:
    """Yield the events up to the first stop sequence, which is left out."""
    cutter = StopSequenceFilter(stops, family)
    async for event in events:
        for passed in cutter.feed(event):
            yield passed
        if cutter.found:
            return


class StopSequenceFilter:
    """Scans the text; holds back an end that may begin a stop sequence."""

    def __init__(self, stops: tuple[str, ...], family: TokenFamily) -> None:
        self._stops = stops
        self._family: TokenFamily = family
        self._part: PartId | None = None
        self._held = ""
        self._shown: list[str] = []
        self._usage = TokenUsage()
        self.found = False

    def feed(self, event: ProviderEvent) -> Iterator[ReplyEvent]:
        """Return the events that can be passed on."""
        match event:
            case PartStart(kind="text"):
                self._part = event.part_id
                yield event
            case PartDelta() if event.part_id == self._part:
                yield from self._text(event)
            case PartEnd() if event.part_id == self._part:
                yield from self._show(self._held)
                self._part, self._held = None, ""
                yield event
            case UsageReport():
                self._usage = event.usage
                yield event
            case _:
                yield event

    def _text(self, event: PartDelta) -> Iterator[ReplyEvent]:
        text = self._held + event.text
        places = [(text.find(stop), stop) for stop in self._stops if stop in text]
        if places:
            place, stop = min(places)
            yield from self._show(text[:place])
            yield PartEnd(event.part_id)
            yield UsageReport(self._used())
            yield StoppedAt(stop)
            self.found = True
            return
        keep = max((_overlap(text, stop) for stop in self._stops), default=0)
        shown, self._held = text[: len(text) - keep], text[len(text) - keep :]
        yield from self._show(shown)

    def _show(self, text: str) -> Iterator[ReplyEvent]:
        if text and self._part is not None:
            self._shown.append(text)
            yield PartDelta(self._part, text)

    def _used(self) -> TokenUsage:
        """Return the usage so far: the provider's own count comes at the end, which is not read."""
        output = estimate_text("".join(self._shown), self._family)
        known = self._usage.output_tokens
        estimate = {"output_tokens": max(known, output), "estimated": True}
        return self._usage.model_copy(update=estimate)


def _overlap(text: str, stop: str) -> int:
    """Return how many characters at the end of ``text`` may begin ``stop``."""
    longest = min(len(text), len(stop) - 1)
    return next((n for n in range(longest, 0, -1) if text.endswith(stop[:n])), 0)

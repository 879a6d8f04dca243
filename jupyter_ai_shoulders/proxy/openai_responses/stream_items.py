"""The items of a streamed response: their events before, with and after the text.

Used by ``stream``, which adds the index of the item and the sequence number of the event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from jupyter_ai_shoulders.providers.base import PartEnd, ToolCallReady, ToolCallStart
from jupyter_ai_shoulders.proxy.openai_responses.response_body import (
    JsonItem,
    call_arguments,
    call_item,
    message_item,
    reasoning_item,
    summary_part,
    text_part,
)
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer


class StreamedItem(Protocol):
    """One item; ``pieces`` holds its text so far."""

    pieces: list[str]

    @property
    def delta_event(self) -> str | None:
        """The type of its text events; None if the text is not shown."""
        ...

    def opening(self) -> JsonItem:
        """Return the item in its initial state."""
        ...

    def position(self) -> JsonItem:
        """Return the fields of a delta other than its text."""
        ...

    def opening_events(self) -> Iterator[JsonItem]:
        """Yield the events before the first text."""
        ...

    def closing_events(self) -> Iterator[JsonItem]:
        """Yield the events after the last text."""
        ...

    def finish(self, event: PartEnd | ToolCallReady) -> tuple[JsonItem, str | None]:
        """Return the finished item, and the key of its state if another item has to carry it."""
        ...


class StreamedMessage:
    """A message."""

    delta_event = "response.output_text.delta"

    def __init__(self, identity: str) -> None:
        self.pieces: list[str] = []
        self._id = identity
        self._place = {"item_id": identity, "content_index": 0}

    def opening(self) -> JsonItem:
        """See ``StreamedItem``."""
        return {**message_item(self._id, ""), "status": "in_progress", "content": []}

    def position(self) -> JsonItem:
        """See ``StreamedItem``."""
        return {**self._place, "logprobs": []}

    def opening_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        yield {"type": "response.content_part.added", **self._place, "part": text_part("")}

    def closing_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        if not self.pieces:
            yield from self.opening_events()
        text = "".join(self.pieces)
        yield {"type": "response.output_text.done", **self.position(), "text": text}
        yield {"type": "response.content_part.done", **self._place, "part": text_part(text)}

    def finish(self, event: PartEnd | ToolCallReady) -> tuple[JsonItem, str | None]:
        """See ``StreamedItem``."""
        del event
        return message_item(self._id, "".join(self.pieces)), self._id


class StreamedReasoning:
    """Reasoning; its text is a one-part summary, if the caller wants one."""

    def __init__(self, identity: str, request: ProxyRequest, sealer: StateSealer) -> None:
        self.pieces: list[str] = []
        self._id = identity
        self._request = request
        self._sealer = sealer
        self._place = {"item_id": identity, "summary_index": 0}

    @property
    def delta_event(self) -> str | None:
        """See ``StreamedItem``."""
        return "response.reasoning_summary_text.delta" if self._request.show_reasoning else None

    def opening(self) -> JsonItem:
        """See ``StreamedItem``."""
        return reasoning_item(self._id, "", None, self._request, self._sealer)

    def position(self) -> JsonItem:
        """See ``StreamedItem``."""
        return self._place

    def opening_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        if self._request.show_reasoning:
            kind = "response.reasoning_summary_part.added"
            yield {"type": kind, **self._place, "part": summary_part("")}

    def closing_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        if not self._request.show_reasoning or not self.pieces:
            return
        kind, text = "response.reasoning_summary", "".join(self.pieces)
        yield {"type": f"{kind}_text.done", **self._place, "text": text}
        yield {"type": f"{kind}_part.done", **self._place, "part": summary_part(text)}

    def finish(self, event: PartEnd | ToolCallReady) -> tuple[JsonItem, str | None]:
        """See ``StreamedItem``."""
        text = "".join(self.pieces)
        return reasoning_item(self._id, text, event.state, self._request, self._sealer), None


class StreamedCall:
    """A call."""

    delta_event = "response.function_call_arguments.delta"

    def __init__(self, identity: str, call: ToolCallStart) -> None:
        self.pieces: list[str] = []
        self._id = identity
        self._call = call

    def opening(self) -> JsonItem:
        """See ``StreamedItem``."""
        nothing_yet = ToolCallReady(self._call.call_id, self._call.tool, None, "", "not whole yet")
        return {**call_item(self._id, nothing_yet), "status": "in_progress"}

    def position(self) -> JsonItem:
        """See ``StreamedItem``."""
        return {"item_id": self._id}

    def opening_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        yield from ()

    def closing_events(self) -> Iterator[JsonItem]:
        """See ``StreamedItem``."""
        arguments = "".join(self.pieces)
        kind = "response.function_call_arguments.done"
        yield {"type": kind, **self.position(), "arguments": arguments}

    def finish(self, event: PartEnd | ToolCallReady) -> tuple[JsonItem, str | None]:
        """See ``StreamedItem``."""
        assert isinstance(event, ToolCallReady)
        self.pieces = [call_arguments(event)]
        return call_item(self._id, event), event.call_id

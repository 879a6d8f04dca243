"""The record of a finished case for its checks: log, requests, disk and kernel."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation.reducer import reduce_events
from jupyter_ai_shoulders.wire.conversation.views import Conversation
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import ModelMessage, TextPart, ToolResultPart, UserMessage
from jupyter_ai_shoulders.wire.sessions import Session

EventT = TypeVar("EventT", bound=ev.Event)


@dataclass(frozen=True, slots=True)
class CaseRecord:
    """The record of one run of a case."""

    root: Path
    before: Mapping[str, bytes]
    """The files of the workspace before the run."""
    session: Session
    events: Sequence[ev.Event]
    requests: Sequence[ModelRequest]
    """The requests to the model."""
    risks: Mapping[str, ev.Risk]
    """Risks of all tools."""
    kernel: Mapping[str, str]
    """``repr`` of the expressions of ``Case.inspects``, or the error."""

    def of(self, kind: type[EventT]) -> list[EventT]:
        """Return the events of a type."""
        return [event for event in self.events if isinstance(event, kind)]

    def calls(self) -> dict[CallId, ev.ToolCall]:
        """Return the model's calls by id."""
        return {call.call_id: call for call in self.of(ev.ToolCall)}

    def results(self) -> list[tuple[str, str]]:
        """Return the tool and status of each result, in order."""
        return [(result.tool, result.status) for result in self.of(ev.ToolResult)]

    def errors(self) -> list[tuple[str, str]]:
        """Return the code and the text for the model of each result with an error."""
        return [
            (result.result.error.code, _texts(result.content))
            for result in self.of(ev.ToolResult)
            if result.result.error is not None
        ]

    def changes(self) -> list[str]:
        """Return the titles of changes and runs, as the conversation lists them."""
        done = {result.call_id for result in self.of(ev.ToolResult) if result.status == "ok"}
        return [call.title for call in self.of(ev.ToolCall) if call.call_id in done and _acts(call)]

    def exit(self) -> str:
        """Return how the last turn ended, or the session's status if it has not."""
        ends = self.of(ev.TurnEnd)
        return ends[-1].exit if ends else self.session.status

    @property
    def steps(self) -> int:
        """Number of model calls in all turns."""
        return len(self.of(ev.StepStart))

    @property
    def tokens(self) -> int:
        """Tokens of all model calls, as reported."""
        usages = [update.usage for update in self.of(ev.UsageUpdate)]
        return sum(usage.input_tokens + usage.output_tokens for usage in usages)

    def conversation(self) -> Conversation:
        """Return the conversation as the page shows it."""
        return reduce_events(self.events)

    def model_text(self) -> str:
        """Return all text of the model."""
        return "".join(delta.text for delta in self.of(ev.TextDelta))

    def request_text(self, request: int) -> str:
        """Return the content of the n-th request, from 1, without the model's own messages.

        Negative numbers count from the end; a request that was not made has no content.
        """
        others = [each for each in self._messages(request) if isinstance(each, UserMessage)]
        return _spoken(others)

    def request_history(self, request: int) -> str:
        """Return all texts of a request, including the model's own and summaries."""
        return _spoken(self._messages(request))

    def _messages(self, request: int) -> Sequence[ModelMessage]:
        position = request - 1 if request > 0 else request
        made = -len(self.requests) <= position < len(self.requests)
        return self.requests[position].messages if made else ()

    def notices(self) -> list[str]:
        """Return the codes of the notices to the user."""
        return [notice.code for notice in self.of(ev.Notice)]

    def file(self, path: str) -> bytes | None:
        """Return a file of the workspace, None if it does not exist."""
        file = self.root / path
        return file.read_bytes() if file.is_file() else None

    def cells(self, path: str) -> dict[str, dict[str, Any]]:
        """Return the cells of a notebook on the disk by id, in order."""
        content = json.loads(self.file(path) or b'{"cells": []}')
        return {cell["id"]: cell for cell in content["cells"]}

    def source(self, path: str, cell_id: str) -> str | None:
        """Return the source of a cell on the disk, None if it does not exist."""
        cell = self.cells(path).get(cell_id)
        return None if cell is None else _joined(cell["source"])

    def output(self, path: str, cell_id: str) -> str:
        """Return the printed output and errors of a cell on the disk."""
        cell = self.cells(path).get(cell_id, {})
        pieces = [
            _joined(output.get("text", "")) + output.get("ename", "") + output.get("evalue", "")
            for output in cell.get("outputs", [])
        ]
        return "".join(pieces)


def _spoken(messages: Sequence[ModelMessage]) -> str:
    pieces = [
        part.text if isinstance(part, TextPart) else _texts(part.content)
        for message in messages
        for part in message.parts
        if isinstance(part, TextPart | ToolResultPart)
    ]
    return "\n".join(pieces)


def _acts(call: ev.ToolCall) -> bool:
    return call.risk != "read"


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _texts(content: Sequence[object]) -> str:
    return "\n".join(part.text for part in content if isinstance(part, TextPart))

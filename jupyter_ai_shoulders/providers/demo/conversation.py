"""What the demo reads of a request: the user's words, what was open, what its calls have come to.

Called by ``plan``. The ``<workspace>`` block is written by ``engine.user_message``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.providers.demo.steps import Outcome
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)

NOT_WORDS = ("<workspace>", "<selection", "[attached ")
WORKSPACE_LINE = re.compile(r"^(active document|active cell|open documents):\s*(.+)$", re.MULTILINE)
NOTEBOOK_PATH = re.compile(r"[\w./ -]*?([\w./-]+\.ipynb)")


@dataclass(frozen=True, slots=True)
class Task:
    """One request of the user and how far it has come."""

    words: str
    active_document: str | None
    active_cell: str | None
    open_documents: tuple[str, ...]
    outcomes: tuple[Outcome, ...]
    earlier: str = ""
    """The words of the request before."""

    @property
    def notebook(self) -> str | None:
        """The notebook meant: named, else the active one, else the only one open."""
        named = NOTEBOOK_PATH.search(self.words)
        if named:
            return self._open_as(named[1])
        if self.active_document and self.active_document.endswith(".ipynb"):
            return self.active_document
        notebooks = [path for path in self.open_documents if path.endswith(".ipynb")]
        return notebooks[0] if len(notebooks) == 1 else None

    def _open_as(self, name: str) -> str:
        """Return the path of an open document that ends with the name, else the name."""
        known = [path for path in (self.active_document, *self.open_documents) if path]
        return next((path for path in known if path == name or path.endswith(f"/{name}")), name)


def read_task(messages: Sequence[ModelMessage]) -> Task:
    """Return the latest request in a conversation."""
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    start = requests[-1] if requests else 0
    texts = texts_of(messages[start]) if messages else []
    earlier = texts_of(messages[requests[-2]]) if len(requests) > 1 else []
    workspace = dict(WORKSPACE_LINE.findall("\n".join(texts)))
    listed = workspace.get("open documents", "")
    return Task(
        words=spoken(texts),
        earlier=spoken(earlier),
        active_document=workspace.get("active document"),
        active_cell=workspace.get("active cell"),
        open_documents=tuple(path.strip() for path in listed.split(",") if path.strip()),
        outcomes=tuple(outcomes(messages[start + 1 :])),
    )


def spoken(texts: Sequence[str]) -> str:
    """Return what the user typed, without what was attached."""
    return "\n".join(text for text in texts if not text.startswith(NOT_WORDS)).strip()


def is_request(message: ModelMessage) -> bool:
    """Return whether the user speaks here; notices that ride on results do not count."""
    if not isinstance(message, UserMessage) or not texts_of(message):
        return False
    has_results = any(isinstance(part, ToolResultPart) for part in message.parts)
    return not has_results or any(text.startswith("<workspace>") for text in texts_of(message))


def texts_of(message: ModelMessage) -> list[str]:
    """Return the text parts of a message."""
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def outcomes(messages: Sequence[ModelMessage]) -> Iterator[Outcome]:
    """Yield the outcome of each call that has one, in the order of the calls."""
    results = {
        part.call_id: part
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart)
    }
    for call in calls(messages):
        result = results.get(call.call_id)
        if result is not None:
            yield Outcome(call.tool, result_text(result), result.is_error)


def calls(messages: Sequence[ModelMessage]) -> Iterator[ToolCallPart]:
    """Yield the calls made."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from (part for part in message.parts if isinstance(part, ToolCallPart))


def result_text(result: ToolResultPart) -> str:
    """Return the text of a result."""
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))

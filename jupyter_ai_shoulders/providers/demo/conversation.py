"""Extracts a task from a request: the user's words, open documents and results of calls.

Used by ``planner``. ``engine.transcript.user_message_rendering`` writes the ``<workspace>`` block.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.providers.demo.intents import kind_of_request
from jupyter_ai_shoulders.providers.demo.skill_protocol import CallResult
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

NOT_WORDS = re.compile(r"<[a-z][\w-]*[ >]|\[(?:attached|notice)\b")
LAST_STEP = "[notice] This is the last step"
"""The start of the notice in ``engine.transcript.step_notice`` before a turn's last step."""
ATTACHED_CELL = re.compile(r"^\[attached (?:error output of )?cell (\S+) of ", re.MULTILINE)
QUESTION = re.compile(r"\bWhich [^?\n]*\?")
"""The start of every question of the skills."""
MARKED = re.compile(
    r'\s*<data(?P<mark>[^\n>]*?) source="[^"\n]*">\n(?P<text>.*)\n</data(?P=mark)>\s*', re.DOTALL
)
"""The markers of ``engine.guardrails.untrusted_text`` for text that the user did not write."""
GONE = "none"
"""The value in ``engine.environment.workspace_facts`` of a fact that no longer applies."""
WORKSPACE_LINE = re.compile(r"^(active document|active cell|open documents):\s*(.+)$", re.MULTILINE)
NOTEBOOK_PATH = re.compile(r"[\w./ -]*?([\w./-]+\.ipynb)")


@dataclass(frozen=True, slots=True)
class Task:
    """One request of the user and its progress."""

    words: str
    active_document: str | None
    active_cell: str | None
    open_documents: tuple[str, ...]
    outcomes: tuple[CallResult, ...]
    earlier: str = ""
    """The previous request, with the requests whose questions it answered."""
    answering: bool = False
    """Whether the demo's last answer was a question."""
    tools: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The offered tools with their arguments; empty where the schema lists none."""
    last_step: bool = False
    """Whether this turn allows no further calls."""

    @property
    def notebook(self) -> str | None:
        """The notebook in question: named, else the active one, else the only open one."""
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


def read_task(messages: Sequence[ModelMessage], tools: Sequence[ToolDefinition] = ()) -> Task:
    """Return the latest request of a conversation, and the tools it may use."""
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    start = requests[-1] if requests else 0
    texts = texts_of(messages[start]) if messages else []
    workspace = told_of_workspace(messages[: start + 1])
    listed = workspace.get("open documents", "")
    attached = ATTACHED_CELL.findall("\n".join(texts))
    return Task(
        words=spoken(texts),
        earlier=earlier_words(messages, requests),
        active_document=workspace.get("active document"),
        active_cell=attached[0] if attached else workspace.get("active cell"),
        open_documents=tuple(path.strip() for path in listed.split(",") if path.strip()),
        outcomes=tuple(outcomes(messages[start + 1 :])),
        answering=asked_before(messages[:start]),
        tools={tool.name: properties(tool) for tool in tools},
        last_step=any(text.startswith(LAST_STEP) for text in last_texts(messages)),
    )


def earlier_words(messages: Sequence[ModelMessage], requests: Sequence[int]) -> str:
    """Return the previous request, with the one whose question it answered, and so on."""
    said: list[str] = []
    for index in reversed(requests[:-1]):
        text = spoken(texts_of(messages[index]))
        said.insert(0, text)
        if kind_of_request(text) != "outside" or not asked_before(messages[:index]):
            break
    return ": ".join(said)


def properties(tool: ToolDefinition) -> frozenset[str]:
    """Return the names of a tool's arguments, as far as its schema lists them."""
    listed = tool.parameters.get("properties")
    return frozenset(listed) if isinstance(listed, dict) else frozenset()


def last_texts(messages: Sequence[ModelMessage]) -> list[str]:
    """Return the texts of the latest message."""
    return texts_of(messages[-1]) if messages else []


def asked_before(messages: Sequence[ModelMessage]) -> bool:
    """Return whether the demo's last answer was a question."""
    for message in reversed(messages):
        if isinstance(message, AssistantMessage):
            last = message.parts[-1] if message.parts else None
            if isinstance(last, ToolCallPart):
                return last.tool == "clarify"
            return isinstance(last, TextPart) and QUESTION.search(last.text) is not None
    return False


def told_of_workspace(messages: Sequence[ModelMessage]) -> dict[str, str]:
    """Return the facts of all blocks: the first is complete, later ones have changes."""
    told: dict[str, str] = {}
    for message in messages:
        if isinstance(message, UserMessage):
            blocks = [text for text in texts_of(message) if text.startswith("<workspace>")]
            told.update(line for block in blocks for line in WORKSPACE_LINE.findall(block))
    return {name: text for name, text in told.items() if text != GONE}


def spoken(texts: Sequence[str]) -> str:
    """Return the text the user typed, without attachments and notices."""
    return "\n".join(text for text in texts if not NOT_WORDS.match(text)).strip()


def is_request(message: ModelMessage) -> bool:
    """Return whether a message is the user's; notices with results do not count."""
    if not isinstance(message, UserMessage) or not texts_of(message):
        return False
    if any(text.startswith("<workspace>") for text in texts_of(message)):
        return True
    has_results = any(isinstance(part, ToolResultPart) for part in message.parts)
    return not has_results and spoken(texts_of(message)) != ""


def texts_of(message: ModelMessage) -> list[str]:
    """Return the text parts of a message."""
    return [part.text for part in message.parts if isinstance(part, TextPart)]


def outcomes(messages: Sequence[ModelMessage]) -> Iterator[CallResult]:
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
            yield CallResult(call.tool, result_text(result), result.is_error)


def calls(messages: Sequence[ModelMessage]) -> Iterator[ToolCallPart]:
    """Yield the calls made."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from (part for part in message.parts if isinstance(part, ToolCallPart))


def result_text(result: ToolResultPart) -> str:
    """Return the text of a result, without untrusted-text markers."""
    return "\n".join(unmarked(part.text) for part in result.content if isinstance(part, TextPart))


def unmarked(text: str) -> str:
    """Return a text without untrusted-text markers."""
    found = MARKED.fullmatch(text)
    return found["text"] if found else text

"""Texts of compactions: the input of a summarising model, and the summary without one. Pure.

Used by ``engine.request.compaction``. Both shorten tool results to head and tail. The summary
without a model quotes no tool, so that no text that was read can act as instructions in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import TodoItem
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    ImagePart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserMessage,
)

HEADER = (
    "[Summary of what was said and done between the first message and here. The messages were"
    " left out to make room. Read files and cells again before relying on details of them.]"
)

_UNWRITTEN = "(No model wrote this; it lists what was said and done.)"
_TODO = "Todo list as it was left:"
_IN_FRONT = "In front of the user, as last told:"

SAID_LIMIT = 4_000
"""Characters of one text of the user or the model that a summarising model reads."""
RESULT_LIMIT = 800
"""Characters of one result that it reads."""
ARGUMENTS_LIMIT = 600
TODO_LIMIT = 2_000
QUOTE_LIMIT = 240
"""Characters of one message in a summary made without a model."""

_NOT_SAID = (
    "<workspace>",
    "<data id=",
    "<data source=",
    "<instructions>",
    "<skill name=",
    "<selection",
    "[notice] ",
)
"""Prefixes of texts on the user's side that are not the user's words.

See ``engine.transcript.user_message_rendering``.
"""
_ATTACHED = "[attached "
_TARGETS = ("path", "cell_id", "cell", "command", "url", "pattern", "query")
"""Arguments that name the target of a call, in display order."""


def message_texts(messages: Iterable[ModelMessage]) -> tuple[str, ...]:
    """Return the messages as a summarising model reads them, one text each."""
    return tuple("\n".join(_lines(message)) for message in messages)


def todo_list(items: Iterable[TodoItem]) -> str | None:
    """Return the todo list as text, None without one."""
    lines = (f"{'  ' * item.depth}- [{'x' if item.done else ' '}] {item.text}" for item in items)
    return shorten_text("\n".join(lines), TODO_LIMIT) or None


def format_summary(
    summary: str, facts: Iterable[str], todo: str | None, written_by: str | None
) -> str:
    """Return the text that replaces the messages: header, summary, todo list, workspace facts."""
    by = "" if written_by else _UNWRITTEN
    known = "\n".join(facts)
    parts = [
        HEADER,
        by,
        summary.strip(),
        f"{_TODO}\n{todo}" if todo else "",
        f"{_IN_FRONT}\n{known}" if known else "",
    ]
    return "\n\n".join(filter(None, parts))


def extract_summary(text: str) -> str:
    """Return the summary in what ``format_summary`` wrote."""
    bare = text.removeprefix(HEADER).strip().removeprefix(_UNWRITTEN)
    for title in (_IN_FRONT, _TODO):
        bare = bare.rpartition(f"\n\n{title}\n")[0] or bare
    return bare.strip()


def summarise_without_model(
    messages: Sequence[ModelMessage], previous: str | None, limit: int
) -> str:
    """Return a list of what was said and done, of at most ``limit`` characters.

    The user's words come first and get half of the space; what does not fit is counted. An earlier
    summary keeps a third.
    """
    before = shorten_text(previous, limit // 3) if previous else ""
    room = limit - len(before)
    asked = _bullets((_quote(text) for text in _said(messages)), room // 2)
    room -= len(asked)
    did = _bullets(_tool_lines(messages), room // 2)
    answered = _bullets((_quote(text) for text in _answers(messages)), room - len(did))
    sections = (
        ("", before),
        ("The user said:", asked),
        ("Tools were called:", did),
        ("Answers given:", answered),
    )
    texts = (f"{title}\n{text}".strip() for title, text in sections if text)
    return shorten_text("\n\n".join(texts), limit)


def shorten_text(text: str, limit: int) -> str:
    """Return head and tail of a text that is too long."""
    if len(text) <= limit:
        return text
    gap = f"\n[… {len(text) - limit} characters left out …]\n"
    kept = max(limit - len(gap), 0)
    head = kept - kept // 3
    return (text[:head] + gap + text[len(text) - kept // 3 :])[: max(limit, 0)]


# input of a summarising model


def _lines(message: ModelMessage) -> Iterator[str]:
    speaker = "User" if isinstance(message, UserMessage) else "Colleague"
    for part in message.parts:
        match part:
            case TextPart():
                yield f"{speaker}: {shorten_text(part.text, SAID_LIMIT)}"
            case ImagePart():
                yield f"{speaker}: [image]"
            case ToolCallPart():
                arguments = json.dumps(part.arguments, ensure_ascii=False)
                yield f"Call {part.tool}: {shorten_text(arguments, ARGUMENTS_LIMIT)}"
            case ToolResultPart():
                texts = (item.text for item in part.content if isinstance(item, TextPart))
                state = "failed" if part.is_error else "ok"
                text = shorten_text(" ".join(texts), RESULT_LIMIT)
                yield f"Result of {part.tool} ({state}): {text}"
            case ReasoningPart():
                pass


# summary without a model


def _said(messages: Iterable[ModelMessage]) -> Iterator[str]:
    """Yield the user's own words and the names of attachments."""
    for message in messages:
        if isinstance(message, UserMessage):
            texts = [part.text for part in message.parts if isinstance(part, TextPart)]
            own = [text for text in texts if not text.startswith((*_NOT_SAID, _ATTACHED))]
            named = [text.split("\n", 1)[0] for text in texts if text.startswith(_ATTACHED)]
            if own or named:
                yield " ".join([*own, *named])


def _answers(messages: Iterable[ModelMessage]) -> Iterator[str]:
    """Yield the model's texts without calls: the ends of turns."""
    for message in messages:
        if isinstance(message, AssistantMessage):
            if any(isinstance(part, ToolCallPart) for part in message.parts):
                continue
            text = " ".join(part.text for part in message.parts if isinstance(part, TextPart))
            if text.strip():
                yield text


def _tool_lines(messages: Iterable[ModelMessage]) -> Iterator[str]:
    """Yield each call by tool and target once, with its number of runs and failures."""
    failed = {
        part.call_id
        for message in messages
        for part in message.parts
        if isinstance(part, ToolResultPart) and part.is_error
    }
    made: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for call in _calls(messages):
        name = " ".join(filter(None, (call.tool, _target(call.arguments))))
        made[name] += 1
        wrong[name] += call.call_id in failed
    for name, count in made.items():
        often = f" × {count}" if count > 1 else ""
        errors = f" ({wrong[name]} failed)" if wrong[name] else ""
        yield f"{name}{often}{errors}"


def _calls(messages: Iterable[ModelMessage]) -> Iterator[ToolCallPart]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                yield part


def _target(arguments: JsonObject) -> str:
    values = (arguments.get(name) for name in _TARGETS)
    return " ".join(_quote(str(value)) for value in values if isinstance(value, str | int))


def _quote(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= QUOTE_LIMIT else flat[: QUOTE_LIMIT - 1] + "…"


def _bullets(lines: Iterable[str], limit: int) -> str:
    """Return the lines as a list; of too many, the latest and a count."""
    bullets = [f"- {line}" for line in lines]
    kept: list[str] = []
    length = 0
    for bullet in reversed(bullets):
        length += len(bullet) + 1
        if length > limit - 30:
            break
        kept.append(bullet)
    missing = len(bullets) - len(kept)
    counted = [f"- … and {missing} before"] if missing else []
    return "\n".join([*counted, *reversed(kept)])

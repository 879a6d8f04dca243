"""Decodes a Responses body into the common request. Pure; used by ``format``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, assert_never

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.streaming.assembler import parse_arguments
from jupyter_ai_shoulders.proxy.history import normalize_history, start_with_user_message
from jupyter_ai_shoulders.proxy.openai_chat.decode import EFFORT_LEVELS
from jupyter_ai_shoulders.proxy.openai_responses.reasoning_state import (
    CARRIER,
    ReasoningStateCarrier,
)
from jupyter_ai_shoulders.proxy.openai_responses.schema import (
    AllowedTools,
    AssistantMessageItem,
    CallItem,
    FunctionName,
    FunctionTool,
    InputItem,
    InputPart,
    InputText,
    InstructionItem,
    OutputItem,
    OutputText,
    ReasoningItem,
    ResponsesBody,
    SchemaFormat,
    UserMessageItem,
)
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, SessionId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ImagePart,
    ModelMessage,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

ENCRYPTED = "reasoning.encrypted_content"
_REPEATED: dict[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "max_tool_calls": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "prompt_cache_key": None,
    "safety_identifier": None,
    "service_tier": "default",
    "temperature": 1.0,
    "text": None,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
    "user": None,
}
"""Request fields that a response repeats, with the value for a request that lacks them."""
_OURS = re.compile(r"(?:msg|rs|fc)_(.+)_\d+")
"""The ids made by ``response_body.item_id``; the middle part identifies the reply."""


def decode(body: ResponsesBody, sealer: StateSealer) -> ProxyRequest:
    """Return the request.

    Raises ``InvalidRequest`` for calls and results that do not match, and for a tool choice without
    tools.
    """
    instructions, rest = _split(body)
    reasoning = body.reasoning
    return ProxyRequest(
        model=ModelId(body.model),
        system="\n\n".join(instructions),
        messages=normalize_history(
            start_with_user_message(_Reader(group_answer_items(rest), sealer).messages())
        ),
        tools=tuple(map(_tool, _offered(body))),
        tool_choice=_choice(body),
        parallel_calls=body.parallel_tool_calls is not False,
        thinking=EFFORT_LEVELS[reasoning.effort if reasoning else None],
        max_output=body.max_output_tokens,
        response_schema=_response_schema(body),
        cache_key=SessionId(body.prompt_cache_key) if body.prompt_cache_key else None,
        stream=bool(body.stream),
        show_reasoning=bool(reasoning and (reasoning.summary or reasoning.generate_summary)),
        # Without ``store: false`` the caller expects the service to remember the state of its
        # items.
        carry_state=ENCRYPTED in (body.include or ()) or body.store is None,
        echo=_echo(body),
    )


def _split(body: ResponsesBody) -> tuple[list[str], Sequence[InputItem]]:
    """Return the leading instructions of the conversation, and the rest."""
    instructions = [body.instructions] if body.instructions else []
    for index, item in enumerate(body.input):
        if not isinstance(item, InstructionItem):
            return instructions, body.input[index:]
        instructions.append(_texts(item.content))
    return instructions, ()


def _offered(body: ResponsesBody) -> list[FunctionTool]:
    """Return the tools that may be called."""
    tools = body.tools or []
    choice = body.tool_choice
    if isinstance(choice, AllowedTools):
        allowed = {tool.name for tool in choice.tools}
        return [tool for tool in tools if tool.name in allowed]
    return tools


def _tool(tool: FunctionTool) -> ToolDefinition:
    return ToolDefinition(
        name=tool.name,
        description=tool.description or "",
        parameters=tool.parameters or {"type": "object", "properties": {}},
    )


def _choice(body: ResponsesBody) -> ToolChoice:
    """Return the tool choice. Raises ``InvalidRequest`` where it needs a tool and there is none."""
    choice, names = body.tool_choice, {tool.name for tool in body.tools or ()}
    match choice:
        case None | "auto" | "none":
            return choice or "auto"
        case "required":
            wanted: list[str] = []
        case FunctionName():
            wanted = [choice.name]
        case AllowedTools():
            wanted = [tool.name for tool in choice.tools]
        case _:
            assert_never(choice)
    missing = [name for name in wanted if name not in names]
    if missing or not names:
        what = ", ".join(missing) or "any tool"
        raise InvalidRequest(
            f"Invalid 'tool_choice': not found in 'tools': {what}.", param="tool_choice"
        )
    if isinstance(choice, FunctionName):
        return NamedTool(choice.name)
    return "auto" if isinstance(choice, AllowedTools) and choice.mode == "auto" else AnyTool()


def _response_schema(body: ResponsesBody) -> JsonObject | None:
    wanted = body.text.format if body.text else None
    if wanted is None or wanted.type == "text":
        return None
    return wanted.schema_ if isinstance(wanted, SchemaFormat) else {"type": "object"}


class _Reader:
    """Reads the items of one conversation."""

    def __init__(self, items: Sequence[InputItem], sealer: StateSealer) -> None:
        self._items = items
        self._opened: dict[int, ReasoningPart] = {}
        self._carrier = ReasoningStateCarrier()
        for index, item in enumerate(items):
            if isinstance(item, ReasoningItem) and item.encrypted_content:
                self._open(index, sealer.open(item.encrypted_content))

    def _open(self, index: int, part: ReasoningPart | None) -> None:
        if part is None or part.state is None:
            return
        if part.state.provider == CARRIER:
            self._carrier.take(part.state)
        else:
            self._opened[index] = part

    def messages(self) -> Iterator[ModelMessage]:
        """Yield one message per item."""
        for index, item in enumerate(self._items):
            match item:
                case UserMessageItem():
                    yield UserMessage(parts=tuple(map(_part, item.content)))
                case InstructionItem():
                    yield UserMessage(parts=(TextPart(text=_texts(item.content)),))
                case OutputItem():
                    yield UserMessage(parts=(_result(item),))
                case AssistantMessageItem() | CallItem() | ReasoningItem():
                    part = self._said(index, item)
                    if part is not None:
                        yield AssistantMessage(parts=(part,))
                case _:
                    assert_never(item)

    def _said(
        self, index: int, item: AssistantMessageItem | CallItem | ReasoningItem
    ) -> AssistantPart | None:
        match item:
            case AssistantMessageItem():
                return TextPart(
                    text=_said_text(item), state=self._carrier.states.get(item.id or "")
                )
            case CallItem():
                arguments, _ = parse_arguments(item.arguments)
                return ToolCallPart(
                    call_id=CallId(item.call_id),
                    tool=item.name,
                    arguments=arguments or {},
                    state=self._carrier.states.get(item.call_id),
                )
            case ReasoningItem():
                return self._opened.get(index) or _bare_reasoning(item)
            case _:
                assert_never(item)


def _bare_reasoning(item: ReasoningItem) -> ReasoningPart | None:
    """Return reasoning without a sealed state of ours; None if it has no text."""
    pieces = item.summary or item.content or ()
    text = "\n\n".join(piece.text for piece in pieces if piece.text)
    return ReasoningPart(text=text) if text else None


def _said_text(item: AssistantMessageItem) -> str:
    pieces = (part.text if isinstance(part, OutputText) else part.refusal for part in item.content)
    return "".join(pieces)


def _result(item: OutputItem) -> ToolResultPart:
    return ToolResultPart(
        call_id=CallId(item.call_id),
        tool="",
        content=tuple(map(_part, item.output)),
        is_error=False,
    )


def _part(part: InputPart) -> TextPart | ImagePart:
    if isinstance(part, InputText):
        return TextPart(text=part.text)
    head, _, data = part.image_url.partition(",")
    return ImagePart(media_type=head.removeprefix("data:").removesuffix(";base64"), data=data)


def _texts(parts: Iterable[InputText]) -> str:
    return "\n\n".join(part.text for part in parts)


def _echo(body: ResponsesBody) -> dict[str, Any]:
    """Return the request fields that a response repeats."""
    given = body.model_dump(mode="json", by_alias=True, include=set(_REPEATED))
    unsaid = {name: value for name, value in _REPEATED.items() if given[name] is None}
    reasoning = body.reasoning
    return {
        **given,
        **unsaid,
        "text": {"format": {"type": "text"}, **_without_nulls(given["text"])},
        "reasoning": {
            "effort": reasoning.effort if reasoning else None,
            "summary": (reasoning.summary or reasoning.generate_summary) if reasoning else None,
        },
        "background": False,
        "previous_response_id": None,
        "top_logprobs": 0,
    }


def _without_nulls(value: dict[str, Any] | None) -> dict[str, Any]:
    return {name: item for name, item in (value or {}).items() if item is not None}


def group_answer_items(items: Iterable[InputItem]) -> list[InputItem]:
    """Return the items with the results of calls after the reply that made the calls.

    Callers that run each call at once put its result right behind it; other vendors want the items
    of a reply together, with the reasoning first.
    """
    ordered: list[InputItem] = []
    results: list[InputItem] = []
    answer: str | None = None
    for item in items:
        if isinstance(item, OutputItem):
            results.append(item)
            continue
        name = _answer_of(item)
        if name is None or name != answer:
            ordered += results
            results, answer = [], name
        ordered.append(item)
    return ordered + results


def _answer_of(item: InputItem) -> str | None:
    """Return the name of the reply an item belongs to; None for foreign items."""
    found = _OURS.fullmatch(item.id or "")
    return found.group(1) if found else None

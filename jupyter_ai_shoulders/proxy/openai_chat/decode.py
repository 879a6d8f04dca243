"""Decodes a Chat Completions body into the common request. Pure; used by ``format``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.specs import ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.providers.streaming.assembler import parse_arguments
from jupyter_ai_shoulders.proxy.history import normalize_history, start_with_user_message
from jupyter_ai_shoulders.proxy.openai_chat.schema import (
    AssistantMessageBody,
    CallItem,
    ChatBody,
    ImageItem,
    MessageBody,
    NamedChoice,
    SchemaFormat,
    SystemMessageBody,
    TextItem,
    ToolBody,
    ToolMessageBody,
    UserMessageBody,
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
    ProviderState,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

EXTRA = "shoulders"
"""The key of our entry in a call's ``extra_content``."""

EFFORT_LEVELS: dict[str | None, ThinkingLevel] = {
    None: "default",
    "none": "none",
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}


def decode(body: ChatBody, sealer: StateSealer) -> ProxyRequest:
    """Return the request. Raises ``InvalidRequest`` for calls and results that do not match."""
    system, rest = _split(body.messages)
    return ProxyRequest(
        model=ModelId(body.model),
        system="\n\n".join(_texts(message.content) for message in system),
        messages=normalize_history(
            start_with_user_message(_message(message, sealer) for message in rest)
        ),
        tools=tuple(_tool(tool) for tool in body.tools or ()),
        tool_choice=_choice(body.tool_choice),
        parallel_calls=body.parallel_tool_calls is not False,
        thinking=EFFORT_LEVELS[body.reasoning_effort],
        max_output=body.max_completion_tokens or body.max_tokens,
        response_schema=_response_schema(body),
        cache_key=SessionId(body.prompt_cache_key) if body.prompt_cache_key else None,
        stops=_stops(body.stop),
        stream=bool(body.stream),
        report_usage=bool(body.stream_options and body.stream_options.include_usage),
    )


def _split(
    messages: Sequence[MessageBody],
) -> tuple[list[SystemMessageBody], Sequence[MessageBody]]:
    """Return the leading instructions of the conversation, and the rest."""
    system: list[SystemMessageBody] = []
    for index, message in enumerate(messages):
        if not isinstance(message, SystemMessageBody):
            return system, messages[index:]
        system.append(message)
    return system, ()


def _stops(stop: str | list[str] | None) -> tuple[str, ...]:
    return (stop,) if isinstance(stop, str) and stop else tuple(stop or ())


def _tool(tool: ToolBody) -> ToolDefinition:
    function = tool.function
    return ToolDefinition(
        name=function.name,
        description=function.description or "",
        parameters=function.parameters or {"type": "object", "properties": {}},
    )


def _choice(choice: str | NamedChoice | None) -> ToolChoice:
    if isinstance(choice, NamedChoice):
        return NamedTool(choice.function.name)
    if choice == "required":
        return AnyTool()
    return "none" if choice == "none" else "auto"


def _response_schema(body: ChatBody) -> JsonObject | None:
    wanted = body.response_format
    if wanted is None or wanted.type == "text":
        return None
    if isinstance(wanted, SchemaFormat) and wanted.json_schema.schema_ is not None:
        return wanted.json_schema.schema_
    return {"type": "object"}


def _message(message: MessageBody, sealer: StateSealer) -> ModelMessage:
    match message:
        case SystemMessageBody():
            return UserMessage(parts=(TextPart(text=_texts(message.content)),))
        case UserMessageBody():
            return UserMessage(parts=tuple(_item(item) for item in message.content))
        case ToolMessageBody():
            return UserMessage(parts=(_result(message),))
        case AssistantMessageBody():
            return AssistantMessage(parts=tuple(_assistant(message, sealer)))
        case _:
            assert_never(message)


def _result(message: ToolMessageBody) -> ToolResultPart:
    return ToolResultPart(
        call_id=CallId(message.tool_call_id),
        tool="",
        content=tuple(TextPart(text=item.text) for item in message.content),
        is_error=False,
    )


def _item(item: TextItem | ImageItem) -> TextPart | ImagePart:
    if isinstance(item, TextItem):
        return TextPart(text=item.text)
    head, _, data = item.image_url.url.partition(",")
    return ImagePart(media_type=head.removeprefix("data:").removesuffix(";base64"), data=data)


def _assistant(message: AssistantMessageBody, sealer: StateSealer) -> Iterable[AssistantPart]:
    yield from _reasoning(message, sealer)
    for item in message.content or ():
        yield TextPart(text=item.text if isinstance(item, TextItem) else item.refusal)
    if message.refusal:
        yield TextPart(text=message.refusal)
    for call in message.tool_calls or ():
        arguments, _ = parse_arguments(call.function.arguments)
        yield ToolCallPart(
            call_id=CallId(call.id),
            tool=call.function.name,
            arguments=arguments or {},
            state=_call_state(call, sealer),
        )


def _reasoning(message: AssistantMessageBody, sealer: StateSealer) -> Iterable[ReasoningPart]:
    """Return the reasoning with its sealed state, or else its bare text."""
    sealed = [detail.data for detail in message.reasoning_details or () if detail.data]
    opened = [part for part in map(sealer.open, sealed) if part is not None]
    text = message.reasoning or message.reasoning_content
    return opened or ([ReasoningPart(text=text)] if text else [])


def _call_state(call: CallItem, sealer: StateSealer) -> ProviderState | None:
    extra = call.extra_content
    sealed = extra.get(EXTRA) if isinstance(extra, dict) else None
    opened = sealer.open(sealed) if isinstance(sealed, str) else None
    return None if opened is None else opened.state


def _texts(items: Iterable[TextItem]) -> str:
    return "\n\n".join(item.text for item in items)

"""Decodes a Messages body into the common request. Pure; used by ``format``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from jupyter_ai_shoulders.core.catalogue.specs import ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.proxy.anthropic.schema import (
    AssistantBlock,
    AutoChoice,
    BudgetThinking,
    CountBody,
    DocumentBlock,
    ImageBlock,
    MessageBody,
    MessagesBody,
    NamedChoice,
    NoChoice,
    NoThinking,
    RedactedThinkingBlock,
    ResultItem,
    TextBlock,
    ThinkingBlock,
    ToolResultBlock,
    ToolUseBlock,
    UserBlock,
)
from jupyter_ai_shoulders.proxy.history import normalize_history
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.ids import CallId, ModelId
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
    UserPart,
)

EFFORT_LEVELS: dict[str, ThinkingLevel] = {
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}
LOW_BUDGET = 4_000
MEDIUM_BUDGET = 10_000


def decode(body: CountBody, sealer: StateSealer) -> ProxyRequest:
    """Return the request. Raises ``InvalidRequest`` for calls and results that do not match."""
    whole = body if isinstance(body, MessagesBody) else None
    config = body.output_config
    return ProxyRequest(
        model=ModelId(body.model),
        system="\n\n".join(block.text for block in body.system),
        messages=normalize_history(_message(message, sealer) for message in body.messages),
        tools=tuple(
            ToolDefinition(
                name=tool.name, description=tool.description, parameters=tool.input_schema
            )
            for tool in body.tools
        ),
        tool_choice=_choice(body.tool_choice),
        parallel_calls=not getattr(body.tool_choice, "disable_parallel_tool_use", False),
        thinking=_thinking(body),
        max_output=None if whole is None else whole.max_tokens,
        response_schema=config.format.schema_ if config and config.format else None,
        stops=tuple((whole and whole.stop_sequences) or ()),
        stream=bool(whole and whole.stream),
        show_reasoning=getattr(body.thinking, "display", None) != "omitted",
    )


def _thinking(body: CountBody) -> ThinkingLevel:
    """Return the level nearest to the caller's setting; ``default`` where it is not set."""
    if isinstance(body.thinking, NoThinking):
        return "none"
    if body.output_config is not None and body.output_config.effort is not None:
        return EFFORT_LEVELS[body.output_config.effort]
    if isinstance(body.thinking, BudgetThinking):
        budget = body.thinking.budget_tokens
        return "low" if budget <= LOW_BUDGET else "medium" if budget <= MEDIUM_BUDGET else "high"
    return "default"


def _choice(choice: AutoChoice | NamedChoice | NoChoice | None) -> ToolChoice:
    match choice:
        case None | AutoChoice(type="auto"):
            return "auto"
        case AutoChoice():
            return AnyTool()
        case NamedChoice():
            return NamedTool(choice.name)
        case NoChoice():
            return "none"
        case _:
            assert_never(choice)


def _message(message: MessageBody, sealer: StateSealer) -> ModelMessage:
    match message.role:
        case "assistant":
            return AssistantMessage(parts=tuple(_assistant(message.content, sealer)))
        case "user":
            return UserMessage(parts=tuple(_user(block) for block in message.content))
        case "system":
            return UserMessage(parts=tuple(_content(block) for block in message.content))
        case _:
            assert_never(message.role)


def _user(block: UserBlock) -> UserPart:
    if not isinstance(block, ToolResultBlock):
        return _content(block)
    return ToolResultPart(
        call_id=CallId(block.tool_use_id),
        tool="",
        content=tuple(_content(item) for item in block.content),
        is_error=bool(block.is_error),
    )


def _content(block: ResultItem) -> TextPart | ImagePart:
    match block:
        case TextBlock():
            return TextPart(text=block.text)
        case ImageBlock():
            return ImagePart(media_type=block.source.media_type, data=block.source.data)
        case DocumentBlock():
            known = (block.title, block.context, block.source.data)
            return TextPart(text="\n\n".join(text for text in known if text))
        case _:
            assert_never(block)


def _assistant(blocks: Iterable[AssistantBlock], sealer: StateSealer) -> Iterable[AssistantPart]:
    for block in blocks:
        match block:
            case TextBlock():
                yield TextPart(text=block.text)
            case ThinkingBlock():
                yield sealer.open(block.signature) or ReasoningPart(text=block.thinking)
            case RedactedThinkingBlock():
                yield sealer.open(block.data) or ReasoningPart(text="")
            case ToolUseBlock():
                yield ToolCallPart(call_id=CallId(block.id), tool=block.name, arguments=block.input)
            case _:
                assert_never(block)

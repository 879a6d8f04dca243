"""Requests that the model refuses although the schema accepts them.

Called by ``endpoint`` after the rules of the conversation.
"""

from __future__ import annotations

from typing import assert_never

from tests.simulator.anthropic.merged_turns import MergedTurn, turns_of
from tests.simulator.anthropic.models import ClaudeModel
from tests.simulator.anthropic.schema import (
    CountTokensBody,
    MessagesBody,
    TextBlock,
    ThinkingEnabled,
)
from tests.simulator.refusal import RequestRefused


def thinks(body: CountTokensBody, model: ClaudeModel) -> bool:
    """Return whether the model thinks on this request."""
    if body.thinking is None:
        return model.thinking_default
    return body.thinking.type in ("adaptive", "enabled")


def check_model(body: CountTokensBody, name: str, model: ClaudeModel) -> None:
    """Refuse what this model does not do. Raises ``RequestRefused``."""
    check_thinking(body, model)
    check_effort(body, model)
    check_forced_tool(body, model)
    check_last_message(body, model)
    check_system_messages(body, model)
    if isinstance(body, MessagesBody):
        check_limits(body, name, model)
        check_sampling(body)


def check_thinking(body: CountTokensBody, model: ClaudeModel) -> None:
    """The thinking type is one of the model's."""
    if body.thinking is None or body.thinking.type in model.thinking_types:
        return
    if "adaptive" in model.thinking_types:
        advice = (
            'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
        )
    else:
        advice = 'Use "thinking.type.enabled" with "thinking.budget_tokens".'
    raise RequestRefused(
        f'"thinking.type.{body.thinking.type}" is not supported for this model. {advice}'
    )


def check_effort(body: CountTokensBody, model: ClaudeModel) -> None:
    """The effort is one of the model's, and fits its thinking."""
    effort = None if body.output_config is None else body.output_config.effort
    if effort is None:
        return
    if not model.efforts:
        raise RequestRefused("This model does not support the effort parameter.")
    if effort not in model.efforts:
        raise RequestRefused(
            f"output_config.effort: '{effort}' is not supported for this model. "
            f"Supported values: {', '.join(model.efforts)}."
        )
    if model.limited_effort and not thinks(body, model) and effort in ("xhigh", "max"):
        raise RequestRefused(
            f"output_config.effort: '{effort}' requires thinking. Use 'high' or lower, or "
            '"thinking.type.adaptive".'
        )


def check_forced_tool(body: CountTokensBody, model: ClaudeModel) -> None:
    """A call can be forced only where the model allows it."""
    choice = body.tool_choice
    if choice is None or choice.type not in ("any", "tool"):
        return
    manual = isinstance(body.thinking, ThinkingEnabled)
    match model.forced_tool:
        case "no":
            raise RequestRefused(
                f'tool_choice.type "{choice.type}" is not supported for this model. Use "auto".'
            )
        case "without_thinking":
            refused = thinks(body, model)
        case "yes":
            refused = manual
        case _:
            assert_never(model.forced_tool)
    if refused:
        raise RequestRefused("Thinking may not be enabled when tool_choice forces tool use.")


def check_last_message(body: CountTokensBody, model: ClaudeModel) -> None:
    """Current models take no begun answer, older ones none that ends in white space."""
    last = body.messages[-1]
    if last.role != "assistant":
        return
    if not model.prefill:
        raise RequestRefused(
            "This model does not support assistant message prefill. The conversation must end with "
            "a user message."
        )
    if text_end(turns_of(body.messages)[-1]).endswith((" ", "\n", "\t")):
        raise RequestRefused(
            "messages: final assistant content cannot end with trailing whitespace"
        )


def text_end(turn: MergedTurn) -> str:
    """Return the text a turn ends with, or nothing."""
    if not turn.blocks:
        return ""
    block = turn.blocks[-1].block
    return block.text if isinstance(block, TextBlock) else ""


def check_system_messages(body: CountTokensBody, model: ClaudeModel) -> None:
    """Older models know system text at the top level only."""
    for index, message in enumerate(body.messages):
        if message.role == "system" and not model.system_messages:
            raise RequestRefused(
                f"messages.{index}.role: 'system' messages are not supported for this model. Use "
                "the top-level `system` parameter."
            )


def check_limits(body: MessagesBody, name: str, model: ClaudeModel) -> None:
    """The answer may not be longer than the model's, nor shorter than the thinking budget."""
    if body.max_tokens > model.max_output:
        raise RequestRefused(
            f"max_tokens: {body.max_tokens} > {model.max_output}, which is the maximum allowed "
            f"number of output tokens for {name}"
        )
    thinking = body.thinking
    if isinstance(thinking, ThinkingEnabled) and body.max_tokens <= thinking.budget_tokens:
        raise RequestRefused("`max_tokens` must be greater than `thinking.budget_tokens`.")


def check_sampling(body: MessagesBody) -> None:
    """Version 2026-10-21 refuses sampling parameters, even at their defaults."""
    for name in ("temperature", "top_p", "top_k"):
        if getattr(body, name) is not None:
            raise RequestRefused(f"`{name}` is deprecated for this model.")

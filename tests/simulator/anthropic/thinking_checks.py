"""Checks returned thinking: signatures as issued, bound to their conversation, none left out.

Called by ``endpoint``; ``IssuedThinking`` is the only state of the Messages simulator.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.simulator.anthropic.capabilities import thinks
from tests.simulator.anthropic.merged_turns import (
    MergedTurn,
    PositionedBlock,
    turns_of,
)
from tests.simulator.anthropic.models import ClaudeModel
from tests.simulator.anthropic.schema import (
    CountTokensBody,
    RedactedThinkingBlock,
    ThinkingAdaptive,
    ThinkingBlock,
    ThinkingEnabled,
)
from tests.simulator.anthropic.signatures import Seal, seal, unseal
from tests.simulator.refusal import RequestRefused

BINDING_BETA = "thinking-binding-controls-2026-08-01"


@dataclass(slots=True)
class IssuedThinking:
    """Calls that were sent after thinking, with the model that sent them."""

    after_thinking: dict[str, str] = field(default_factory=dict[str, str])


def check_thinking_blocks(
    body: CountTokensBody, model: ClaudeModel, issued: IssuedThinking, betas: frozenset[str]
) -> None:
    """Refuse thinking that was altered, moved or left out. Raises ``RequestRefused``."""
    check_binding_control(body, betas)
    turns = turns_of(body.messages)
    for position, turn in enumerate(turns):
        for placed in turn.blocks:
            if isinstance(placed.block, ThinkingBlock | RedactedThinkingBlock):
                check_block(body, model, placed, placed.block, turns[:position])
    if thinks(body, model):
        check_open_loop(body, turns, issued)


def check_binding_control(body: CountTokensBody, betas: frozenset[str]) -> None:
    """``block_binding`` needs its beta header."""
    thinking = body.thinking
    asked = isinstance(thinking, ThinkingAdaptive) and thinking.block_binding is not None
    if asked and BINDING_BETA not in betas:
        raise RequestRefused("thinking.adaptive.block_binding: Extra inputs are not permitted")


def check_block(
    body: CountTokensBody,
    model: ClaudeModel,
    placed: PositionedBlock,
    block: ThinkingBlock | RedactedThinkingBlock,
    before: list[MergedTurn],
) -> None:
    """One block is exactly as issued and stands where it stood."""
    if isinstance(block, ThinkingBlock):
        text, token, invalid = block.thinking, block.signature, "`signature` in `thinking`"
    else:
        text, token, invalid = "", block.data, "`data` in `redacted_thinking`"
    made = unseal(token)
    expected = seal(body, text, before)
    if made is None or (made.model, made.text) != (expected.model, expected.text):
        raise RequestRefused(f"{placed.place}: Invalid {invalid} block")
    if model.binds_thinking and made != expected and not drops_mismatched(body):
        raise RequestRefused(
            f"{placed.place}: Invalid {invalid} block. The block is bound to a different "
            "conversation. Remove the block, or set "
            '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block". That setting '
            f"requires the `{BINDING_BETA}` value in the `anthropic-beta` header. "
            + difference(made, expected)
        )


def drops_mismatched(body: CountTokensBody) -> bool:
    """Return whether the caller asked to have foreign thinking dropped."""
    return (
        isinstance(body.thinking, ThinkingAdaptive)
        and body.thinking.block_binding is not None
        and body.thinking.block_binding.prefix_mismatch_behavior == "drop_block"
    )


def difference(made: Seal, expected: Seal) -> str:
    """Return which part of the conversation has changed since."""
    if made.system != expected.system:
        return "The `system` prompt differs from the one this block was created with."
    if made.tools != expected.tools:
        return "The `tools` differ from the ones this block was created with."
    return "The `messages` before it differ from the ones this block was created with."


def check_open_loop(body: CountTokensBody, turns: list[MergedTurn], issued: IssuedThinking) -> None:
    """The turn whose results are being sent still begins with its thinking."""
    if len(turns) < 2 or not turns[-1].results:
        return
    asking = turns[-2]
    thought = any(issued.after_thinking.get(use.id) == body.model for use in asking.uses)
    manual = isinstance(body.thinking, ThinkingEnabled)
    first = asking.blocks[0]
    if (thought or manual) and not isinstance(first.block, ThinkingBlock | RedactedThinkingBlock):
        raise RequestRefused(
            f"{first.place}.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{first.block.type}`. When `thinking` is enabled, a final `assistant` message must "
            "start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks). We recommend you include thinking blocks from previous turns. "
            "To avoid this requirement, disable `thinking`."
        )

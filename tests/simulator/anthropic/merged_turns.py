"""Messages as the service reads them: content as blocks, neighbours of one role merged.

Used by every rule and by ``signatures``; ``place`` is a block's position in the request, for error
texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tests.simulator.anthropic.schema import (
    Block,
    Message,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)


@dataclass(frozen=True, slots=True)
class PositionedBlock:
    """A block and its path, such as ``messages.2.content.0``."""

    place: str
    block: Block


@dataclass(frozen=True, slots=True)
class MergedTurn:
    """All that one side said in a row; ``index`` is that of its first message."""

    role: str
    index: int
    blocks: tuple[PositionedBlock, ...]

    @property
    def uses(self) -> tuple[ToolUseBlock, ...]:
        """The calls of this turn."""
        return tuple(only(self, ToolUseBlock))

    @property
    def results(self) -> tuple[ToolResultBlock, ...]:
        """The results of this turn."""
        return tuple(only(self, ToolResultBlock))


BlockT = TypeVar("BlockT")


def only(turn: MergedTurn, kind: type[BlockT]) -> Iterator[BlockT]:
    """Yield the turn's blocks of one kind."""
    for placed in turn.blocks:
        if isinstance(placed.block, kind):
            yield placed.block


def blocks_of(message: Message) -> Sequence[Block]:
    """Return the content as blocks; a string is one text block."""
    if isinstance(message.content, str):
        return (TextBlock(type="text", text=message.content),)
    return message.content


def turns_of(messages: Sequence[Message]) -> list[MergedTurn]:
    """Return the conversation with neighbouring messages of one role merged."""
    turns: list[MergedTurn] = []
    for index, message in enumerate(messages):
        placed = tuple(
            PositionedBlock(f"messages.{index}.content.{position}", block)
            for position, block in enumerate(blocks_of(message))
        )
        if turns and turns[-1].role == message.role:
            previous = turns.pop()
            turns.append(MergedTurn(message.role, previous.index, previous.blocks + placed))
        else:
            turns.append(MergedTurn(message.role, index, placed))
    return turns

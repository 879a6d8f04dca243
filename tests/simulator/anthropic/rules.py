"""Rules of the Messages API for a conversation beyond its schema.

Each rule is a function that returns or raises ``RequestRefused``. Called in order by ``endpoint``.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from pydantic import BaseModel, JsonValue

from tests.simulator.anthropic.merged_turns import (
    MergedTurn,
    PositionedBlock,
    blocks_of,
    turns_of,
)
from tests.simulator.anthropic.schema import (
    Base64Image,
    CacheControl,
    CountTokensBody,
    CustomTool,
    ImageBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from tests.simulator.refusal import RequestRefused

OWNERS = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
    "document": "user",
    "image": "user",
}
MAX_BREAKPOINTS = 4
MAX_STRICT_TOOLS = 20


def messages_are_given(body: CountTokensBody) -> None:
    """There is a message, and the user speaks first."""
    if not body.messages:
        raise RequestRefused("messages: at least one message is required")
    if body.messages[0].role == "assistant":
        raise RequestRefused('messages: first message must use the "user" role')


def content_is_given(body: CountTokensBody) -> None:
    """No message is empty, except the last one of the assistant."""
    last = len(body.messages) - 1
    for index, message in enumerate(body.messages):
        if not message.content and not (index == last and message.role == "assistant"):
            raise RequestRefused(
                f"messages.{index}: all messages must have non-empty content except for the "
                "optional final assistant message"
            )


def text_is_given(body: CountTokensBody) -> None:
    """Text blocks have text, more than white space, and no breakpoint on nothing."""
    for place, block in text_blocks(body):
        if not block.text and block.cache_control is not None:
            raise RequestRefused(f"{place}: cache_control cannot be set for empty text blocks")
        if not block.text:
            raise RequestRefused(
                f"{place.partition('.')[0]}: text content blocks must be non-empty"
            )
        if not block.text.strip():
            where = place.partition(".")[0]
            raise RequestRefused(f"{where}: text content blocks must contain non-whitespace text")


def text_blocks(body: CountTokensBody) -> Iterator[tuple[str, TextBlock]]:
    """Yield every text block with its place, those of system and results included."""
    for index, block in enumerate(body.system if isinstance(body.system, list) else ()):
        yield f"system.{index}", block
    for placed in placed_blocks(body):
        if isinstance(placed.block, TextBlock):
            yield placed.place + ".text", placed.block
        if isinstance(placed.block, ToolResultBlock) and isinstance(placed.block.content, list):
            for index, inner in enumerate(placed.block.content):
                if isinstance(inner, TextBlock):
                    yield f"{placed.place}.tool_result.content.{index}.text", inner


def placed_blocks(body: CountTokensBody) -> Iterator[PositionedBlock]:
    """Yield every block of every message."""
    for turn in turns_of(body.messages):
        yield from turn.blocks


def blocks_fit_their_role(body: CountTokensBody) -> None:
    """Calls and thinking are the assistant's, results and documents the user's."""
    for index, message in enumerate(body.messages):
        for block in blocks_of(message):
            owner = OWNERS.get(block.type, message.role)
            if owner != message.role:
                raise RequestRefused(
                    f"messages.{index}: `{block.type}` blocks can only be in `{owner}` messages"
                )
            if isinstance(block, TextBlock) and block.citations and message.role == "user":
                raise RequestRefused(
                    f"messages.{index}: citations are not allowed on user text blocks"
                )


def images_hold_data(body: CountTokensBody) -> None:
    """Image data is base64."""
    for placed in placed_blocks(body):
        if isinstance(placed.block, ImageBlock) and isinstance(placed.block.source, Base64Image):
            try:
                base64.b64decode(placed.block.source.data, validate=True)
            except binascii.Error as error:
                raise RequestRefused(
                    f"{placed.place}.image.source.base64: invalid base64 data"
                ) from error


def calls_have_results(body: CountTokensBody) -> None:
    """Every call is answered in the next turn, once, and every result answers one."""
    turns = turns_of(body.messages)
    ids_are_unique(turns)
    first = turns[0]
    refuse_foreign_results(first, frozenset())
    for turn, following in pairwise(turns):
        wanted = [use.id for use in turn.uses]
        answered = [result.tool_use_id for result in following.results]
        missing = [call for call in wanted if call not in answered]
        if missing:
            raise unanswered(turn, missing)
        refuse_foreign_results(following, frozenset(wanted))
        refuse_repeated_results(following)
        results_come_first(following)
    if turns[-1].uses:
        raise unanswered(turns[-1], [use.id for use in turns[-1].uses])


def ids_are_unique(turns: Sequence[MergedTurn]) -> None:
    """No two calls share an id."""
    seen: set[str] = set()
    for placed in (placed for turn in turns for placed in turn.blocks):
        if isinstance(placed.block, ToolUseBlock):
            if placed.block.id in seen:
                raise RequestRefused(f"{placed.place}: `tool_use` ids must be unique")
            seen.add(placed.block.id)


def unanswered(turn: MergedTurn, missing: Sequence[str]) -> RequestRefused:
    """Return the refusal of calls without results."""
    return RequestRefused(
        f"messages.{turn.index}: `tool_use` ids were found without `tool_result` blocks "
        f"immediately after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
        "`tool_result` block in the next message."
    )


def refuse_foreign_results(turn: MergedTurn, wanted: frozenset[str]) -> None:
    """A result answers a call of the turn before."""
    for placed in turn.blocks:
        if isinstance(placed.block, ToolResultBlock) and placed.block.tool_use_id not in wanted:
            raise RequestRefused(
                f"{placed.place}: unexpected `tool_use_id` found in `tool_result` blocks: "
                f"{placed.block.tool_use_id}. Each `tool_result` block must have a corresponding "
                "`tool_use` block in the previous message."
            )


def refuse_repeated_results(turn: MergedTurn) -> None:
    """A call has one result."""
    seen: set[str] = set()
    for placed in turn.blocks:
        if isinstance(placed.block, ToolResultBlock):
            if placed.block.tool_use_id in seen:
                raise RequestRefused(
                    f"{placed.place}: each tool_use must have a single result. Found multiple "
                    f"`tool_result` blocks with id: {placed.block.tool_use_id}"
                )
            seen.add(placed.block.tool_use_id)


def results_come_first(turn: MergedTurn) -> None:
    """Results stand before anything else of their turn."""
    leading = turn.blocks[: len(turn.results)]
    if any(not isinstance(placed.block, ToolResultBlock) for placed in leading):
        found = sum(isinstance(placed.block, ToolResultBlock) for placed in leading)
        raise RequestRefused(
            f"messages.{turn.index}: Did not find {len(turn.results) - found} `tool_result` "
            "block(s) at the beginning of this message. Messages following `tool_use` blocks must "
            "begin with a matching number of `tool_result` blocks."
        )


def tools_make_sense(body: CountTokensBody) -> None:
    """Names are unique, not all are deferred, and strict schemas are closed."""
    tools = body.tools or []
    names = [tool.name for tool in tools]
    if len(set(names)) != len(names):
        raise RequestRefused("tools: Tool names must be unique.")
    custom = [tool for tool in tools if isinstance(tool, CustomTool)]
    if tools and all(tool.defer_loading for tool in custom) and len(custom) == len(tools):
        raise RequestRefused("tools: At least one tool must have defer_loading=false.")
    strict = [tool for tool in custom if tool.strict]
    if len(strict) > MAX_STRICT_TOOLS:
        raise RequestRefused(f"tools: Too many strict tools ({len(strict)} > {MAX_STRICT_TOOLS}).")
    for index, tool in enumerate(tools):
        if isinstance(tool, CustomTool) and tool.strict:
            closed_schema(tool.input_schema.model_dump(), f"tools.{index}.custom")


def tool_history_has_tools(body: CountTokensBody) -> None:
    """A conversation with calls in it defines tools."""
    if not body.tools and any(turn.uses or turn.results for turn in turns_of(body.messages)):
        raise RequestRefused(
            "Requests which include `tool_use` or `tool_result` blocks must define tools"
        )


def tool_choice_makes_sense(body: CountTokensBody) -> None:
    """A choice needs tools, and a named one must be among them."""
    choice = body.tool_choice
    if choice is None:
        return
    if not body.tools:
        raise RequestRefused("tool_choice may only be specified while providing tools")
    if choice.type == "tool" and choice.name not in {tool.name for tool in body.tools}:
        raise RequestRefused(f"Tool '{choice.name}' not found in provided tools")


def output_format_is_closed(body: CountTokensBody) -> None:
    """Objects of a structured output's schema allow no other properties."""
    if body.output_config is not None and body.output_config.format is not None:
        closed_schema(body.output_config.format.schema_, "output_config.format.schema")


def closed_schema(schema: JsonValue, place: str) -> None:
    """Every object in the schema has ``additionalProperties: false``."""
    if isinstance(schema, list):
        for item in schema:
            closed_schema(item, place)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        raise RequestRefused(
            f"{place}: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )
    for value in schema.values():
        closed_schema(value, place)


def breakpoints_are_few(body: CountTokensBody) -> None:
    """At most four cache breakpoints, the long-lived ones first."""
    found = list(breakpoints(body))
    count = len(found) + (body.cache_control is not None)
    if count > MAX_BREAKPOINTS:
        raise RequestRefused(
            f"A maximum of {MAX_BREAKPOINTS} blocks with cache_control may be provided. "
            f"Found {count}."
        )
    for (_, before), (place, after) in pairwise(found):
        if before.ttl != "1h" and after.ttl == "1h":
            raise RequestRefused(
                f"{place}.cache_control.ttl: a ttl='1h' cache_control block must not come after a "
                "ttl='5m' cache_control block. Note that blocks are processed in the following "
                "order: `tools`, `system`, `messages`."
            )


def breakpoints(body: CountTokensBody) -> Iterator[tuple[str, CacheControl]]:
    """Yield the explicit breakpoints in the order the service reads them."""
    for index, tool in enumerate(body.tools or []):
        yield from breakpoint_of(tool, f"tools.{index}")
    for index, block in enumerate(body.system if isinstance(body.system, list) else ()):
        yield from breakpoint_of(block, f"system.{index}")
    for placed in placed_blocks(body):
        yield from breakpoint_of(placed.block, placed.place)


def breakpoint_of(block: BaseModel, place: str) -> Iterator[tuple[str, CacheControl]]:
    """Yield the block's breakpoint, if it has one."""
    control = getattr(block, "cache_control", None)
    if isinstance(control, CacheControl):
        yield place, control


RULES: tuple[Callable[[CountTokensBody], None], ...] = (
    messages_are_given,
    content_is_given,
    text_is_given,
    blocks_fit_their_role,
    images_hold_data,
    calls_have_results,
    tools_make_sense,
    tool_history_has_tools,
    tool_choice_makes_sense,
    output_format_is_closed,
    breakpoints_are_few,
)

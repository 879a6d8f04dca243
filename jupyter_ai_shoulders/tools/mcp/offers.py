"""What a server offers as tools, as it is kept, shown and compared. Pure.

All texts are the server's and untrusted: hidden characters are replaced by codes, long texts cut.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from jupyter_ai_shoulders.tools.mcp.names import tool_name
from jupyter_ai_shoulders.tools.mcp.schema_subset import UnusableSchemaError, usable_schema
from jupyter_ai_shoulders.wire.base import Json, JsonObject, WireModel
from jupyter_ai_shoulders.wire.hidden_characters import visible

if TYPE_CHECKING:
    import mcp_types

MAX_TOOLS = 200
"""Tools of one server that are offered."""
MAX_SCHEMA = 32 * 1024
MAX_DESCRIPTION = 4 * 1024
MAX_TOOL_NAME = 256
MAX_TITLE = 120
MAX_LEFT_OUT = 50
"""Tools that are left out by name; the rest is counted."""
BUDGET = 60_000
"""Characters of a server's tools that are in the model's list; further ones are described alone."""


class OfferedTool(WireModel):
    """A tool of a server that the model may call."""

    server: str
    tool: str
    """Its name at the server."""
    name: str
    """Its name for the model."""
    title: str
    description: str
    parameters: JsonObject
    definition: str
    """Digests of its parts, as permissions keep them (``tools.permissions.definitions``)."""
    read_only: bool | None = None
    destructive: bool | None = None
    brief: bool = False
    """Whether it is beyond the budget: never in the model's list, described one at a time."""


class ToolLeftOut(WireModel):
    """A tool that is not offered, and why."""

    tool: str
    reason: str


class ServerOffer(WireModel):
    """The tools of one server."""

    server: str
    tools: tuple[OfferedTool, ...] = ()
    left_out: tuple[ToolLeftOut, ...] = ()
    more_left_out: int = 0
    unread: str | None = None
    """Why further tools were not even read, as a sentence."""


def offer_of(
    server: str, listed: Sequence[mcp_types.Tool], unread: str | None = None
) -> ServerOffer:
    """Return what is offered of the listed tools."""
    tools: dict[str, OfferedTool] = {}
    left_out: list[ToolLeftOut] = []
    spent = 0
    for tool in listed:
        if len(tools) >= MAX_TOOLS:
            made = f"only the first {MAX_TOOLS} tools of a server are offered"
        else:
            made = _offered(server, tool)
        if isinstance(made, OfferedTool) and made.name in tools:
            made = "its name is that of an earlier tool"
        if isinstance(made, str):
            left_out.append(ToolLeftOut(tool=_cut(tool.name, MAX_TITLE), reason=made))
            continue
        spent += len(made.name) + len(made.description) + len(json.dumps(made.parameters))
        tools[made.name] = made.model_copy(update={"brief": spent > BUDGET})
    return ServerOffer(
        server=server,
        tools=tuple(tools.values()),
        left_out=tuple(left_out[:MAX_LEFT_OUT]),
        more_left_out=max(0, len(left_out) - MAX_LEFT_OUT),
        unread=unread,
    )


def _offered(server: str, tool: mcp_types.Tool) -> OfferedTool | str:
    """Return the tool, or why it is left out."""
    if not tool.name or len(tool.name) > MAX_TOOL_NAME:
        return f"its name has not 1 to {MAX_TOOL_NAME} characters"
    schema = cast("JsonObject", tool.input_schema)
    try:
        text = json.dumps(schema)
        if len(text) > MAX_SCHEMA:
            return f"its schema is larger than {MAX_SCHEMA // 1024} KB ({len(text) // 1024} KB)"
        parameters = usable_schema(schema)
    except UnusableSchemaError as error:
        return str(error)
    except (ValueError, RecursionError):
        return "its schema cannot be read"
    hints = tool.annotations
    title = tool.title or (hints.title if hints else None) or tool.name
    return OfferedTool(
        server=server,
        tool=tool.name,
        name=tool_name(server, tool.name),
        title=_cut(title, MAX_TITLE),
        description=_cut(tool.description or "(no description)", MAX_DESCRIPTION),
        parameters=parameters,
        definition=_definition(tool, schema),
        read_only=hints.read_only_hint if hints else None,
        destructive=hints.destructive_hint if hints else None,
    )


def _definition(tool: mcp_types.Tool, schema: JsonObject) -> str:
    hints = tool.annotations.model_dump(mode="json") if tool.annotations else None
    parts: Mapping[str, Json] = {
        "title": tool.title,
        "description": tool.description,
        "arguments": schema,
        "annotations": cast("Json", hints),
    }
    return " ".join(f"{name}:{_digest(value)}" for name, value in parts.items())


def _digest(value: Json) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _cut(text: str, limit: int) -> str:
    """Return the text without hidden characters, cut visibly."""
    shown = visible(text[: limit + 1]) if len(text) > limit else visible(text)
    if len(text) <= limit and len(shown) <= limit:
        return shown
    return f"{shown[: limit - 20]}… ({len(text)} characters)"

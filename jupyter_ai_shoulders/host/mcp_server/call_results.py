"""Turns outcomes of calls and tool definitions into what the MCP SDK sends.

Used by ``host.mcp_server.protocol``; imports the SDK's types.
"""

from __future__ import annotations

from mcp_types import CallToolResult, ContentBlock, ImageContent, TextContent, Tool, ToolAnnotations
from pydantic_core import from_json

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.host.mcp_server.conversation import CallOutcome
from jupyter_ai_shoulders.host.mcp_server.offered_tools import OfferedTool
from jupyter_ai_shoulders.wire.parts import ImagePart, ResultContent, TextPart

RESULT_META = "jupyter-ai-shoulders/result"
"""Key of the whole result (rows, outputs, versions) in ``_meta``.

Not ``structuredContent``: several clients show their model that instead of text and pictures.
"""
MAX_META_CHARACTERS = 50_000


def tool_of(offered: OfferedTool) -> Tool:
    """Return the tool as it is listed."""
    definition = offered.definition
    return Tool(
        name=definition.name,
        description=definition.description,
        input_schema=definition.parameters,
        annotations=ToolAnnotations(
            title=definition.name.replace("_", " ").capitalize(),
            read_only_hint=offered.reads_only,
            destructive_hint=offered.destructive,
            idempotent_hint=offered.idempotent,
            open_world_hint=offered.external,
        ),
    )


def result_of(outcome: CallOutcome) -> CallToolResult:
    """Return the result of a call: text, pictures, and its data as metadata."""
    data = outcome.envelope.model_dump_json(exclude_none=True)
    return CallToolResult(
        content=[_block(part) for part in outcome.content],
        is_error=outcome.status != "ok" or not outcome.envelope.ok,
        _meta={RESULT_META: from_json(data)} if len(data) <= MAX_META_CHARACTERS else None,
    )


def text_of(outcome: CallOutcome) -> str:
    """Return the text of a call's result."""
    return "\n\n".join(part.text for part in outcome.content if isinstance(part, TextPart))


def error_result(text: str) -> CallToolResult:
    """Return the result of a call that was not made."""
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def error_text(error: ShouldersError) -> str:
    """Return an error and what to do about it."""
    return f"{error.info.message} {error.info.hint}" if error.info.hint else error.info.message


def _block(part: ResultContent) -> ContentBlock:
    if isinstance(part, ImagePart):
        return ImageContent(data=part.data, mime_type=part.media_type)
    return TextContent(text=part.text)

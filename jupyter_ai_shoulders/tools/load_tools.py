"""The tools that give access to tools outside the model's list.

``load_tools`` describes a category; ``call_tool`` makes one call. The engine never runs
``call_tool`` itself but replaces it by the inner call (``engine.transcript.unwrap_call_tool``), so
that permissions, log and page handle that call. Registered by ``host`` (``tools.tool_factories``).
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection
from typing import Any

from pydantic import Field

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.tools.mcp.names import is_server_tool
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.results import ResultMeta, ToolEnvelope

LOAD_TOOLS = "load_tools"
CALL_TOOL = "call_tool"
_BRIEF = 120
"""Characters of the description of a tool that is described apart."""


class LoadToolsArguments(ToolArguments):
    """Arguments of ``load_tools``."""

    category: str = Field(min_length=1, description="One of the categories named to you.")


class LoadTools(BaseTool[LoadToolsArguments]):
    """Describes the tools of a category."""

    name = LOAD_TOOLS
    category = "planning"
    risk = "read"
    arguments = LoadToolsArguments

    def __init__(self, tools: ToolRegistry, rules: PermissionStore) -> None:
        """``tools`` are those that can be loaded and called."""
        self._tools = tools
        self._rules = rules

    async def subject(self, args: LoadToolsArguments, context: CallContext) -> CallSubject:
        return CallSubject(
            title=f"Load the {args.category} tools", target_label=None, target=Target()
        )

    async def run(
        self, args: LoadToolsArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Describe them, or list the categories that can be loaded."""
        here = (context.toolset, context.mode, {*self._rules.disabled, *context.withheld})
        known = self._tools.loadable(*here)
        if args.category in known:
            try:
                await self._tools.open_category(args.category)
            except ShouldersError as error:
                yield refusal(f"{args.category!r} cannot be loaded: {error}", error.info.hint or "")
                return
        found = self._tools.of_category(args.category, *here)
        if args.category in known:
            brief = {tool.name for tool in found if self._tools.is_brief(tool.name)}
            yield _loaded(args.category, found, brief)
        elif is_server_tool(args.category) and self._tools.get(args.category) is not None:
            yield _described_alone(self._tools.definition(args.category))
        elif found:
            yield refusal(f"The tools of {args.category!r} are in your list.", "Call them by name.")
        else:
            named = ", ".join(known) or "none"
            yield refusal(
                f"There is no category {args.category!r} to load.", f"There are: {named}."
            )


class CallToolArguments(ToolArguments):
    """Arguments of ``call_tool``."""

    name: str = Field(min_length=1, description="The tool's name, as load_tools gave it.")
    arguments: dict[str, Any] = Field(description="The tool's own arguments, by its schema.")


class CallTool(BaseTool[CallToolArguments]):
    """Calls a tool by name; the engine executes the inner call (see the module's docstring)."""

    name = CALL_TOOL
    category = "planning"
    risk = "read"
    idempotent = False
    arguments = CallToolArguments

    async def subject(self, args: CallToolArguments, context: CallContext) -> CallSubject:
        """Return how a call without a valid inner call is shown."""
        return CallSubject(title=f"Call {args.name}", target_label=None, target=Target())

    async def run(
        self, args: CallToolArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Refuse: the engine replaces this call by the inner call."""
        yield refusal(f"{args.name} cannot be called from here.", "Call it by its own name.")


def loaded_category(result: ToolEnvelope) -> set[str]:
    """Return the category that a result of ``load_tools`` describes, if any."""
    category = result.data.get("category") if isinstance(result.data, dict) else None
    return {category} if isinstance(category, str) else set()


def _described_alone(tool: ToolDefinition) -> Result:
    return Result(
        envelope=ToolEnvelope(ok=True, kind="text", data={"tools": [tool.name]}),
        content=text_content(f"Call it with {CALL_TOOL}.\n\n{_described(tool)}"),
    )


def _loaded(
    category: str, tools: tuple[ToolDefinition, ...], brief: Collection[str] = ()
) -> Result:
    names: list[Json] = [tool.name for tool in tools]
    count = f"{len(tools)} tool{'s' * (len(tools) != 1)}"
    shown = (_named(tool) if tool.name in brief else _described(tool) for tool in tools)
    heading = (
        f"{count} of {category!r}. Call them with {CALL_TOOL} {{name, arguments}} now; from the "
        "user's next message on they are in your list."
    )
    return Result(
        envelope=ToolEnvelope(
            ok=True,
            kind="text",
            data={"category": category, "tools": names},
            meta=ResultMeta(total=len(tools)),
        ),
        content=text_content("\n\n".join([heading, *shown])),
    )


def _named(tool: ToolDefinition) -> str:
    """Return a tool of a server with very many, whose arguments are loaded by its name."""
    said = " ".join(tool.description.split())
    short = said if len(said) <= _BRIEF else said[: _BRIEF - 1] + "…"
    return f"{tool.name}: {short}\nArguments: {LOAD_TOOLS} {{category: {tool.name!r}}}"


def _described(tool: ToolDefinition) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
    return f"{tool.name}: {tool.description}\nArguments: {schema}"

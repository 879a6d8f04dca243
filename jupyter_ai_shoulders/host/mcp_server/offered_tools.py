"""Which tools a client of the MCP server may call, by the scope of its token.

Pure. Used by ``host.mcp_server.protocol``; see docs/design/mcp-server.md#tools.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.api.access_tokens import AccessScope
from jupyter_ai_shoulders.wire.parts import ToolDefinition

Needs = tuple[frozenset[AccessScope], ...]
"""Sets of scopes; a client needs all of one of them."""


def _any_of(*sets: Collection[AccessScope]) -> Needs:
    return tuple(frozenset(scopes) for scopes in sets)


_READ = _any_of(["read"])
_EDIT = _any_of(["edit"])
_RUN = _any_of(["run"])
_FILES = _any_of(["files"])
_CHANGE_FILES = _any_of(["files", "edit"])

NEEDS: Mapping[str, Needs] = {
    "read_notebook": _READ,
    "search_notebook": _READ,
    "read_cell_output": _READ,
    "inspect_variables": _READ,
    "list_kernels": _READ,
    "list_files": _any_of(["read"], ["files"]),
    "read_output": _any_of(["read"], ["edit"], ["run"], ["files"]),
    "add_cell": _EDIT,
    "edit_cell": _EDIT,
    "delete_cell": _EDIT,
    "move_cell": _EDIT,
    "clear_outputs": _EDIT,
    "create_notebook": _EDIT,
    "create_proposal": _EDIT,
    "run_cell": _RUN,
    "run_all_cells": _RUN,
    "run_code": _RUN,
    "verify_notebook": _RUN,
    "interrupt_kernel": _RUN,
    "restart_kernel": _RUN,
    "read_file": _FILES,
    "search_content": _FILES,
    "semantic_search": _FILES,
    "file_history": _FILES,
    "write_file": _CHANGE_FILES,
    "create_file": _CHANGE_FILES,
    "edit_file": _CHANGE_FILES,
    "edit_document_file": _CHANGE_FILES,
    "rename_file": _CHANGE_FILES,
    "move_file": _CHANGE_FILES,
    "duplicate_file": _CHANGE_FILES,
    "delete_file": _CHANGE_FILES,
    "undo_file_change": _CHANGE_FILES,
}
"""The offered tools. Left out: what only steers our own agent (``todo``, ``complete``, ``clarify``,
``load_tools``, ``call_tool``, ``run_plan``), what depends on the document that a user has in front
of them, and what every agent has itself (commands, git, the web).
"""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool as a client sees it."""

    definition: ToolDefinition
    reads_only: bool
    destructive: bool
    idempotent: bool
    external: bool


def may_call(name: str, scopes: Collection[AccessScope]) -> bool:
    """Return whether the scopes cover the tool."""
    return any(needed <= frozenset(scopes) for needed in NEEDS.get(name, ()))


def offered_tools(
    registry: ToolRegistry, scopes: Collection[AccessScope], disabled: Collection[str]
) -> tuple[OfferedTool, ...]:
    """Return the tools that the scopes cover and the permissions leave on, sorted by name."""
    found: list[OfferedTool] = []
    for name in sorted(NEEDS):
        tool = registry.get(name)
        if tool is not None and name not in disabled and may_call(name, scopes):
            found.append(_offered(registry, tool))
    return tuple(found)


def _offered(registry: ToolRegistry, tool: Tool[Any]) -> OfferedTool:
    return OfferedTool(
        definition=registry.definition(tool.name),
        reads_only=tool.risk == "read",
        destructive=tool.risk == "execute" or tool.name.startswith(("delete_", "clear_")),
        idempotent=tool.idempotent,
        external=tool.external,
    )

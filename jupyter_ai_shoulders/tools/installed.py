"""Contract of tools that other installed packages provide.

A package names a function in the entry point group ``jupyter_ai_shoulders.tools``;
``host.tools.installed_packages`` finds and calls it (see ``docs/write-a-tool.md``). After these
checks such a tool is treated like a built-in one in definitions, rules, approvals and the log. Its
results count as foreign text unless the document is open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, cast, get_args

from pydantic.errors import PydanticUserError

from jupyter_ai_shoulders.files.base import FileChanges, TextDocuments
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.tools.base import Category, Tool, ToolArguments
from jupyter_ai_shoulders.tools.mcp.names import is_server_tool
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.sessions import Toolset

GROUP = "jupyter_ai_shoulders.tools"
INSTALLED: Category = "installed"
"""Category of all installed tools, never loaded on demand: the model would not know of it."""
MAX_TEXT = 4_000
"""Most characters of a description or a schema, as both are part of each request."""
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
"""Tool names that every provider accepts."""


@dataclass(frozen=True, slots=True)
class ToolPorts:
    """The ports offered to a package's tools; a tool takes the ones it needs."""

    workspace: Workspace
    """Files on the disk: listing, metadata, reading."""
    texts: TextDocuments
    """Text files as the user sees them, including unsaved text of pages."""
    changes: FileChanges
    """Changes of files that can be reviewed and undone."""
    notebooks: NotebookAccess
    """Notebooks as the user sees them."""


class InstalledTool(Tool[Any], Protocol):
    """A tool that carries its own description."""

    description: ClassVar[str]


MakeTools = Callable[[ToolPorts], Iterable[InstalledTool]]
"""The function that an entry point names."""


def contract_violation(tool: InstalledTool) -> str | None:
    """Return the violation of the contract as the end of a sentence about the tool, else None.

    The tool may be any object. Errors raised by its attributes propagate.
    """
    return _fault_of_attributes(tool) or _fault_of_schema(tool.arguments)


def _fault_of_attributes(tool: InstalledTool) -> str | None:
    told: object = getattr(tool, "description", None)
    checks = {
        f"has no name of this form: {_NAME.pattern}": _is_name(getattr(tool, "name", None)),
        f"has no description of 1 to {MAX_TEXT} characters": isinstance(told, str)
        and 0 < len(told.strip()) <= MAX_TEXT,
        f"is not of the category {INSTALLED!r}": _has_value(tool, "category", (INSTALLED,)),
        f"has no risk of {_listed(get_args(Risk))}": _has_value(tool, "risk", get_args(Risk)),
        f"has no toolsets, a frozenset of {_listed(get_args(Toolset))}": _are_toolsets(
            getattr(tool, "toolsets", None)
        ),
        "does not say whether it is external": _has_value(tool, "external", (True, False)),
        "does not say whether it is idempotent": _has_value(tool, "idempotent", (True, False)),
        "has no arguments, a subclass of ToolArguments": _is_arguments(
            getattr(tool, "arguments", None)
        ),
        "has no subject to call": callable(getattr(tool, "subject", None)),
        "has no run to call": callable(getattr(tool, "run", None)),
    }
    return next((fault for fault, holds in checks.items() if not holds), None)


def _is_name(name: object) -> bool:
    """Return whether a package's tool may have this name; some belong to tools of MCP servers."""
    return isinstance(name, str) and bool(_NAME.fullmatch(name)) and not is_server_tool(name)


def _are_toolsets(toolsets: object) -> bool:
    if not isinstance(toolsets, frozenset):
        return False
    given = cast("frozenset[object]", toolsets)
    return bool(given) and given <= frozenset(get_args(Toolset))


def _is_arguments(model: object) -> bool:
    return isinstance(model, type) and issubclass(model, ToolArguments)


def _has_value(tool: object, attribute: str, known: Iterable[object]) -> bool:
    value: object = getattr(tool, attribute, None)
    return any(value is each or (isinstance(value, str) and value == each) for each in known)


def _listed(values: Iterable[object]) -> str:
    return ", ".join(sorted(map(str, values)))


def _fault_of_schema(model: type[ToolArguments]) -> str | None:
    try:
        schema = cast("dict[str, Json]", model.model_json_schema())
    except PydanticUserError as error:
        return f"has arguments that no JSON Schema describes: {str(error).splitlines()[0]}"
    if len(json.dumps(schema)) > MAX_TEXT:
        return f"has arguments whose schema is longer than {MAX_TEXT} characters"
    if model.model_config.get("extra") != "forbid":
        return "takes arguments it does not name"
    definitions = cast("dict[str, Json]", schema.get("$defs", {}))
    if any(_leads_to(name, definitions[name], definitions, ()) for name in definitions):
        return "has arguments that hold themselves, which some providers refuse"
    return None


def _leads_to(name: str, schema: Json, definitions: dict[str, Json], seen: tuple[str, ...]) -> bool:
    """Return whether a schema refers to a definition, directly or through others."""
    if isinstance(schema, list):
        return any(_leads_to(name, item, definitions, seen) for item in schema)
    if not isinstance(schema, dict):
        return False
    reference = schema.get("$ref")
    if isinstance(reference, str):
        other = reference.removeprefix("#/$defs/")
        if other == name:
            return True
        if other in definitions and other not in seen:
            return _leads_to(name, definitions[other], definitions, (*seen, other))
    return any(_leads_to(name, item, definitions, seen) for item in schema.values())

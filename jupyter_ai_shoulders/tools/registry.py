"""The tool registry: which tools exist and which are offered to the model.

Created by ``host``; used by ``engine`` and by the handler of ``GET tools``.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

from pydantic import ValidationError

from jupyter_ai_shoulders.tools.base import (
    Category,
    ServerCategory,
    Tool,
    ToolArguments,
    toolsets_of,
)
from jupyter_ai_shoulders.wire.api.responses import OffReason, ToolInfo
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

EXCERPT_LIMIT = 1_200
"""Characters of schema shown with a refusal."""

ON_DEMAND: frozenset[Category] = frozenset(
    {"document", "workspace", "git", "references", "web", "word", "feedback", "threads", "agent"}
)
"""Rarely needed categories. The model gets only their names and loads them when needed.

All tools together cost 12 000 tokens per request. A toolset always offers the category with its
name. In ``document`` nothing is loaded on demand, since its models are small and it has few tools.
"""
INTERNAL: Category = "internal"
"""Category of tools that no model is offered or told of."""
LOADERS = frozenset({"load_tools", "call_tool"})
"""Offered only if there are categories to load."""


@dataclass(frozen=True, slots=True)
class InvalidCall:
    """Why a call is invalid, in words the model can act on."""

    error: ErrorInfo


class _Entry:
    """A tool and its definition; schemas are built on first use to keep the start fast."""

    def __init__(
        self, tool: Tool[Any], describe: Callable[[str], str], package: str | None = None
    ) -> None:
        self.tool = tool
        self.package = package
        self.brief = False
        """Whether it is never in the model's list, only described on demand."""
        self._describe = describe

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        return _definition(self.tool, self._describe)


@functools.cache
def shipped_description(name: str) -> str:
    """Return the text of ``tools/prompts/<name>.md``. Raises ``FileNotFoundError``."""
    folder = resources.files("jupyter_ai_shoulders.tools") / "prompts"
    return (folder / f"{name}.md").read_text("utf-8").strip()


class ToolRegistry:
    """Tools by name."""

    def __init__(
        self,
        tools: Iterable[Tool[Any]],
        describe: Callable[[str], str] = shipped_description,
        on_demand: Collection[Category] = ON_DEMAND,
    ) -> None:
        """``describe`` returns a tool's description by name."""
        named = {tool.name: _Entry(tool, describe) for tool in tools}
        self._entries = dict(sorted(named.items()))
        self._describe = describe
        self._on_demand = frozenset(on_demand)
        self._extensions: list[ToolRegistry] = []
        self._names: dict[Toolset, tuple[str, ...]] = {}
        self._sources: dict[ServerCategory, Callable[[], Awaitable[None]]] = {}

    def extended(self, tools: Iterable[Tool[Any]]) -> ToolRegistry:
        """Return a registry of these tools and more."""
        more = ToolRegistry(tools, self._describe, self._on_demand)
        more._entries = dict(sorted({**self._entries, **more._entries}.items()))
        more._sources = self._sources  # shared: what is announced later counts for both
        self._extensions.append(more)
        return more

    def announce(self, category: ServerCategory, load: Callable[[], Awaitable[None]]) -> None:
        """Name a server's tools, which ``load`` admits; it may raise ``ShouldersError``."""
        self._sources[category] = load

    def retract(self, category: ServerCategory) -> None:
        """Name a server's tools no more; its admitted tools are withdrawn apart."""
        self._sources.pop(category, None)

    async def open_category(self, category: str) -> None:
        """Have a server's tools admitted. Raises what its source raises."""
        load = self._sources.get(ServerCategory(category))
        if load is not None:
            await load()

    def admit(self, tool: Tool[Any], description: str, package: str) -> None:
        """Add a tool of another package, here and in the registries derived from this one.

        Its name must be new in all of them.
        """
        entry = _Entry(tool, lambda _: description, package)
        self._entries = dict(sorted({**self._entries, tool.name: entry}.items()))
        self._names.clear()
        for heir in self._extensions:
            heir.admit(tool, description, package)

    def admit_all(
        self,
        tools: Sequence[tuple[Tool[Any], ToolDefinition]],
        package: str,
        brief: Collection[str] = (),
    ) -> None:
        """Add tools of an MCP server with their definitions, as ``admit`` does.

        Names that exist are left as they are; those in ``brief`` are never in the model's list.
        """
        for tool, definition in tools:
            if tool.name in self._entries:
                continue
            entry = _Entry(tool, lambda _: "", package)
            entry.definition = definition
            entry.brief = tool.name in brief
            self._entries[tool.name] = entry
        self._entries = dict(sorted(self._entries.items()))
        self._names.clear()
        for heir in self._extensions:
            heir.admit_all(tools, package, brief)

    def withdraw(self, name: str) -> None:
        """Remove an admitted tool, here and in the registries derived from this one."""
        self._entries = {key: entry for key, entry in self._entries.items() if key != name}
        self._names.clear()
        for heir in self._extensions:
            heir.withdraw(name)

    def get(self, name: str) -> Tool[Any] | None:
        """Return the tool, or None."""
        entry = self._entries.get(name)
        return entry.tool if entry else None

    def definition(self, name: str) -> ToolDefinition:
        """Return a tool's definition. Raises ``KeyError``."""
        return self._entries[name].definition

    def package_of(self, name: str) -> str | None:
        """Return the package of an installed tool; None for built-in and unknown tools."""
        entry = self._entries.get(name)
        return entry.package if entry else None

    def is_brief(self, name: str) -> bool:
        """Return whether a tool is never in the model's list."""
        entry = self._entries.get(name)
        return entry is not None and entry.brief

    @property
    def external(self) -> frozenset[str]:
        """Names of the external tools."""
        return frozenset(name for name, entry in self._entries.items() if entry.tool.external)

    def definitions(
        self,
        toolset: Toolset,
        mode: Mode,
        disabled: Collection[str],
        loaded: Collection[str] = (),
    ) -> tuple[ToolDefinition, ...]:
        """Return the definitions offered to the model, sorted by name; in plan mode only reads.

        On-demand categories are included if they are in ``loaded``.
        """
        loadable = self.loadable(toolset, mode, disabled)
        return tuple(
            entry.definition
            for name, entry in self._entries.items()
            if name not in disabled
            and _offered(entry.tool, toolset, mode)
            and (loadable or name not in LOADERS)
            and (entry.tool.category not in loadable or entry.tool.category in loaded)
            and not entry.brief
        )

    def loadable(
        self, toolset: Toolset, mode: Mode, disabled: Collection[str]
    ) -> tuple[Category, ...]:
        """Return the categories that ``load_tools`` offers, sorted, including loaded ones.

        Empty if a loader is switched off, because all tools are offered then.
        """
        if toolset == "document" or not LOADERS.isdisjoint(disabled):
            return ()
        found: set[Category] = {
            entry.tool.category
            for name, entry in self._entries.items()
            if (entry.tool.category in self._on_demand or entry.tool.category in self._sources)
            and entry.tool.category != toolset
            and name not in disabled
            and _offered(entry.tool, toolset, mode)
        }
        if mode != "plan":
            found.update(each for each in self._sources if toolset in toolsets_of(each))
        return tuple(sorted(found))

    def of_category(
        self, category: str, toolset: Toolset, mode: Mode, disabled: Collection[str]
    ) -> tuple[ToolDefinition, ...]:
        """Return the tools of a category that may be called here, sorted by name."""
        return tuple(
            entry.definition
            for name, entry in self._entries.items()
            if entry.tool.category == category
            and name not in disabled
            and _offered(entry.tool, toolset, mode)
        )

    def names(self, toolset: Toolset) -> tuple[str, ...]:
        """Return the names of the tools of a toolset, loaded or not, sorted."""
        if toolset not in self._names:
            loadable = self.loadable(toolset, "ask", ())
            self._names[toolset] = tuple(
                name
                for name, entry in self._entries.items()
                if _offered(entry.tool, toolset, "ask") and (loadable or name not in LOADERS)
            )
        return self._names[toolset]

    def validate(
        self, name: str, arguments: JsonObject, allowed: Collection[str] | None = None
    ) -> ToolArguments | InvalidCall:
        """Validate a call against the tool's argument model; only ``allowed`` tools are known."""
        entry = self._entries.get(name) if allowed is None or name in allowed else None
        if entry is None:
            return self._unknown(name, self._entries if allowed is None else allowed)
        try:
            return cast("ToolArguments", entry.tool.arguments.model_validate(arguments))
        except ValidationError as error:
            return _invalid(entry.definition, error)

    def infos(
        self, off: Mapping[str, OffReason], sandboxed: Mapping[str, bool] | None = None
    ) -> tuple[ToolInfo, ...]:
        """Return the catalogue of ``GET tools``, sorted by category and name.

        ``off`` has the reasons why tools are off, ``sandboxed`` whether a sandbox confines their
        commands.
        """
        sandboxed = sandboxed or {}
        entries = sorted(self._entries.items(), key=lambda item: (item[1].tool.category, item[0]))
        return tuple(
            ToolInfo(
                name=name,
                category=entry.tool.category,
                description=entry.definition.description,
                risk=entry.tool.risk,
                external=entry.tool.external,
                sandboxed=sandboxed.get(name),
                enabled=name not in off,
                off_because=off.get(name),
                parameters=entry.definition.parameters,
            )
            for name, entry in entries
            if entry.tool.category != INTERNAL
        )

    def _unknown(self, name: str, known: Iterable[str]) -> InvalidCall:
        names = list(known)
        near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        return InvalidCall(
            ErrorInfo(
                code="unknown_tool",
                message=f"There is no tool named {name!r}.{guess}",
                hint="The tools are: " + ", ".join(names) + ".",
            )
        )


def _offered(tool: Tool[Any], toolset: Toolset, mode: Mode) -> bool:
    if mode == "plan" and (tool.risk != "read" or tool.external):
        return False
    return tool.category == "loop" or toolset in tool.toolsets


def _definition(tool: Tool[Any], describe: Callable[[str], str]) -> ToolDefinition:
    description = "" if tool.category == INTERNAL else describe(tool.name)
    return ToolDefinition(
        name=tool.name, description=description, parameters=_parameters(tool.arguments)
    )


@functools.lru_cache(maxsize=256)
def _parameters(arguments: type[ToolArguments]) -> JsonObject:
    """Return the JSON Schema of a tool's arguments; not to be changed.

    Kept for the process, as each user's engine has a registry: a schema takes 1 ms.
    """
    schema = cast("JsonObject", _untitled(arguments.model_json_schema()))
    schema.pop("description", None)
    return schema


def _untitled(schema: Json) -> Json:
    """Return a JSON Schema without ``title`` annotations, but with properties of that name."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _untitled_map(value) if key in {"properties", "$defs"} else _untitled(value)
        for key, value in schema.items()
        if key != "title"
    }


def _untitled_map(schemas: Json) -> Json:
    named = cast("JsonObject", schemas)
    return {name: _untitled(schema) for name, schema in named.items()}


def _invalid(definition: ToolDefinition, error: ValidationError) -> InvalidCall:
    lines = [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    schema = json.dumps(definition.parameters, ensure_ascii=False, separators=(",", ":"))
    excerpt = schema if len(schema) <= EXCERPT_LIMIT else schema[:EXCERPT_LIMIT] + "…"
    return InvalidCall(
        ErrorInfo(
            code="invalid_arguments",
            message=f"The arguments of {definition.name!r} are wrong: " + "; ".join(lines) + ".",
            hint=f"Call it again with arguments of this schema: {excerpt}",
        )
    )

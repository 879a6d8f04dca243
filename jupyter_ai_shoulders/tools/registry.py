"""The tools there are, and what the model is told of them.

Made by ``host`` from the tool objects; asked by ``engine`` and by the handler of ``GET tools``.
"""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from importlib import resources
from typing import Any, cast

from pydantic import ValidationError

from jupyter_ai_shoulders.tools.base import Tool, ToolArguments
from jupyter_ai_shoulders.wire.api import ToolInfo
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

EXCERPT_LIMIT = 1_200
"""Characters of schema shown with a refusal."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call cannot be made, in words the model can act on."""

    error: ErrorInfo


class _Entry:
    """A tool and its definition, made on first use: schemas take time, and servers start often."""

    def __init__(self, tool: Tool[Any], describe: Callable[[str], str]) -> None:
        self.tool = tool
        self._describe = describe

    @functools.cached_property
    def definition(self) -> ToolDefinition:
        return _definition(self.tool, self._describe)


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
    ) -> None:
        """Take the tools there are; ``describe`` finds the text a tool is offered with."""
        named = {tool.name: _Entry(tool, describe) for tool in tools}
        self._entries = dict(sorted(named.items()))

    def get(self, name: str) -> Tool[Any] | None:
        """Return the tool, or None."""
        entry = self._entries.get(name)
        return entry.tool if entry else None

    def definitions(
        self, toolset: Toolset, mode: Mode, disabled: Collection[str]
    ) -> tuple[ToolDefinition, ...]:
        """Return what the model is offered, sorted by name; in plan mode only what reads."""
        return tuple(
            entry.definition
            for name, entry in self._entries.items()
            if name not in disabled and _offered(entry.tool, toolset, mode)
        )

    def validate(self, name: str, arguments: JsonObject) -> ToolArguments | Problem:
        """Check a call against the tool's argument model."""
        entry = self._entries.get(name)
        if entry is None:
            return self._unknown(name)
        try:
            return cast("ToolArguments", entry.tool.arguments.model_validate(arguments))
        except ValidationError as error:
            return _invalid(entry.definition, error)

    def infos(self, disabled: Collection[str]) -> tuple[ToolInfo, ...]:
        """Return the catalogue of ``GET tools``, sorted by category and name."""
        entries = sorted(self._entries.items(), key=lambda item: (item[1].tool.category, item[0]))
        return tuple(
            ToolInfo(
                name=name,
                category=entry.tool.category,
                description=entry.definition.description,
                risk=entry.tool.risk,
                external=entry.tool.external,
                enabled=name not in disabled,
                parameters=entry.definition.parameters,
            )
            for name, entry in entries
        )

    def _unknown(self, name: str) -> Problem:
        near = difflib.get_close_matches(name, self._entries, n=1, cutoff=0.5)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        return Problem(
            ErrorInfo(
                code="unknown_tool",
                message=f"There is no tool named {name!r}.{guess}",
                hint="The tools are: " + ", ".join(self._entries) + ".",
            )
        )


def _offered(tool: Tool[Any], toolset: Toolset, mode: Mode) -> bool:
    if mode == "plan" and (tool.risk != "read" or tool.external):
        return False
    return tool.category == "loop" or toolset in tool.toolsets


def _definition(tool: Tool[Any], describe: Callable[[str], str]) -> ToolDefinition:
    schema = cast("JsonObject", _untitled(tool.arguments.model_json_schema()))
    schema.pop("description", None)
    return ToolDefinition(name=tool.name, description=describe(tool.name), parameters=schema)


def _untitled(schema: Json) -> Json:
    """Return a JSON Schema without ``title`` annotations; a property may still be named so."""
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


def _invalid(definition: ToolDefinition, error: ValidationError) -> Problem:
    lines = [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    schema = json.dumps(definition.parameters, ensure_ascii=False, separators=(",", ":"))
    excerpt = schema if len(schema) <= EXCERPT_LIMIT else schema[:EXCERPT_LIMIT] + "…"
    return Problem(
        ErrorInfo(
            code="invalid_arguments",
            message=f"The arguments of {definition.name!r} are wrong: " + "; ".join(lines) + ".",
            hint=f"Call it again with arguments of this schema: {excerpt}",
        )
    )

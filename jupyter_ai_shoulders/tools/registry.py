"""The tools there are, and what the model is told of them.

Made by ``host`` from the tool objects; asked by ``engine`` and by the handler of ``GET tools``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.tools.base import Tool, ToolArguments
from jupyter_ai_shoulders.wire.api import ToolInfo
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.parts import ToolDefinition
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a call cannot be made, in words the model can act on."""

    error: ErrorInfo


class ToolRegistry:
    """Tools by name."""

    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        raise NotImplementedError

    def get(self, name: str) -> Tool[Any] | None:
        """Return the tool, or None."""
        raise NotImplementedError

    def definitions(
        self, toolset: Toolset, mode: Mode, disabled: Collection[str]
    ) -> tuple[ToolDefinition, ...]:
        """Return what the model is offered, sorted by name."""
        raise NotImplementedError

    def validate(self, name: str, arguments: JsonObject) -> ToolArguments | Problem:
        """Check a call against the tool's argument model."""
        raise NotImplementedError

    def infos(self, disabled: Collection[str]) -> tuple[ToolInfo, ...]:
        """Return the catalogue of ``GET tools``, sorted by category and name."""
        raise NotImplementedError

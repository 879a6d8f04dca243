"""Bounds the values of labels: no text of users, files or servers becomes one.

Used by ``host.metrics.event_metrics`` and ``host.metrics.spans``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

OTHER = "other"
MCP = "mcp"
"""All tools of MCP servers: their names come from the servers."""
UNKNOWN = "unknown"
"""A name that the model made up."""
MOST_TOOLS = 300
"""Tools of installed packages are theirs to name; beyond this they are ``other``."""
MOST_USERS = 1000
MCP_PACKAGE = "MCP server "
"""How the registry names the package of such a tool."""


@dataclass(frozen=True, slots=True)
class ToolOrigin:
    """Where a tool is from."""

    package: str | None
    """None: built in."""


class Labels:
    """Values of labels for one host."""

    def __init__(
        self,
        providers: Collection[ProviderId],
        models: Collection[ModelId],
        origin: Callable[[str], ToolOrigin | None],
    ) -> None:
        """``providers`` and ``models`` are those we ship; ``origin`` is None for no tool."""
        self._providers = providers
        self._models = models
        self._origin = origin
        self._tools: set[str] = set()
        self._users: set[str] = set()

    def model(self, provider: ProviderId | None, model: ModelId | None) -> tuple[str, str]:
        """Return the labels of a provider and a model; ``other`` for those of configurations."""
        if provider is None or provider not in self._providers:
            return OTHER, OTHER
        return provider, model if model is not None and model in self._models else OTHER

    def tool(self, name: str) -> str:
        """Return the label of a tool."""
        origin = self._origin(name)
        if origin is None:
            return name if name in self._tools else UNKNOWN
        if origin.package is not None and origin.package.startswith(MCP_PACKAGE):
            return MCP
        return _bounded(name, self._tools, MOST_TOOLS)

    def user(self, owner: str | None) -> str:
        """Return the label of a user."""
        return OTHER if owner is None else _bounded(owner, self._users, MOST_USERS)


def _bounded(value: str, seen: set[str], most: int) -> str:
    if value not in seen:
        if len(seen) >= most:
            return OTHER
        seen.add(value)
    return value

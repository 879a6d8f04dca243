"""Settings that come with a folder: ``GET trust`` lists them, ``PUT trust`` answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

ItemKind = Literal[
    "rule", "provider", "model", "setting", "instructions", "skill", "program", "memory"
]
"""``rule``: a permission rule that allows; ``setting``: a value of settings.json, or the default
model; ``program``: an entry of ``.mcp.json``, an MCP server that would be started or called;
``memory``: statements of ``memory.md``.
"""

TrustState = Literal["new", "changed", "trusted", "declined"]
"""``new`` and ``changed`` (since the answer) items need an answer and do not apply."""

TrustPolicy = Literal["ask", "trusted", "forbidden"]
"""``trusted``: the home folder, or trusted by the administrator; ``forbidden``: by the
administrator. Only ``ask`` accepts answers.
"""

ItemId = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TrustItem(WireModel):
    """A setting of the folder that would extend the agent's rights or instructions."""

    id: str
    """A digest of the content: a changed item has another id."""
    kind: ItemKind
    name: str
    file: str
    line: int | None
    content: str
    """The item as written in the file."""
    host: str | None
    """Destination of text."""
    warnings: tuple[str, ...]
    """Warnings for the user: a key that would be sent, a name that is replaced."""
    state: TrustState


class FolderTrustView(WireModel):
    """``GET trust`` and ``PUT trust``."""

    folder: str
    policy: TrustPolicy
    items: tuple[TrustItem, ...]


class PutTrust(CommandModel):
    """``PUT trust``: the answers about some items; others keep theirs."""

    trust: tuple[ItemId, ...] = Field(default=(), max_length=1000)
    decline: tuple[ItemId, ...] = Field(default=(), max_length=1000)

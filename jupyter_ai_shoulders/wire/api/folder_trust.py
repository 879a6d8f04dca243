"""Settings that a folder brings along: ``GET trust`` lists them, ``PUT trust`` answers."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

ItemKind = Literal["rule", "provider", "model", "setting", "instructions", "skill", "program"]
"""``rule``: a permission rule that allows; ``setting``: a value of settings.json, or the default
model; ``program``: an entry of ``.mcp.json``, which is listed and never started."""

TrustState = Literal["new", "changed", "trusted", "declined"]
"""``new`` and ``changed`` (since it was answered) items wait for an answer and do not apply."""

TrustPolicy = Literal["ask", "trusted", "forbidden"]
"""``trusted``: the home folder, or trusted by the administrator; ``forbidden``: by the
administrator. Only ``ask`` takes answers."""

ItemId = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class TrustItem(WireModel):
    """One setting of the folder that would extend what the agent may do, or what it is told."""

    id: str
    """A digest of the content: a changed item has another id."""
    kind: ItemKind
    name: str
    file: str
    line: int | None
    content: str
    """The item as it is in the file."""
    host: str | None
    """Where text would be sent."""
    warnings: tuple[str, ...]
    """What else the person has to know: a key that would be sent, a name it takes over."""
    state: TrustState


class FolderTrustView(WireModel):
    """``GET trust`` and ``PUT trust``."""

    folder: str
    policy: TrustPolicy
    items: tuple[TrustItem, ...]


class PutTrust(CommandModel):
    """``PUT trust``: the answers about some items; the others keep theirs."""

    trust: tuple[ItemId, ...] = Field(default=(), max_length=1000)
    decline: tuple[ItemId, ...] = Field(default=(), max_length=1000)

"""Agents of other programs that can answer in the panel (ACP)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.ids import ModelId


class AgentInfo(WireModel):
    """An agent as the picker shows it."""

    id: ModelId
    """``agent:<name>``; chosen like a model."""
    title: str
    command: str
    """The program and its arguments."""
    installed: bool
    install: str | None
    """A command that installs it; null when unknown."""
    source: Literal["known", "user", "administrator"]
    problem: str | None = None
    """Why it cannot be used although it is there."""


class AgentList(WireModel):
    """``GET agents``."""

    agents: tuple[AgentInfo, ...]
    problem: str | None = None
    """Why no agent can be used, such as a missing package; null otherwise."""


class PatchAgent(CommandModel):
    """``PATCH sessions/{id}/agent``: change the mode or an option of the agent."""

    mode: str | None = Field(default=None, max_length=256)
    option: str | None = Field(default=None, max_length=256)
    """Id of the option to set to ``value``."""
    value: str | None = Field(default=None, max_length=256)

"""Preferences shared by all surfaces (chapters 02 and 03), by area: there is room for more."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from jupyter_ai_shoulders.wire.base import CommandModel, WireModel

AccessMode = Literal["local", "remote", "auto"]
"""``auto`` takes a local model when its server is healthy, else a remote one."""

Fallback = Literal["local", "remote", "none"]
DataValues = Literal["schema_only", "samples", "full"]
"""What leaves of the data in kernels: names, types and shapes; a few values as well; or many."""
CommandMode = Literal["none", "host", "sandbox", "sandbox_read_only"]
"""Whether the agent may run commands, and what holds them: ``host`` is nothing, and each asks."""
SettingSource = Literal["default", "user", "workspace", "administrator"]


class ModelSettings(WireModel):
    """Which models are used, and how single calls are bounded."""

    mode: AccessMode
    fallback: Fallback
    """Where to go when the mode's own models cannot answer."""
    single_call_timeout_s: float
    single_call_max_tokens: int
    ollama_host: str
    default: str
    """The model of new conversations, where the mode allows it; empty: the one used last."""


class EgressSettings(WireModel):
    """What may be sent to models."""

    data_values: DataValues
    """Of what tools and messages tell of variables; what a cell prints is sent as it is."""


class CommandSettings(WireModel):
    """How commands of the agent run."""

    mode: CommandMode
    network: bool
    """Whether a sandboxed command may use the network."""


class GhostSettings(WireModel):
    """Suggestions at the caret (chapter 10)."""

    enabled_plus: bool
    """Whether ``++`` asks for them; else it is typed as it is."""
    automatic: bool
    """Whether the lab may ask for them while one types."""
    skip_languages: tuple[str, ...]
    """Languages that have a ``++`` of their own: there it is typed as it is. In lower case."""


class ThreadSettings(WireModel):
    """Task threads (chapter 09)."""

    keep_in_notebook: bool
    """Whether a notebook carries a list of its threads, with the texts they are about."""


class SettingsValues(WireModel):
    """The values that hold."""

    models: ModelSettings
    egress: EgressSettings
    commands: CommandSettings
    ghost: GhostSettings
    threads: ThreadSettings


class SettingsProblem(WireModel):
    """Something wrong in a settings file; what is wrong is not used, the file is kept."""

    file: str
    line: int | None
    message: str


class Settings(WireModel):
    """``GET settings`` and ``PUT settings``."""

    values: SettingsValues
    sources: dict[str, SettingSource]
    """Where each value comes from, by name (``models.mode``). Those of the administrator are
    locked."""
    locks: dict[str, str]
    """Why a value cannot be changed here, by name, in words."""
    problems: tuple[SettingsProblem, ...]
    revision: str
    """Names what is stored, for ``PUT settings``."""


class PutModelSettings(CommandModel):
    """The part ``models`` of ``PUT settings``."""

    mode: AccessMode | None = None
    fallback: Fallback | None = None
    single_call_timeout_s: float | None = Field(default=None, gt=0, le=3600, allow_inf_nan=False)
    single_call_max_tokens: int | None = Field(default=None, ge=1, le=1_000_000)
    ollama_host: str | None = Field(default=None, pattern=r"^https?://[^\s/]+", max_length=2048)
    default: str | None = Field(default=None, max_length=256)


class PutEgressSettings(CommandModel):
    """The part ``egress`` of ``PUT settings``."""

    data_values: DataValues | None = None


class PutCommandSettings(CommandModel):
    """The part ``commands`` of ``PUT settings``."""

    mode: CommandMode | None = None
    network: bool | None = None


class PutGhostSettings(CommandModel):
    """The part ``ghost`` of ``PUT settings``."""

    enabled_plus: bool | None = None
    automatic: bool | None = None
    skip_languages: tuple[Annotated[str, Field(max_length=64)], ...] | None = Field(
        default=None, max_length=100
    )


class PutThreadSettings(CommandModel):
    """The part ``threads`` of ``PUT settings``."""

    keep_in_notebook: bool | None = None


class PutSettings(CommandModel):
    """``PUT settings``: what is given is stored, null goes back to the default, the rest stays."""

    models: PutModelSettings | None = None
    egress: PutEgressSettings | None = None
    commands: PutCommandSettings | None = None
    ghost: PutGhostSettings | None = None
    threads: PutThreadSettings | None = None
    revision: str | None = None
    """Of the settings that were seen: when others are stored by now, 409 ``stale``."""


class SettingsScope(CommandModel):
    """Query of ``PUT settings``: whose file is written."""

    scope: Literal["workspace", "user"] = "workspace"

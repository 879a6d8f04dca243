"""Settings shared by all surfaces, by area."""

from __future__ import annotations

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field

from jupyter_ai_shoulders.wire.api.references import CitationSyntax
from jupyter_ai_shoulders.wire.base import CommandModel, WireModel
from jupyter_ai_shoulders.wire.sessions import Toolset

AccessMode = Literal["local", "remote", "auto"]
"""``auto`` uses a local model when its server is healthy, else a remote one."""

Fallback = Literal["local", "remote", "none"]
DataValues = Literal["schema_only", "samples", "full"]
"""Data from kernels that may be sent: names, types and shapes; some values too; or many."""
CommandMode = Literal["none", "host", "sandbox", "sandbox_read_only"]
"""Whether the agent may run commands, and their confinement: with ``host`` there is none, and each
command asks.
"""
SettingSource = Literal["default", "user", "workspace", "administrator"]


class ModelSettings(WireModel):
    """The permitted models and the limits of single calls."""

    mode: AccessMode
    fallback: Fallback
    """Alternative when the mode's own models cannot answer."""
    single_call_timeout_s: float
    single_call_max_tokens: int
    ollama_host: str
    default: str
    """The model of new conversations if the mode permits it; empty for the last one used."""


class EgressSettings(WireModel):
    """Data that may be sent to models."""

    data_values: DataValues
    """Values of variables in tools and messages; the output of cells is sent unchanged."""


class CommandSettings(WireModel):
    """How commands of the agent run."""

    mode: CommandMode
    network: bool
    """Whether a sandboxed command may use the network."""


class CompletionSettings(WireModel):
    """Inline completions."""

    enabled_plus: bool
    """Whether ``++`` requests suggestions; otherwise it is ordinary text."""
    automatic: bool
    """Whether JupyterLab may request suggestions during typing."""
    skip_languages: tuple[str, ...]
    """Lower-case names of languages with a ``++`` operator, in which it is ordinary text."""


class ThreadSettings(WireModel):
    """Task threads."""

    keep_in_notebook: bool
    """Whether notebooks store a list of their threads, with the quoted texts."""


class SearchSettings(WireModel):
    """Search in the workspace."""

    enabled: bool
    include: tuple[str, ...]
    """Globs of files that are searched as text whatever their names end in."""
    exclude: tuple[str, ...]
    """Globs of files that are not searched."""
    conversations: bool
    """Whether the user's conversations are searched, too."""
    by_meaning: bool
    """Whether texts are embedded where there is an embedding model."""
    embedder: str
    """Id of the embedding model; empty: chosen by the mode of models."""
    send_to: str
    """The host that the user allowed to send texts of the workspace to, for embedding."""


KeyPattern = Literal["authoryearword", "authoryear", "authortitleyear", "authoryeartitle"]
"""Parts of the keys of new references: first author, year, first or all words of the title."""


class ReferenceSettings(WireModel):
    """Bibliographies and citations."""

    main_file: str
    """The ``.bib`` file of the workspace that new references are added to."""
    key_pattern: KeyPattern
    citation_syntax: CitationSyntax
    """How documents without citations cite."""
    style: str
    """Name of a shipped citation style, or the path of a ``.csl`` file of the workspace."""


class WordSettings(WireModel):
    """Word documents."""

    tracked_changes: bool
    """Whether the agent's changes are tracked changes; otherwise they are plain edits."""


class ScheduleSettings(WireModel):
    """Schedules and watchers: what all of them together may do. No tool changes these."""

    agent: bool
    """Whether the agent may schedule its own next runs."""
    shortest_interval_s: int
    most_schedules: int
    runs_per_day: int
    usd_per_day: float
    most_concurrent: int
    longest_agent_days: int
    """Days after which schedules made by the agent expire at the latest."""
    largest_toolset: Toolset
    quiet_hours: str
    """``22:00-07:00 Europe/Berlin``; empty: none."""
    poll_files: bool
    """Whether watchers compare files every few seconds, for systems that report no changes."""


class NotificationSettings(WireModel):
    """Messages for the person, and where they go. No tool changes these."""

    agent: bool
    """Whether the agent may notify the person."""
    browser: bool
    """Whether pages show notifications of the browser while they are hidden."""
    webhook: str
    """The address that notifications are sent to; empty: none. Never from a folder's file."""


class AgentDatabaseSettings(WireModel):
    """The agent's database."""

    enabled: bool
    limit_mb: int
    """Its largest size, in millions of bytes."""


class MemorySettings(WireModel):
    """The memory across conversations."""

    enabled: bool
    """Whether statements are remembered, sent to models and shown."""


class SettingsValues(WireModel):
    """The effective values."""

    models: ModelSettings
    egress: EgressSettings
    commands: CommandSettings
    ghost: CompletionSettings
    threads: ThreadSettings
    search: SearchSettings
    references: ReferenceSettings
    word: WordSettings
    schedules: ScheduleSettings
    notifications: NotificationSettings
    agent_database: AgentDatabaseSettings
    memory: MemorySettings


class SettingsProblem(WireModel):
    """A problem in a settings file; the faulty part is not used, the file is kept."""

    file: str
    line: int | None
    message: str


class Settings(WireModel):
    """``GET settings`` and ``PUT settings``."""

    values: SettingsValues
    sources: dict[str, SettingSource]
    """The source of each value, by name (``models.mode``). The administrator's are locked."""
    locks: dict[str, str]
    """Why a value cannot be changed here, by name, in words."""
    problems: tuple[SettingsProblem, ...]
    revision: str
    """Identifies the stored settings, for ``PUT settings``."""


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


class PutCompletionSettings(CommandModel):
    """The part ``ghost`` of ``PUT settings``."""

    enabled_plus: bool | None = None
    automatic: bool | None = None
    skip_languages: tuple[Annotated[str, Field(max_length=64)], ...] | None = Field(
        default=None, max_length=100
    )


def _known_zone(text: str) -> str:
    """Refuse quiet hours in an unknown time zone."""
    name = text.partition(" ")[2]
    try:
        if name:
            ZoneInfo(name)
    except (KeyError, OSError, ValueError) as error:
        raise ValueError(f"there is no time zone {name!r}") from error
    return text


class PutThreadSettings(CommandModel):
    """The part ``threads`` of ``PUT settings``."""

    keep_in_notebook: bool | None = None


_TIME = "([01][0-9]|2[0-3]):[0-5][0-9]"
QuietHoursText = Annotated[
    str,
    Field(pattern=rf"^({_TIME}-{_TIME} [A-Za-z0-9_+/-]{{1,64}})?$"),
    AfterValidator(_known_zone),
]
Globs = tuple[Annotated[str, Field(min_length=1, max_length=256)], ...]


class PutSearchSettings(CommandModel):
    """The part ``search`` of ``PUT settings``."""

    enabled: bool | None = None
    include: Globs | None = Field(default=None, max_length=100)
    exclude: Globs | None = Field(default=None, max_length=100)
    conversations: bool | None = None
    by_meaning: bool | None = None
    embedder: str | None = Field(default=None, max_length=256)
    send_to: str | None = Field(default=None, max_length=256)


class PutReferenceSettings(CommandModel):
    """The part ``references`` of ``PUT settings``."""

    main_file: str | None = Field(default=None, pattern=r"^[^/\\].*\.bib$", max_length=1024)
    key_pattern: KeyPattern | None = None
    citation_syntax: CitationSyntax | None = None
    style: str | None = Field(default=None, min_length=1, max_length=4_096)


class PutWordSettings(CommandModel):
    """The part ``word`` of ``PUT settings``."""

    tracked_changes: bool | None = None


class PutScheduleSettings(CommandModel):
    """The part ``schedules`` of ``PUT settings``."""

    agent: bool | None = None
    shortest_interval_s: int | None = Field(default=None, ge=60)
    most_schedules: int | None = Field(default=None, ge=0, le=1_000)
    runs_per_day: int | None = Field(default=None, ge=0, le=10_000)
    usd_per_day: float | None = Field(default=None, ge=0, le=1_000_000)
    most_concurrent: int | None = Field(default=None, ge=1, le=20)
    longest_agent_days: int | None = Field(default=None, ge=1, le=366)
    largest_toolset: Toolset | None = None
    quiet_hours: QuietHoursText | None = None
    poll_files: bool | None = None


class PutNotificationSettings(CommandModel):
    """The part ``notifications`` of ``PUT settings``."""

    agent: bool | None = None
    browser: bool | None = None
    webhook: str | None = Field(
        default=None, pattern=r"^(https?://[^\s/@]+(/\S*)?)?$", max_length=2048
    )


class PutAgentDatabaseSettings(CommandModel):
    """The part ``agent_database`` of ``PUT settings``."""

    enabled: bool | None = None
    limit_mb: int | None = Field(default=None, ge=1, le=1_000)


class PutMemorySettings(CommandModel):
    """The part ``memory`` of ``PUT settings``."""

    enabled: bool | None = None


class PutSettings(CommandModel):
    """``PUT settings``: given values are stored, null resets to the default, others stay."""

    models: PutModelSettings | None = None
    egress: PutEgressSettings | None = None
    commands: PutCommandSettings | None = None
    ghost: PutCompletionSettings | None = None
    threads: PutThreadSettings | None = None
    search: PutSearchSettings | None = None
    references: PutReferenceSettings | None = None
    word: PutWordSettings | None = None
    schedules: PutScheduleSettings | None = None
    notifications: PutNotificationSettings | None = None
    agent_database: PutAgentDatabaseSettings | None = None
    memory: PutMemorySettings | None = None
    revision: str | None = None
    """Revision the change is based on; 409 ``stale`` if another is stored."""


class SettingsScope(CommandModel):
    """Query of ``PUT settings``: the file to write."""

    scope: Literal["workspace", "user"] = "workspace"

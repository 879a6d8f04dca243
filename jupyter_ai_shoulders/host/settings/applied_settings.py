"""What several sources of settings amount to. Pure; used by ``preferences``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.host.settings.defaults import default_values
from jupyter_ai_shoulders.host.settings.file_parser import Area, SettingsSource
from jupyter_ai_shoulders.wire.api.settings import (
    AgentDatabaseSettings,
    CommandSettings,
    CompletionSettings,
    MemorySettings,
    NotificationSettings,
    ReferenceSettings,
    ScheduleSettings,
    SearchSettings,
    SettingSource,
    WordSettings,
)


class AppliedSettings:
    """What some sources amount to."""

    def __init__(self, found: tuple[SettingsSource, ...]) -> None:
        self.found = found
        self.values, self.sources = merged_values(found)

    @cached_property
    def models(self) -> ModelPreferences:
        return ModelPreferences(**area_values(self.values, "models"))

    @cached_property
    def commands(self) -> CommandSettings:
        return CommandSettings(**area_values(self.values, "commands"))

    @cached_property
    def search(self) -> SearchSettings:
        return SearchSettings(**area_values(self.values, "search"))

    @cached_property
    def references(self) -> ReferenceSettings:
        return ReferenceSettings(**area_values(self.values, "references"))

    @cached_property
    def word(self) -> WordSettings:
        return WordSettings(**area_values(self.values, "word"))

    @cached_property
    def schedules(self) -> ScheduleSettings:
        return ScheduleSettings(**area_values(self.values, "schedules"))

    @cached_property
    def notifications(self) -> NotificationSettings:
        return NotificationSettings(**area_values(self.values, "notifications"))

    @cached_property
    def agent_database(self) -> AgentDatabaseSettings:
        return AgentDatabaseSettings(**area_values(self.values, "agent_database"))

    @cached_property
    def memory(self) -> MemorySettings:
        return MemorySettings(**area_values(self.values, "memory"))

    @cached_property
    def inline_completion(self) -> CompletionSettings:
        return CompletionSettings(**area_values(self.values, "ghost"))


def merged_values(
    found: Sequence[SettingsSource],
) -> tuple[dict[str, Any], dict[str, SettingSource]]:
    """Return the values that apply, and the source of each."""
    values = default_values()
    sources: dict[str, SettingSource] = dict.fromkeys(values, "default")
    for source in found:
        values |= source.values
        sources |= dict.fromkeys(source.values, source.name)
    return values, sources


def area_values(values: Mapping[str, Any], area: Area) -> dict[str, Any]:
    """Return the values of one area by their own names."""
    start = f"{area}."
    return {name.removeprefix(start): v for name, v in values.items() if name.startswith(start)}

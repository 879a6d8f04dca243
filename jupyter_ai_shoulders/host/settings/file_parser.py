"""Parses a settings file: its valid values, and its problems with lines.

Pure; used by ``preferences``, which reads the files. A folder may come from anybody: ``restricts``
decides what its file may set without trust.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from pydantic import Field, ValidationError

from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.wire.api.settings import (
    PutAgentDatabaseSettings,
    PutCommandSettings,
    PutCompletionSettings,
    PutEgressSettings,
    PutMemorySettings,
    PutModelSettings,
    PutNotificationSettings,
    PutReferenceSettings,
    PutScheduleSettings,
    PutSearchSettings,
    PutThreadSettings,
    PutWordSettings,
    SettingSource,
    SettingsProblem,
)
from jupyter_ai_shoulders.wire.base import CommandModel

VERSION = 1

Area = Literal[
    "models",
    "egress",
    "commands",
    "ghost",
    "threads",
    "search",
    "references",
    "word",
    "schedules",
    "notifications",
    "agent_database",
    "memory",
]
AREAS: Mapping[Area, type[CommandModel]] = {
    "models": PutModelSettings,
    "egress": PutEgressSettings,
    "commands": PutCommandSettings,
    "ghost": PutCompletionSettings,
    "threads": PutThreadSettings,
    "search": PutSearchSettings,
    "references": PutReferenceSettings,
    "word": PutWordSettings,
    "schedules": PutScheduleSettings,
    "notifications": PutNotificationSettings,
    "agent_database": PutAgentDatabaseSettings,
    "memory": PutMemorySettings,
}


class AdministratorScheduleSettings(PutScheduleSettings):
    """What an administrator may set: intervals that users may not choose."""

    shortest_interval_s: int | None = Field(default=None, ge=1)


FOLDERS = "folders"
PER_FOLDER: tuple[Area, ...] = (
    "egress",
    "commands",
    "ghost",
    "search",
    "schedules",
    "notifications",
    "agent_database",
)
"""Areas stored for a folder in the user's own file, under ``folders``."""
_STRICTEST_FIRST: Mapping[str, tuple[str, ...]] = {
    "egress.data_values": ("schema_only", "samples", "full"),
    "commands.mode": ("none", "sandbox_read_only", "sandbox", "host"),
    "schedules.largest_toolset": ("inline", "document", "notebook", "workspace", "full"),
}
_STRICTEST: Mapping[str, object] = {
    "models.mode": "local",
    "models.fallback": "none",
    "commands.network": False,
    "ghost.enabled_plus": False,
    "ghost.automatic": False,
    "threads.keep_in_notebook": False,
    "search.enabled": False,
    "search.include": (),
    "search.conversations": False,
    "search.by_meaning": False,
    "search.send_to": "",
    "schedules.agent": False,
    "schedules.poll_files": True,
    "notifications.agent": False,
    "notifications.browser": False,
    "agent_database.enabled": False,
    "memory.enabled": False,
}
_HARMLESS = ("references.",)
"""Beginnings of names whose values permit nothing."""
NEVER_FROM_FOLDER = frozenset({"notifications.webhook"})
"""Values that a folder's file cannot set, whatever the user trusts: where their words go."""
_LIMITS = frozenset(
    {
        *("models.single_call_timeout_s", "models.single_call_max_tokens"),
        *("schedules.most_schedules", "schedules.runs_per_day", "schedules.usd_per_day"),
        *("schedules.most_concurrent", "schedules.longest_agent_days"),
        "agent_database.limit_mb",
    }
)


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """One source of settings: ``values`` holds its valid values, as ``models.mode``."""

    name: SettingSource
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problems: tuple[SettingsProblem, ...] = ()
    folders: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """The user's permissions for single folders, by their paths."""
    is_readable: bool = True
    """Whether the file could be parsed as settings, apart from single values."""


def read_settings(name: SettingSource, shown: str, text: str | None) -> SettingsSource:
    """Return the valid values and the problems of a settings file. Never raises."""
    if text is None or not text.strip():
        return SettingsSource(name)
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        return unused(name, shown, line, f"It is not JSON ({error}); it is not used.")
    if not isinstance(found, dict):
        return unused(name, shown, 1, "It does not hold a JSON object; it is not used.")
    values = cast("dict[str, Any]", found)
    version = values.get("version", VERSION)
    if version != VERSION:
        message = f"It has version {version!r}, this program reads version {VERSION}; not used."
        return unused(name, shown, json_line_of(text, ["version"]), message)
    wrong = next((area for area in AREAS if not isinstance(values.get(area, {}), dict)), None)
    if wrong is not None:
        return unused(name, shown, json_line_of(text, [wrong]), f'"{wrong}" must be an object.')
    checked = [_checked(name, shown, text, area, values.get(area, {})) for area in AREAS]
    return SettingsSource(
        name,
        {key: value for source in checked for key, value in source.values.items()},
        tuple(problem for source in checked for problem in source.problems),
        _folders(values.get(FOLDERS)) if name == "user" else {},
    )


def _checked(
    name: SettingSource, shown: str, text: str, area: Area, given: dict[str, Any]
) -> SettingsSource:
    valid: dict[str, Any] = {}
    problems: list[SettingsProblem] = []
    is_wider = name == "administrator" and area == "schedules"
    model = AdministratorScheduleSettings if is_wider else AREAS[area]
    for key in filter(model.model_fields.__contains__, given):
        try:
            value = getattr(model.model_validate({key: given[key]}), key)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        else:
            problem = None
            if value is not None:
                valid[f"{area}.{key}"] = value
        if problem is not None:
            line = json_line_of(text, [area, key])
            problems.append(
                SettingsProblem(file=shown, line=line, message=f"{area}.{key}: {problem}")
            )
    return SettingsSource(name, valid, tuple(problems))


def _folders(found: object) -> dict[str, Mapping[str, Any]]:
    """Return the user's permissions for single folders; wrong entries allow nothing."""
    folders = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {
        folder: _allowed(cast("dict[str, Any]", values))
        for folder, values in folders.items()
        if isinstance(values, dict)
    }


def _allowed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's permissions for one folder."""
    found: dict[str, Any] = {}
    for area in PER_FOLDER:
        given = values.get(area)
        if isinstance(given, dict):
            found |= _checked("user", FOLDERS, "", area, cast("dict[str, Any]", given)).values
    return found


def restricts(name: str, value: Any, current: Any) -> bool:
    """Return whether a value allows no more than the one that applies without it."""
    if value == current or name.startswith(_HARMLESS):
        return True
    if name in _STRICTEST_FIRST:
        order = _STRICTEST_FIRST[name]
        return order.index(value) <= order.index(current)
    if name in _LIMITS:
        return value < current
    if name in {"ghost.skip_languages", "search.exclude"}:
        return set(value) >= set(current)
    return _is_strictest(name, value, current)


def _is_strictest(name: str, value: Any, current: Any) -> bool:
    if name == "schedules.shortest_interval_s":
        return value > current
    if name == "schedules.quiet_hours":
        return not current
    return name in _STRICTEST and value == _STRICTEST[name]


def unused(name: SettingSource, shown: str, line: int | None, message: str) -> SettingsSource:
    """Return the source of a file that is not used, with the reason."""
    problem = SettingsProblem(file=shown, line=line, message=message)
    return SettingsSource(name, problems=(problem,), is_readable=False)

"""What the text of a settings file says: what is valid in it, and what is wrong, with lines.

Pure; used by ``preferences``, which reads the files. A folder may come from anybody: what its own
file may not loosen is refused here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from jupyter_ai_shoulders.core.catalogue_trust import is_this_machine
from jupyter_ai_shoulders.core.json_lines import line_of
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.settings import (
    PutCommandSettings,
    PutEgressSettings,
    PutGhostSettings,
    PutModelSettings,
    PutThreadSettings,
    SettingSource,
    SettingsProblem,
)

VERSION = 1

Area = Literal["models", "egress", "commands", "ghost", "threads"]
AREAS: Mapping[Area, type[CommandModel]] = {
    "models": PutModelSettings,
    "egress": PutEgressSettings,
    "commands": PutCommandSettings,
    "ghost": PutGhostSettings,
    "threads": PutThreadSettings,
}
FOLDERS = "folders"
PER_FOLDER: tuple[Area, ...] = ("egress", "commands", "ghost")
"""What a folder's own file may not loosen; the user's file says it for single folders."""
_STRICTEST: Mapping[str, object] = {
    "egress.data_values": "schema_only",
    "commands.mode": "none",
    "commands.network": False,
    "ghost.automatic": False,
}

_LETS_OUT = (
    "A folder's own settings may not let values of your data out. Choose it in the settings if "
    "that is what you want."
)
_LETS_RUN = (
    "A folder's own settings may not let commands run. Choose it in the settings if that is what "
    "you want."
)
_LETS_ASK = (
    "A folder's own settings may not send what you type without being asked. Choose it in the "
    "settings if that is what you want."
)
OTHER_MACHINE = (
    "A folder's own settings may not send what you ask to another machine. Put it into "
    "~/.shoulders/settings.json if that is what you want."
)
_LETS: Mapping[str, str] = {"commands": _LETS_RUN, "ghost": _LETS_ASK}


@dataclass(frozen=True, slots=True)
class Source:
    """One place of settings: ``values`` holds what is valid in it, as ``models.mode``."""

    name: SettingSource
    values: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problems: tuple[SettingsProblem, ...] = ()
    folders: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    """What the user allows in single folders, by their paths."""


def read_settings(name: SettingSource, shown: str, text: str | None) -> Source:
    """Return what is valid in a settings file's text, and what is wrong. Never raises."""
    if text is None or not text.strip():
        return Source(name)
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
        return unused(name, shown, line_of(text, ["version"]), message)
    wrong = next((area for area in AREAS if not isinstance(values.get(area, {}), dict)), None)
    if wrong is not None:
        return unused(name, shown, line_of(text, [wrong]), f'"{wrong}" must be an object.')
    checked = [_checked(name, shown, text, area, values.get(area, {})) for area in AREAS]
    return Source(
        name,
        {key: value for source in checked for key, value in source.values.items()},
        tuple(problem for source in checked for problem in source.problems),
        _folders(values.get(FOLDERS)) if name == "user" else {},
    )


def _checked(
    name: SettingSource, shown: str, text: str, area: Area, given: dict[str, Any]
) -> Source:
    valid: dict[str, Any] = {}
    problems: list[SettingsProblem] = []
    for key in filter(AREAS[area].model_fields.__contains__, given):
        try:
            value = getattr(AREAS[area].model_validate({key: given[key]}), key)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        else:
            problem = _foreign(f"{area}.{key}", value) if name == "workspace" else None
            if value is not None and problem is None:
                valid[f"{area}.{key}"] = value
        if problem is not None:
            line = line_of(text, [area, key])
            problems.append(
                SettingsProblem(file=shown, line=line, message=f"{area}.{key}: {problem}")
            )
    return Source(name, valid, tuple(problems))


def _folders(found: object) -> dict[str, Mapping[str, Any]]:
    """Return what the user allows in single folders; what is wrong allows nothing."""
    folders = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {
        folder: _allowed(cast("dict[str, Any]", values))
        for folder, values in folders.items()
        if isinstance(values, dict)
    }


def _allowed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the user allows in one folder."""
    found: dict[str, Any] = {}
    for area in PER_FOLDER:
        given = values.get(area)
        if isinstance(given, dict):
            found |= _checked("user", FOLDERS, "", area, cast("dict[str, Any]", given)).values
    return found


def _foreign(name: str, value: object) -> str | None:
    """Return why a folder's own file may not say this."""
    if leaves_this_machine(name, value):
        return OTHER_MACHINE
    if name not in _STRICTEST or value in (None, _STRICTEST[name]):
        return None
    return _LETS.get(name.partition(".")[0], _LETS_OUT)


def leaves_this_machine(name: str, value: object) -> bool:
    """Return whether a setting sends what the user asks to another machine."""
    if name != "models.ollama_host" or not isinstance(value, str):
        return False
    return not is_this_machine(urlsplit(value).hostname or "")


def unused(name: SettingSource, shown: str, line: int | None, message: str) -> Source:
    """Return the source of a file that is not used, with the reason."""
    return Source(name, problems=(SettingsProblem(file=shown, line=line, message=message),))

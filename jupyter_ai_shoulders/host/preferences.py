"""The user's preferences: the workspace's settings.json over ``~/.shoulders``'s over the defaults.

Made by ``host.build``; asked by ``providers.registry`` for each choice of a model (two ``stat``
calls when nothing changed) and by ``server.settings``. A file::

    {"version": 1, "models": {"mode": "local", "single_call_timeout_s": 20}}

What a file says wrongly is not used and is named with its line; the file is kept as it is. What an
administrator set in ``Shoulders.settings`` wins and cannot be changed here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, cast
from urllib.parse import urlsplit

from pydantic import ValidationError

from jupyter_ai_shoulders.core.catalogue_trust import is_this_machine
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.json_lines import line_of
from jupyter_ai_shoulders.core.preferences import ModelPreferences
from jupyter_ai_shoulders.storage.files import StateFile
from jupyter_ai_shoulders.wire.settings import (
    ModelSettings,
    PutModelSettings,
    PutSettings,
    Settings,
    SettingSource,
    SettingsProblem,
    SettingsValues,
)

VERSION = 1
TRAIT = "Shoulders.settings"
Scope = Literal["workspace", "user"]

_OTHER_MACHINE = (
    "A folder's own settings may not send what you ask to another machine. Put it into "
    "~/.shoulders/settings.json if that is what you want."
)


@dataclass(frozen=True, slots=True)
class Source:
    """One place of settings: ``models`` holds what is valid in it."""

    name: SettingSource
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    problems: tuple[SettingsProblem, ...] = ()


@dataclass(slots=True)
class _Place:
    """A settings file, read when it changed."""

    name: SettingSource
    path: Path
    file: StateFile
    shown: str
    signature: tuple[int, int] | None = None
    source: Source | None = None


class Preferences:
    """The settings that hold, and the files behind them."""

    def __init__(
        self, workspace: StateFile, user: StateFile, locked: Mapping[str, Any] | None = None
    ) -> None:
        """``locked`` is the trait, in the form of the file."""
        self._places: dict[Scope, _Place] = {
            "user": _Place("user", user.path, user, "~/.shoulders/settings.json"),
            "workspace": _Place("workspace", workspace.path, workspace, ".shoulders/settings.json"),
        }
        self._locked = read_settings("administrator", TRAIT, json.dumps(dict(locked or {})))
        self._known: tuple[tuple[Source, ...], ModelPreferences] | None = None

    def models(self) -> ModelPreferences:
        """Return what holds for the choice of models and for single calls."""
        sources = self._sources()
        if self._known is None or self._known[0] != sources:
            self._known = (sources, ModelPreferences(**_merged(sources)[0]))
        return self._known[1]

    def settings(self) -> Settings:
        """Return all values, where each comes from, and what is wrong in the files."""
        found = self._sources()
        values, sources = _merged(found)
        return Settings(
            values=SettingsValues(models=ModelSettings(**values)),
            sources={f"models.{key}": source for key, source in sources.items()},
            problems=tuple(problem for source in found for problem in source.problems),
        )

    def put(self, command: PutSettings, scope: Scope) -> Settings:
        """Store what is given; null takes a value out of the file.

        Raises ``PolicyRefusal`` (locked by the administrator), ``InvalidRequest``, ``Conflict``
        (the file cannot be read, so it is not replaced), ``StateUnavailable``.
        """
        given = command.models
        changes = given.model_dump(include=given.model_fields_set) if given else {}
        for key, value in changes.items():
            self._check(key, value, scope)
        place = self._places[scope]
        content = _content(place)
        models = content.setdefault("models", {})
        for key, value in changes.items():
            if value is None:
                models.pop(key, None)
            else:
                models[key] = value
        place.file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
        place.source = None
        return self.settings()

    def _check(self, key: str, value: object, scope: Scope) -> None:
        if key in self._locked.models:
            raise PolicyRefusal(
                f"models.{key} is set by your administrator and cannot be changed.",
                hint=f"It comes from {TRAIT} in Jupyter's configuration.",
                setting=f"models.{key}",
            )
        if scope == "workspace" and _leaves_this_machine(key, value):
            raise InvalidRequest(
                f"models.{key}: {_OTHER_MACHINE}", hint="Send it with ?scope=user."
            )

    def _sources(self) -> tuple[Source, ...]:
        return (*(_current(place) for place in self._places.values()), self._locked)


def _merged(found: Sequence[Source]) -> tuple[dict[str, Any], dict[str, SettingSource]]:
    """Return what holds, and where each value comes from."""
    values = asdict(ModelPreferences())
    sources: dict[str, SettingSource] = dict.fromkeys(values, "default")
    for source in found:
        values |= source.models
        sources |= dict.fromkeys(source.models, source.name)
    return values, sources


def read_settings(name: SettingSource, shown: str, text: str | None) -> Source:
    """Return what is valid in a settings file's text, and what is wrong. Never raises."""
    if text is None or not text.strip():
        return Source(name)
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else None
        return _unused(name, shown, line, f"It is not JSON ({error}); it is not used.")
    if not isinstance(found, dict):
        return _unused(name, shown, 1, "It does not hold a JSON object; it is not used.")
    values = cast("dict[str, Any]", found)
    version = values.get("version", VERSION)
    if version != VERSION:
        message = f"It has version {version!r}, this program reads version {VERSION}; not used."
        return _unused(name, shown, line_of(text, ["version"]), message)
    models: Any = values.get("models", {})
    if not isinstance(models, dict):
        return _unused(name, shown, line_of(text, ["models"]), '"models" must be an object.')
    return _checked(name, shown, text, cast("dict[str, Any]", models))


def _checked(name: SettingSource, shown: str, text: str, models: dict[str, Any]) -> Source:
    valid: dict[str, Any] = {}
    problems: list[SettingsProblem] = []
    for key in filter(PutModelSettings.model_fields.__contains__, models):
        try:
            value = getattr(PutModelSettings.model_validate({key: models[key]}), key)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]["msg"]
        else:
            foreign = name == "workspace" and _leaves_this_machine(key, value)
            problem = _OTHER_MACHINE if foreign else None
            if value is not None and problem is None:
                valid[key] = value
        if problem is not None:
            line = line_of(text, ["models", key])
            problems.append(
                SettingsProblem(file=shown, line=line, message=f"models.{key}: {problem}")
            )
    return Source(name, valid, tuple(problems))


def _leaves_this_machine(key: str, value: object) -> bool:
    if key != "ollama_host" or not isinstance(value, str):
        return False
    return not is_this_machine(urlsplit(value).hostname or "")


def _unused(name: SettingSource, shown: str, line: int | None, message: str) -> Source:
    return Source(name, problems=(SettingsProblem(file=shown, line=line, message=message),))


def _current(place: _Place) -> Source:
    signature = _signature(place.path)
    if place.source is None or place.signature != signature:
        place.signature = signature
        try:
            text = None if signature is None else place.file.read()
            place.source = read_settings(place.name, place.shown, text)
        except StateUnavailable as error:
            place.source = _unused(place.name, place.shown, None, str(error))
    return place.source


def _content(place: _Place) -> dict[str, Any]:
    """Return the file's JSON, to be changed and stored. Raises ``Conflict``."""
    text = place.file.read()
    empty: dict[str, Any] = {"version": VERSION}
    if text is None or not text.strip():
        return empty
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = None
    values = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    readable = values and isinstance(values.get("models", {}), dict)
    if not readable or values.get("version", VERSION) != VERSION:
        raise Conflict(
            f"The settings were not stored: {place.shown} cannot be read by this version.",
            hint="Correct or remove the file and try again.",
        )
    return {**empty, **values}


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)

"""The user's preferences: the workspace's settings.json over ``~/.shoulders``'s over the defaults.

Made by ``host.build``; used by ``providers.registry`` for each choice of a model (two ``stat``
calls when nothing changed) and by ``server.handlers.settings``. A file::

    {"version": 1, "models": {"mode": "local", "single_call_timeout_s": 20},
     "egress": {"data_values": "samples"}}

A folder may come from anybody, so only restricting values of its file apply until the user trusts
the rest. Permissions for one folder in areas such as ``commands`` are stored under ``folders`` in
the user's file. Wrong values are not used and are reported with their line; the file is kept.
Values that an administrator set in ``Shoulders.settings`` win and cannot be changed here.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, cast

from jupyter_ai_shoulders.core.catalogue.trust_items import url_host
from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal, StateUnavailable
from jupyter_ai_shoulders.core.folder_trust import (
    FolderItem,
    FolderTrust,
    TrustedFolder,
    format_json_for_review,
    is_accepted,
    item_digest,
)
from jupyter_ai_shoulders.core.json_positions import json_line_of
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.host.settings.applied_settings import (
    AppliedSettings,
    area_values,
    merged_values,
)
from jupyter_ai_shoulders.host.settings.file_parser import (
    AREAS,
    FOLDERS,
    NEVER_FROM_FOLDER,
    PER_FOLDER,
    VERSION,
    Area,
    SettingsSource,
    read_settings,
    restricts,
    unused,
)
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.api.settings import (
    AgentDatabaseSettings,
    CommandSettings,
    CompletionSettings,
    DataValues,
    EgressSettings,
    MemorySettings,
    ModelSettings,
    NotificationSettings,
    PutSettings,
    ReferenceSettings,
    ScheduleSettings,
    SearchSettings,
    Settings,
    SettingSource,
    SettingsProblem,
    SettingsValues,
    ThreadSettings,
    WordSettings,
)
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.versions import cell_version

TRAIT = "Shoulders.settings"
Scope = Literal["workspace", "user"]


@dataclass(slots=True)
class _SettingsFile:
    """A settings file, read again after a change."""

    name: SettingSource
    path: Path
    file: StateFile
    shown: str
    signature: tuple[int, int] | None = None
    source: SettingsSource | None = None
    text: str = ""


class Preferences:
    """The settings that apply, and the files behind them."""

    def __init__(
        self,
        workspace: StateFile,
        user: StateFile,
        locked: Mapping[str, Any] | None = None,
        folder: str = "",
        reasons: Mapping[str, str] | None = None,
        *,
        trust: FolderTrust | None = None,
    ) -> None:
        """``locked`` is the trait, in the form of the file; ``folder`` the workspace's path.

        ``reasons`` explain why single values are locked, where it is not the trait. ``trust`` has
        the user's answers about the workspace's file; without it, the file counts as their own.
        """
        self._trust: FolderTrust = trust or TrustedFolder()
        self._filtered: tuple[tuple[object, ...], SettingsSource] | None = None
        self._folder = folder
        self._reasons = reasons or {}
        self._writing = threading.Lock()
        """Two pages may store at once, in threads."""
        self._files: dict[Scope, _SettingsFile] = {
            "user": _SettingsFile("user", user.path, user, "~/.shoulders/settings.json"),
            "workspace": _SettingsFile(
                "workspace", workspace.path, workspace, ".shoulders/settings.json"
            ),
        }
        self._locked = read_settings("administrator", TRAIT, json.dumps(dict(locked or {})))
        self._last: AppliedSettings | None = None

    def models(self) -> ModelPreferences:
        """Return the settings for the choice of models and for single calls."""
        return self._applied().models

    def data_values(self) -> DataValues:
        """Return how much of the data in kernels may be sent."""
        return self._applied().values["egress.data_values"]

    def commands(self) -> tuple[CommandSettings, bool]:
        """Return how commands may run, and whether the administrator decided it."""
        applied = self._applied()
        return applied.commands, applied.sources["commands.mode"] == "administrator"

    def inline_completion(self) -> CompletionSettings:
        """Return the settings for suggestions at the caret."""
        return self._applied().inline_completion

    def search(self) -> SearchSettings:
        """Return the settings for search in the workspace."""
        return self._applied().search

    def references(self) -> ReferenceSettings:
        """Return the settings for bibliographies and citations."""
        return self._applied().references

    def word(self) -> WordSettings:
        """Return the settings for Word documents."""
        return self._applied().word

    def notifications(self) -> NotificationSettings:
        """Return where the person is notified."""
        return self._applied().notifications

    def schedules(self) -> tuple[ScheduleSettings, tuple[str, ...]]:
        """Return the limits of schedules, and the names of those the administrator set."""
        applied = self._applied()
        names = (name for name, source in applied.sources.items() if source == "administrator")
        area = "schedules."
        return applied.schedules, tuple(
            name.removeprefix(area) for name in names if name.startswith(area)
        )

    def agent_database(self) -> AgentDatabaseSettings:
        """Return the settings for the agent's database."""
        return self._applied().agent_database

    def memory(self) -> MemorySettings:
        """Return the settings for the memory."""
        return self._applied().memory

    def settings(self) -> Settings:
        """Return all values with their sources, and the problems of the files."""
        applied = self._applied()
        values = applied.values
        return Settings(
            values=SettingsValues(
                models=ModelSettings(**area_values(values, "models")),
                egress=EgressSettings(**area_values(values, "egress")),
                commands=applied.commands,
                ghost=applied.inline_completion,
                threads=ThreadSettings(**area_values(values, "threads")),
                search=applied.search,
                references=applied.references,
                word=applied.word,
                schedules=applied.schedules,
                notifications=applied.notifications,
                agent_database=applied.agent_database,
                memory=applied.memory,
            ),
            sources=applied.sources,
            locks={name: self._reason(name) for name in self._locked.values},
            problems=tuple(problem for source in applied.found for problem in source.problems),
            revision=self._revision(),
        )

    def put(self, command: PutSettings, scope: Scope) -> Settings:
        """Store the given values; null removes a value from the file.

        Raises ``PolicyRefusal`` (locked by the administrator), ``InvalidRequest``, ``Conflict``
        (the file cannot be read, so it is not replaced; or the settings changed since they were
        read), ``StateUnavailable``.
        """
        with self._writing:
            return self._put(command, scope)

    def _put(self, command: PutSettings, scope: Scope) -> Settings:
        self._refuse_stale(command.revision)
        changes: dict[Area, dict[str, Any]] = {
            area: _changes(getattr(command, area)) for area in AREAS
        }
        for area, values in changes.items():
            for key in values:
                self._check(f"{area}.{key}")
        for area, values in changes.items():
            if values:
                self._store(area, values, scope)
        return self.settings()

    def _store(self, area: Area, changes: Mapping[str, Any], scope: Scope) -> None:
        in_folder = area in PER_FOLDER and scope == "workspace"
        if scope == "workspace" and not in_folder:
            self._trust.record(
                ("setting", f"{area}.{key}", _digest(f"{area}.{key}", value))
                for key, value in changes.items()
                if value is not None
            )
        settings_file = self._files["user" if in_folder else scope]
        content = _content(settings_file)
        home = content
        if in_folder:
            home = content.setdefault(FOLDERS, {}).setdefault(self._folder, {})
        values = home.setdefault(area, {})
        values.update(changes)
        home[area] = {key: value for key, value in values.items() if value is not None}
        settings_file.file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
        settings_file.source = None

    def _check(self, name: str) -> None:
        if name in self._locked.values:
            raise PolicyRefusal(
                f"{name} is set by your administrator and cannot be changed.",
                hint=self._reason(name),
                setting=name,
            )

    def _reason(self, name: str) -> str:
        """Return why a value is locked."""
        return self._reasons.get(name, f"It comes from {TRAIT} in Jupyter's configuration.")

    def _revision(self) -> str:
        """Return an identifier of the current state of the files."""
        self._sources()
        return cell_version("\0".join(settings_file.text for settings_file in self._files.values()))

    def _refuse_stale(self, seen: str | None) -> None:
        if seen is not None and seen != self._revision():
            raise Conflict(
                "The settings were changed elsewhere. Your change was not saved.",
                code="stale",
                hint="Check them and repeat the change.",
            )

    def _applied(self) -> AppliedSettings:
        """Return the settings that apply now, merged again only after a change."""
        found = self._sources()
        if self._last is None or self._last.found != found:
            self._last = AppliedSettings(found)
        return self._last

    def _sources(self) -> tuple[SettingsSource, ...]:
        user, workspace = (_current(self._files[scope]) for scope in ("user", "workspace"))
        allowed = SettingsSource("workspace", user.folders.get(self._folder, {}))
        return (user, allowed, self._accepted(user, allowed, workspace), self._locked)

    def _accepted(
        self, user: SettingsSource, allowed: SettingsSource, workspace: SettingsSource
    ) -> SettingsSource:
        """Return the workspace's file reduced to values that restrict or that the user trusts."""
        key = (user, allowed, workspace, self._trust.revision)
        if self._filtered is None or self._filtered[0] != key:
            current, _ = merged_values((user, allowed))
            values = {
                name: value
                for name, value in workspace.values.items()
                if name not in NEVER_FROM_FOLDER
                and (
                    restricts(name, value, current[name])
                    or is_accepted(self._trust, _digest(name, value))
                )
            }
            self._filtered = (key, replace(workspace, values=values))
        return self._filtered[1]

    def items(self) -> tuple[FolderItem, ...]:
        """Return the values of the workspace's file that need the user's review."""
        return tuple(self._items())

    def _items(self) -> Iterator[FolderItem]:
        user, allowed, _, _ = self._sources()
        current, _ = merged_values((user, allowed))
        settings_file = self._files["workspace"]
        for name, value in _current(settings_file).values.items():
            if name not in NEVER_FROM_FOLDER and not restricts(name, value, current[name]):
                yield FolderItem(
                    kind="setting",
                    name=name,
                    file=settings_file.shown,
                    content=format_json_for_review(value),
                    digest=_digest(name, value),
                    line=json_line_of(settings_file.text, name.split(".")),
                    host=url_host(value) if name == "models.ollama_host" else None,
                )


def _digest(name: str, value: Any) -> str:
    return item_digest("setting", name, value)


def _changes(given: CommandModel | None) -> dict[str, Any]:
    return given.model_dump(include=given.model_fields_set) if given else {}


def _current(settings_file: _SettingsFile) -> SettingsSource:
    signature = _signature(settings_file.path)
    if settings_file.source is None or settings_file.signature != signature:
        settings_file.signature = signature
        try:
            text = None if signature is None else settings_file.file.read()
            settings_file.text = text or ""
            found = read_settings(settings_file.name, settings_file.shown, text)
        except StateUnavailable as error:
            found = unused(settings_file.name, settings_file.shown, None, str(error))
        if not found.is_readable and settings_file.source is not None:
            found = replace(
                settings_file.source, problems=tuple(map(_retained_problem, found.problems))
            )
        settings_file.source = found
    return settings_file.source


def _retained_problem(problem: SettingsProblem) -> SettingsProblem:
    """Return the problem of a file whose last readable settings still apply.

    A slip while editing must not lift restrictions of the file, such as the mode ``local``.
    """
    addition = "What it said before applies until it can be read again or the server restarts."
    return problem.model_copy(update={"message": f"{problem.message} {addition}"})


def _content(settings_file: _SettingsFile) -> dict[str, Any]:
    """Return the file's JSON, to be changed and stored. Raises ``Conflict``."""
    text = settings_file.file.read()
    empty: dict[str, Any] = {"version": VERSION}
    if text is None or not text.strip():
        return empty
    try:
        found: Any = json.loads(text)
    except ValueError:
        found = None
    values = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    readable = values and all(isinstance(values.get(area, {}), dict) for area in AREAS)
    if not readable or values.get("version", VERSION) != VERSION:
        raise Conflict(
            f"The settings were not saved: {settings_file.shown} cannot be read by this version.",
            hint="Correct or remove the file and try again.",
        )
    return {**empty, **values}


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)

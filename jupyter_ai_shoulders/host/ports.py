"""What a surface gives to its host: plain settings, and the ports that only it can fill.

Made by the server extension (``server.extension_services``), the evaluation and tests;
``host.build`` takes them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.clock import Clock, IdSource, RandomIds, SystemClock
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.guard.sandbox.sandbox import Detect
from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import Contents
from jupyter_ai_shoulders.notebook.backends.shared.rooms import NoRooms, Rooms
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

FolderTrustSetting = Literal["ask", "always", "never"]
"""Whether settings that come with a folder may be trusted: by the person, at once, or never."""


class PagePort(Protocol):
    """The browser pages of this surface; one without pages lets every call pass unheard."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page."""
        ...

    def deleted(self, session: Session) -> None:
        """Tell every page that may see the session that it is gone."""
        ...

    def tools_changed(self) -> None:
        """Tell every page that the permissions are others now."""
        ...

    def settings_changed(self, part: SettingsPart) -> None:
        """Tell every page that settings, keys or limits are others now."""
        ...


@dataclass(frozen=True, slots=True)
class HostSettings:
    """Plain values from traits, files and the environment."""

    workspace: Path
    state_dir: Path
    home: Path = field(default_factory=Path.home)
    runtime_dir: Path = field(default_factory=lambda: Path(jupyter_runtime_dir()))
    """Where Jupyter keeps tokens and connection files of running servers and kernels."""
    models: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The trait, in the form of ``models.json``."""
    preferences: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The trait, in the form of ``settings.json``; the user cannot change what is in it."""
    lock_reasons: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why one of ``preferences`` is locked, in words, where it is not for the trait's sake."""
    budget: SpendingLimits = field(default_factory=SpendingLimits)
    """The administrator's limits, which the user's cannot exceed."""
    default_mode: Mode = "ask"
    step_limit: int = 25
    nudges: bool = True
    """Whether the model is told when it reads twice, wanders or answers with nothing."""
    titles: bool = False
    """Whether a small model names new conversations."""
    turn_time_limit: float | None = None
    """Seconds a turn may work; None is no limit."""
    run_timeout: float | None = 60.0
    """Seconds a step waits for a cell that runs; then the turn goes on beside it. None: always."""
    refuses_busy: bool = False
    """Whether nothing is queued in a kernel that runs something of the user's."""
    allow_bypass: bool = True
    rules: Sequence[Json] = ()
    """The administrator's permission rules, which deny or ask."""
    folder_trust: FolderTrustSetting = "ask"
    trusted_folders: Sequence[str] = ()
    """Folders whose settings, with those of all folders in them, apply without being reviewed."""
    tool_packages: Sequence[str] | None = None
    """Distributions whose tools are taken in; None: all that are installed."""
    compaction: CompactionMode = "auto"
    """What happens when a conversation outgrows its model."""
    page_timeout: float = 600.0
    """Seconds a page with unsaved changes may be away before its agent's edits are written."""
    has_owners: bool = False
    """Whether several users may meet on this server, as on a hub; sessions then have owners."""
    home_owner: str | None = None
    """Of those, whose home directory ``home`` is; None: nobody's."""
    collaboration: bool = False
    """Whether pages open notebooks in rooms."""
    document_server: str | None = None
    """What to know of an extension that keeps open notebooks in a way of its own."""


@dataclass(frozen=True, slots=True)
class HostPorts:
    """What a surface brings along."""

    kernels: KernelDirectory
    pages: PagePort
    rooms: Rooms = field(default_factory=NoRooms)
    contents: Contents | None = None
    """The server's contents manager; without one, notebooks are the files of the workspace."""
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """What programs are started with."""
    keys: KeyEnvironment | None = None
    """Has the variables of providers that were taken out of ``environ``; None: none were."""
    adapter: Callable[[Endpoint], Provider] = make_provider
    """Makes the provider of a model; the evaluation puts scripts in their place."""
    sandbox: Detect | None = None
    """Says what sandbox there is for commands; none: it is tried out."""
    own_ports: Callable[[], Collection[int]] = tuple
    """Returns the TCP ports this server listens on, which sandboxed commands must not reach."""

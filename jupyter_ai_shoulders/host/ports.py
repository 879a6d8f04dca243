"""Inputs of a host: plain settings, and the ports that only a surface can implement.

Made by the server extension (``server.extension_services``), the evaluation and tests; used by
``host.build``.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.clock import Clock, IdSource, RandomIds, SystemClock
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.guard.sandbox.capabilities import Detect
from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import Contents
from jupyter_ai_shoulders.notebook.backends.shared.rooms import NoRooms, Rooms
from jupyter_ai_shoulders.notebook.base import KernelDirectory
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import Provider
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.frames import ServerFrame, SettingsPart
from jupyter_ai_shoulders.wire.ids import ClientId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

FolderTrustSetting = Literal["ask", "always", "never"]
"""Whether settings of a folder are trusted: after the user's review, always, or never."""


class PagePort(Protocol):
    """The browser pages of this surface; a surface without pages ignores every call."""

    def send(self, client_id: ClientId, frame: ServerFrame) -> None:
        """Send a frame to one page."""
        ...

    def deleted(self, session: Session) -> None:
        """Tell every page that may see the session that it was deleted."""
        ...

    def tools_changed(self) -> None:
        """Tell every page that permissions changed."""
        ...

    def settings_changed(self, part: SettingsPart) -> None:
        """Tell every page that settings, keys or limits changed."""
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
    """The reason why a value of ``preferences`` is locked, where it is not the trait."""
    budget: SpendingLimits = field(default_factory=SpendingLimits)
    """The administrator's limits, which the user's cannot exceed."""
    default_mode: Mode = "ask"
    step_limit: int = 25
    nudges: bool = True
    """Whether the model gets a hint when it reads twice, wanders or returns nothing."""
    titles: bool = False
    """Whether a small model names new conversations."""
    turn_time_limit: float | None = None
    """Seconds a turn may work; None is no limit."""
    run_timeout: float | None = 60.0
    """Seconds a step waits for a running cell; after that the turn continues without it. None: no
    limit.
    """
    refuses_busy: bool = False
    """Whether no code is queued in a kernel that runs the user's code."""
    allow_bypass: bool = True
    rules: Sequence[Json] = ()
    """The administrator's permission rules, which deny or ask."""
    folder_trust: FolderTrustSetting = "ask"
    trusted_folders: Sequence[str] = ()
    """Folders whose settings apply without review; subfolders included."""
    services: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The administrator's addresses of web services."""
    mcp_servers: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The administrator's MCP servers, in the form of ``.mcp.json``."""
    mcp_servers_locked: bool = False
    """Whether there are no other MCP servers."""
    mcp_calls: CallLimits = field(default_factory=CallLimits)
    """Time limits of calls at MCP servers."""
    tool_packages: Sequence[str] | None = None
    """Distributions whose tools are loaded; None: all installed ones."""
    acp_agents: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The administrator's entries of agents of others."""
    locks_acp_agents: bool = False
    """Whether only the agents of ``acp_agents`` can be used."""
    qdrant_url: str = ""
    """Of the server that keeps vectors; empty: the state directory does."""
    qdrant_api_key: str = field(default="", repr=False)
    compaction: CompactionMode = "auto"
    """How a conversation that exceeds its model's context is compacted."""
    page_timeout: float = 600.0
    """Seconds a page with unsaved changes may be disconnected before the agent's edits are written.
    """
    has_owners: bool = False
    """Whether several users share this server, as on a hub; sessions then have owners."""
    home_owner: str | None = None
    """The owner whose home directory is ``home``, if there are owners; None: nobody."""
    runs_schedules: bool = False
    """Whether this process runs what is due; servers do."""
    mcp_server: bool = True
    """Whether programs may connect to our MCP server."""
    collaboration: bool = False
    """Whether pages open notebooks in rooms."""
    document_server: str | None = None
    """Notice about an extension that handles open notebooks itself."""


@dataclass(frozen=True, slots=True)
class HostPorts:
    """Ports that a surface implements."""

    kernels: KernelDirectory
    pages: PagePort
    rooms: Rooms = field(default_factory=NoRooms)
    contents: Contents | None = None
    """The server's contents manager; without one, notebooks are the files of the workspace."""
    clock: Clock = field(default_factory=SystemClock)
    ids: IdSource = field(default_factory=RandomIds)
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """Environment of child processes."""
    keys: KeyEnvironment | None = None
    """Provider variables that were removed from ``environ``; None: none were."""
    adapter: Callable[[Endpoint], Provider] = make_provider
    """Makes the provider of a model; the evaluation substitutes scripts."""
    end_kernel: Callable[[str], Awaitable[None]] | None = None
    """Ends the kernel of a notebook, by path; None: kernels are left to themselves."""
    sandbox: Detect | None = None
    """Detects the sandbox for commands; None: by trying."""
    mcp_url: Callable[[], str | None] = lambda: None
    """Returns the address of our MCP server on this machine, for agents that run beside it."""
    proxy_url: Callable[[], str | None] = lambda: None
    """Returns the address of our model proxy on this machine, for the same agents."""
    own_ports: Callable[[], Collection[int]] = tuple
    """Returns the TCP ports this server listens on, which sandboxed commands must not reach."""

"""Command execution for the agent: sandbox, preparation and the tool.

Part of the composition root: ``host.build`` makes it, ``host.host`` closes it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.guard.process.environment import command_environment
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import (
    Detect,
    SandboxCapabilities,
    detect_capabilities,
)
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    SandboxLocations,
    server_program_folders,
)
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.host.settings.preferences import Preferences
from jupyter_ai_shoulders.tools.commands.run_command import (
    RUN_COMMAND,
    CommandPolicy,
    CommandUndo,
    RunCommand,
)

IN_KERNELS = ("run_all_cells", "run_cell", "run_code", "verify_notebook")
"""Tools that run code in a kernel."""


_FILES = ("jpserver-*.json", "nbserver-*.json")


class CommandExecution:
    """Runs commands for one process; ``aclose`` it."""

    def __init__(
        self,
        *,
        workspace: Path,
        state_dir: Path,
        runtime_dir: Path,
        environ: Mapping[str, str],
        redact: Callable[[str], str],
        preferences: Preferences,
        undo: CommandUndo,
        detected: Detect | None = None,
        own_ports: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """``detected`` returns the available sandbox; None: it is found by trying.

        ``own_ports`` returns the TCP ports this server listens on.
        """
        self._preferences = preferences
        self._own_ports = own_ports
        self._runtime_dir = runtime_dir
        self._network = False
        self._spawners = SpawnerPool(self._ports_to_prepare)
        real = Path(os.path.realpath(workspace))
        home = Path(os.path.realpath(environ.get("HOME") or Path.home()))
        places = SandboxLocations(
            real,
            Path(os.path.realpath(state_dir)),
            home,
            environ,
            Path(os.path.realpath(runtime_dir)),
        )
        found = detected or partial(detect_capabilities, self._spawners)
        self._places = places
        self._sandbox = Sandbox(places, found, self._closed_ports)
        self.tool = RunCommand(
            folder=real,
            rules=self._rules,
            environment=lambda: command_environment(environ, redact),
            spawners=self._spawners,
            sandbox=self._sandbox,
            undo=undo,
        )

    def programs(self) -> Collection[str]:
        """Return the workspace's folders that contain programs of this server."""
        root = self._places.workspace
        found = server_program_folders(self._places)
        return [Path(folder).relative_to(root).as_posix() for folder in found]

    async def facts(self) -> SandboxCapabilities:
        """Return the sandbox capabilities of this system."""
        return await self._sandbox.capabilities()

    async def sandboxed_tools(self) -> Mapping[str, bool]:
        """Return for each tool that runs programs or code whether it runs in a sandbox.

        Code in the user's kernels is never sandboxed.
        """
        kind, mode = (await self.facts()).kind, self._rules().mode
        held = kind != "none" and mode in ("sandbox", "sandbox_read_only")
        return {**dict.fromkeys(IN_KERNELS, False), RUN_COMMAND: held}

    def disabled_tools(self) -> Collection[str]:
        """Return the names of the tools that the settings switch off."""
        return {RUN_COMMAND} if self._rules().mode == "none" else ()

    async def aclose(self) -> None:
        """Release prepared resources; the engine has ended running commands."""
        await self.tool.aclose()

    def _closed_ports(self) -> Collection[int]:
        """Return the ports of this user's Jupyter servers; blocks, for threads."""
        return {*self._own_ports(), *running_server_ports(self._runtime_dir)}

    def _ports_to_prepare(self) -> Collection[int]:
        """Return the ports to close to the next command; none without network access."""
        return self._closed_ports() if self._network else ()

    def _rules(self) -> CommandPolicy:
        try:
            found, by_administrator = self._preferences.commands()
        except StateUnavailable:
            return CommandPolicy("none")
        self._network = found.network
        strict = by_administrator or found.mode == "sandbox_read_only"
        return CommandPolicy(found.mode, found.network, strict)


class _Server(BaseModel):
    """Server information file in the runtime directory; port 0: only a UNIX socket."""

    port: int = Field(ge=0, le=65_535)


def running_server_ports(runtime_dir: Path) -> set[int]:
    """Return the ports of the user's running Jupyter servers; blocks, for threads.

    Sandboxed commands must not reach them: with a server's token they could change permission
    rules.
    """
    found: set[int] = set()
    for pattern in _FILES:
        for path in runtime_dir.glob(pattern):
            try:
                found.add(_Server.model_validate_json(path.read_bytes()).port)
            except (OSError, ValidationError):
                continue
    return found - {0}

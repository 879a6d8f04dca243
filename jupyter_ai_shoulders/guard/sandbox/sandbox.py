"""What a sandboxed command may reach, and what this system has to keep it there (chapter 07).

``Sandbox`` finds out once what there is and gives programs their confinement; used by
``tools.commands.run_command`` and by ``status``. Landlock does it on Linux, bubblewrap where
Landlock is missing, Seatbelt on macOS; where there is none, that is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Callable, Collection, Generator
from dataclasses import dataclass, replace
from pathlib import Path

from jupyter_ai_shoulders.guard.process.program import Program
from jupyter_ai_shoulders.guard.sandbox.capabilities import SEATBELT, Detect, SandboxCapabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    ProtectedPaths,
    SandboxLocations,
    find_protected_paths,
)
from jupyter_ai_shoulders.guard.sandbox.quarantine import QuarantinedFile, quarantine_new_files
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import (
    PrivateFolders,
    SandboxRequest,
    build_policy,
)
from jupyter_ai_shoulders.guard.sandbox.wrapper_commands import (
    bubblewrap_arguments,
    seatbelt_profile,
)


@dataclass(frozen=True, slots=True)
class SandboxExposure:
    """What a sandbox cannot keep from a command."""

    paths: tuple[str, ...]
    """What is secret, run outside of the sandbox, or told to the agent later."""
    truncated: bool
    """Whether there may be more: the workspace was too large to look everywhere."""
    servers: bool = False
    """Whether it may connect to the Jupyter servers of this machine."""


class Sandbox:
    """Confines programs, where the system can."""

    def __init__(
        self,
        locations: SandboxLocations,
        detect: Detect,
        closed_ports: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """``closed_ports``: TCP ports of Jupyter servers, closed to every command; it may block."""
        self._locations = locations
        self._detect = detect
        self._closed_ports = closed_ports
        self._detection: asyncio.Task[SandboxCapabilities] | None = None

    async def capabilities(self) -> SandboxCapabilities:
        """Return what there is; found out once."""
        if self._detection is None:
            self._detection = asyncio.create_task(
                _run_detection(self._detect), name="sandbox-facts"
            )
        return await asyncio.shield(self._detection)

    async def aclose(self) -> None:
        """Wait until what finds out the facts has ended."""
        if self._detection is not None:
            await asyncio.gather(self._detection, return_exceptions=True)

    def exposure(
        self, capabilities: SandboxCapabilities, request: SandboxRequest
    ) -> SandboxExposure:
        """Return what could not be kept from a command; blocks, for threads.

        Landlock alone cannot take anything out of a folder that may be written to.
        """
        protected = find_protected_paths(self._locations)
        servers = request.network and not capabilities.closes_ports
        if capabilities.covers or request.read_only:
            return SandboxExposure((), protected.truncated, servers)
        return SandboxExposure(
            (*map(str, protected.secret), *protected.frozen), protected.truncated, servers
        )

    def protected_paths(self, request: SandboxRequest) -> ProtectedPaths:
        """Return what a command is kept from; blocks, for threads."""
        return find_protected_paths(self._locations, writable_repositories=request.repositories)

    def quarantine_new_files(
        self, before: ProtectedPaths, *, repositories_only: bool = False
    ) -> list[QuarantinedFile]:
        """Rename what a command made that runs by itself; blocks, for threads."""
        return quarantine_new_files(self._locations, before, repositories_only=repositories_only)

    @contextlib.contextmanager
    def confined(
        self,
        program: Program,
        capabilities: SandboxCapabilities,
        request: SandboxRequest,
        protected: ProtectedPaths | None = None,
    ) -> Generator[Program]:
        """Return the program as it is to be run, with places of its own; it blocks, for threads.

        ``found`` is what ``find_protected_paths`` returned right before.
        """
        with tempfile.TemporaryDirectory(prefix="shoulders-", ignore_cleanup_errors=True) as folder:
            private = PrivateFolders.create(Path(folder).resolve())
            inside = replace(program, environment=private.environment(program, self._locations))
            closed = sorted(self._closed_ports()) if request.network else ()
            protected = protected or self.protected_paths(request)
            policy = build_policy(self._locations, capabilities, request, private, protected)
            policy = replace(policy, closed_ports=closed)
            match capabilities.kind:
                case "landlock":
                    yield replace(inside, policy=policy.to_json())
                case "bubblewrap":
                    words = bubblewrap_arguments(policy, program.folder, capabilities.program)
                    yield replace(inside, words=[*words, *program.words])
                case "seatbelt":
                    profile = seatbelt_profile(policy)
                    yield replace(inside, words=[SEATBELT, "-p", profile, *program.words])
                case "none":
                    raise AssertionError("there is no sandbox to confine it in")


async def _run_detection(detect: Detect) -> SandboxCapabilities:
    return await detect()

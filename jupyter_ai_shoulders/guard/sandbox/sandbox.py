"""Confines commands with the sandbox this system offers.

Used by ``tools.commands.run_command`` and for the status. See docs/design/security.md#sandbox.
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
    """Gaps of a sandbox for a command."""

    paths: tuple[str, ...]
    """Secrets, files that run outside the sandbox, and instructions for agents."""
    truncated: bool
    """Whether there may be more: the workspace was too large to search completely."""
    servers: bool = False
    """Whether the command may connect to Jupyter servers of this machine."""


class Sandbox:
    """Confines programs where the system can."""

    def __init__(
        self,
        locations: SandboxLocations,
        detect: Detect,
        closed_ports: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """``closed_ports`` returns TCP ports of Jupyter servers, closed to every command; it may
        block.
        """
        self._locations = locations
        self._detect = detect
        self._closed_ports = closed_ports
        self._detection: asyncio.Task[SandboxCapabilities] | None = None

    async def capabilities(self) -> SandboxCapabilities:
        """Return the capabilities of this system, detected once."""
        if self._detection is None:
            self._detection = asyncio.create_task(
                _run_detection(self._detect), name="sandbox-facts"
            )
        return await asyncio.shield(self._detection)

    async def aclose(self) -> None:
        """Wait for the detection to end."""
        if self._detection is not None:
            await asyncio.gather(self._detection, return_exceptions=True)

    def exposure(
        self, capabilities: SandboxCapabilities, request: SandboxRequest
    ) -> SandboxExposure:
        """Return what cannot be kept from a command; blocks, for threads.

        Landlock alone cannot exclude anything from a writable folder.
        """
        protected = find_protected_paths(self._locations)
        servers = request.network and not capabilities.closes_ports
        if capabilities.covers or request.read_only:
            return SandboxExposure((), protected.truncated, servers)
        return SandboxExposure(
            (*map(str, protected.secret), *protected.frozen), protected.truncated, servers
        )

    def protected_paths(self, request: SandboxRequest) -> ProtectedPaths:
        """Return the paths a command is kept from; blocks, for threads."""
        return find_protected_paths(self._locations, writable_repositories=request.repositories)

    def quarantine_new_files(
        self, before: ProtectedPaths, *, repositories_only: bool = False
    ) -> list[QuarantinedFile]:
        """Rename new files of a command that run by themselves; blocks, for threads."""
        return quarantine_new_files(self._locations, before, repositories_only=repositories_only)

    @contextlib.contextmanager
    def confined(
        self,
        program: Program,
        capabilities: SandboxCapabilities,
        request: SandboxRequest,
        protected: ProtectedPaths | None = None,
    ) -> Generator[Program]:
        """Yield the program with its confinement and private folders; blocks, for threads.

        ``protected`` is a recent result of ``find_protected_paths``.
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

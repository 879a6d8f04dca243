"""Finds files that a sandboxed command created and that run automatically later.

They are renamed and reported. Used by ``tools.commands.run_command``. Repositories are also checked
while the command runs, since a page or an editor may ask git for a status at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator

from jupyter_ai_shoulders.guard.sandbox.protected_paths import ProtectedPaths
from jupyter_ai_shoulders.guard.sandbox.quarantine import QuarantinedFile
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest

CHECK_INTERVAL_S = 2.0
"""Minimum seconds between two checks of repositories while a command runs."""
_PAUSES = 50
"""Pause after a check, as a multiple of its duration: at most 2 % of one core."""

_log = logging.getLogger(__name__)


class NewFileMonitor:
    """Checks before, during and after one command."""

    def __init__(self, sandbox: Sandbox, wanted: SandboxRequest | None) -> None:
        """``wanted``: the command's confinement; None: not sandboxed, nothing is checked."""
        self._sandbox = sandbox
        self._wanted = None if wanted is None or wanted.read_only else wanted
        self._before: ProtectedPaths | None = None
        self._set_aside: dict[str, QuarantinedFile] = {}

    def snapshot_before(self) -> ProtectedPaths | None:
        """Return the protected paths that exist before the command; blocks, for threads."""
        if self._wanted is not None:
            self._before = self._sandbox.protected_paths(self._wanted)
        return self._before

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        """Check repositories while the block runs, and everything after it."""
        ended = asyncio.Event()
        watch = asyncio.create_task(self._watch(ended), name="new-files")
        try:
            yield
        finally:
            ended.set()
            await watch  # a check that has begun completes, so that its renames are reported
            await self._check_repositories(repositories_only=False)
            if self.report is not None:  # a cancelled command has no result to report it in
                _log.warning("%s", self.report)

    @property
    def report(self) -> str | None:
        """The report on the files; None if there are none."""
        renamed = [
            f"{item.path} (now {item.new_path})"
            for item in self._found
            if item.new_path is not None
        ]
        kept = [item.path for item in self._found if item.new_path is None]
        texts: list[str] = []
        if renamed:
            texts.append(
                "Renamed, because programs or agents would use what the command made later: "
                f"{', '.join(renamed)}. Tell the user, who can rename it back; a file tool asks."
            )
        if kept:
            texts.append(
                "Made by the command, used by programs or agents later, and could not be renamed: "
                f"{', '.join(kept)}. Tell the user to look at it."
            )
        return " ".join(texts) or None

    @property
    def _found(self) -> list[QuarantinedFile]:
        return list(self._set_aside.values())

    async def _watch(self, ended: asyncio.Event) -> None:
        pause = CHECK_INTERVAL_S
        while self._before is not None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await ended.wait()
            if ended.is_set():
                return
            began = time.monotonic()
            await self._check_repositories(repositories_only=True)
            pause = max(CHECK_INTERVAL_S, _PAUSES * (time.monotonic() - began))

    async def _check_repositories(self, *, repositories_only: bool) -> None:
        if self._before is not None:
            found = await asyncio.to_thread(
                self._sandbox.quarantine_new_files,
                self._before,
                repositories_only=repositories_only,
            )
            self._set_aside |= {item.new_path or item.path: item for item in found}

"""What a sandboxed command made that runs by itself later: set aside, and told (chapter 07).

Used by ``tools.run_command``. Repositories are looked at while the command runs, too, since a page
or an editor may ask git for a status at any moment.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator

from jupyter_ai_shoulders.guard.new_files import SetAside
from jupyter_ai_shoulders.guard.sandbox import Sandbox, Wanted
from jupyter_ai_shoulders.guard.sandbox_places import Found

LOOK_SECONDS = 2.0
"""Between two looks at repositories while a command runs."""


class NewFiles:
    """Looks before, during and after one command."""

    def __init__(self, sandbox: Sandbox, wanted: Wanted | None) -> None:
        """``wanted``: how the command is confined; None: not at all, so nothing is looked at."""
        self._sandbox = sandbox
        self._wanted = None if wanted is None or wanted.read_only else wanted
        self._before: Found | None = None
        self._set_aside: list[SetAside] = []

    def look(self) -> Found | None:
        """Return what is there before the command; blocks, for threads."""
        if self._wanted is not None:
            self._before = self._sandbox.look(self._wanted)
        return self._before

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncGenerator[None]:
        """Look at repositories while the block runs, and at everything after it."""
        watch = asyncio.create_task(self._watch(), name="new-files")
        try:
            yield
        finally:
            watch.cancel()
            await asyncio.gather(watch, return_exceptions=True)
            await self._look_again(repositories_only=False)

    @property
    def told(self) -> str | None:
        """What to tell about files that were set aside; None when there are none."""
        if not self._set_aside:
            return None
        names = ", ".join(f"{item.path} (now {item.now})" for item in self._set_aside)
        return (
            f"Set aside since programs or agents would run or read it later: {names}. Tell the "
            "user, who can rename it back, or use a file tool, which asks."
        )

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._look_again(repositories_only=True)

    async def _look_again(self, *, repositories_only: bool) -> None:
        if self._before is not None:
            self._set_aside += await asyncio.to_thread(
                self._sandbox.set_aside_new, self._before, repositories_only=repositories_only
            )

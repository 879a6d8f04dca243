"""Keeps one spawner ready, because starting it takes most of the time a command needs to start.

Made by ``host.tools.command_execution``; used by ``tools.commands.run_command``.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import Callable, Collection
from typing import cast

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.guard.process.launcher import Spawner
from jupyter_ai_shoulders.guard.process.port_rules import PortRulesCache
from jupyter_ai_shoulders.guard.process.syscall_filter import encoded_filter
from jupyter_ai_shoulders.wire.base import JsonObject


class SpawnerPool:
    """Keeps one spawner ready."""

    def __init__(self, closed_ports: Callable[[], Collection[int]] = tuple) -> None:
        """``closed_ports`` returns the ports commands must not connect to; it may block."""
        self._spare: asyncio.Task[Spawner] | None = None
        self._closed = False
        self._lock = asyncio.Lock()
        self._rules = PortRulesCache(closed_ports)

    def warm(self) -> None:
        """Start a spawner in the background unless one is ready."""
        if self._spare is None and not self._closed and sys.platform != "win32":
            self._spare = asyncio.create_task(self._launch(), name="spawner")

    async def acquire(self) -> Spawner:
        """Return a spawner that waits for its request. Raises ``PolicyRefusal``."""
        async with self._lock:
            spare = self._spare
            if spare is not None:
                with contextlib.suppress(PolicyRefusal):
                    spawner = await asyncio.shield(spare)  # a cancelled caller leaves it here
                    self._spare = None
                    if spawner.alive:
                        return spawner
                    await spawner.aclose()
                self._spare = None
        return await self._launch()

    async def probe(self) -> JsonObject:
        """Return the sandbox features of the kernel, from ``spawner.probe``.

        Raises ``PolicyRefusal``.
        """
        spawner = await self._launch()
        filters: JsonObject = {
            "own": encoded_filter(network=False, namespaces=True),
            "shared": encoded_filter(network=False, namespaces=False),
        }
        try:
            reply = await spawner.request({"probe": True, "filters": filters})
        finally:
            await spawner.aclose()
        return cast("JsonObject", reply["facts"]) if reply and "facts" in reply else {}

    async def aclose(self) -> None:
        """Close the waiting spawner."""
        self._closed = True
        spare, self._spare = self._spare, None
        if spare is not None:
            with contextlib.suppress(PolicyRefusal):
                await (await spare).aclose()
        self._rules.close()

    async def _launch(self) -> Spawner:
        # Not a task: a thread's result must not be lost to cancellation.
        launching = asyncio.get_running_loop().run_in_executor(
            None, lambda: Spawner.launch(self._rules.rules())
        )
        try:
            spawner = await asyncio.shield(launching)
        except asyncio.CancelledError:  # the thread still starts it
            with contextlib.suppress(PolicyRefusal):
                await (await launching).aclose()
            raise
        try:
            await spawner.ready()
        except BaseException:
            await spawner.aclose()
            raise
        return spawner

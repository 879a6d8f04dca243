"""The Jupyter server's kernels by notebook: the ``KernelDirectory`` of the server extension.

A notebook's kernel is the one of its Jupyter session, so the agent runs cells where the user does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

from jupyter_client.kernelspec import NoSuchKernel
from jupyter_core.utils import ensure_async
from tornado.web import HTTPError

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels.local_kernels import (
    ended_with,
    kernel_handle,
    no_such_kernel,
)
from jupyter_ai_shoulders.server.kernels.gateway import (
    GatewayKernels,
    GatewayTimeouts,
    is_gateway_manager,
)


class ServerKernels:
    """Kernels through jupyter_server's session manager and kernel manager.

    ``sessions`` and ``kernels`` are the ``session_manager`` and ``kernel_manager`` of the server's
    settings, of any configured class.
    """

    def __init__(self, sessions: Any, kernels: Any, gateway: GatewayTimeouts | None = None) -> None:
        self._sessions = sessions
        self._kernels = kernels
        self._behind_gateway = GatewayKernels(kernels.kernel_spec_manager, gateway)

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``."""
        session = await self._session(path)
        return None if session is None else await self._handle(session)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """See ``KernelDirectory.start``: makes the session that the page would have made."""
        try:
            session = await ensure_async(
                self._sessions.create_session(
                    path=path,
                    name=path.rpartition("/")[2],
                    type="notebook",
                    kernel_name=kernel_name,
                )
            )
        except (NoSuchKernel, HTTPError) as error:
            raise await self._not_started(path, kernel_name, error) from error
        return await self._handle(session)

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        installed = await self._installed()
        wanted = name or self._kernels.default_kernel_name
        if wanted not in installed:
            raise no_such_kernel(wanted, installed)
        return installed[wanted]

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""
        try:
            await ensure_async(self._kernels.interrupt_kernel(kernel_id))
        except HTTPError as error:
            if error.status_code == 404:
                raise NotFound("The kernel no longer exists.", code="no_kernel") from error
            raise Conflict(
                f"The kernel could not be interrupted: {error}.",
                hint="The service behind it may be unavailable. Try again in a moment.",
                retryable=True,
            ) from error

    async def restart(self, kernel_id: str) -> None:
        """See ``KernelDirectory.restart``."""
        if kernel_id not in self._kernels:
            raise NotFound("The kernel no longer exists.", code="no_kernel")
        manager = self._kernels.get_kernel(kernel_id)
        try:
            ready = await ensure_async(self._kernels.restart_kernel(kernel_id))
            if isinstance(ready, asyncio.Future):
                await ready  # the new process's answer
        except (HTTPError, RuntimeError, TimeoutError) as error:
            raise Conflict(
                f"The kernel did not come back after the restart: {error}.",
                code="kernel_died",
                hint="Restart it in the notebook's Kernel menu; the server's log says more.",
                retryable=True,
            ) from error
        self._behind_gateway.restarted(manager)

    async def running(self) -> Sequence[RunningKernel]:
        """See ``KernelDirectory.running``."""
        sessions = cast("list[Any]", await ensure_async(self._sessions.list_sessions()))
        paths = {str(session["kernel"]["id"]): str(session["path"]) for session in sessions}
        running: list[RunningKernel] = []
        for kernel_id in [*self._kernels.list_kernel_ids()]:
            handle = await self._describe(kernel_id)
            manager = self._kernels.get_kernel(kernel_id)
            running.append(
                RunningKernel(
                    kernel_id=kernel_id,
                    kernel_name=handle.kernel_name,
                    language=handle.language,
                    path=paths.get(kernel_id),
                    state=getattr(manager, "execution_state", None),
                    last_activity=getattr(manager, "last_activity", None),
                )
            )
        return running

    async def installed(self) -> Sequence[KernelSpec]:
        """See ``KernelDirectory.installed``."""
        return [spec for _, spec in sorted((await self._installed()).items())]

    @asynccontextmanager
    async def throwaway(self, path: str, kernel_name: str | None) -> AsyncGenerator[KernelHandle]:
        """See ``KernelDirectory.throwaway``: a kernel of the server's without a session."""
        async with ended_with(self._start_without_session(path, kernel_name), self._end) as handle:
            yield handle

    async def _start_without_session(self, path: str, kernel_name: str | None) -> KernelHandle:
        contents = self._sessions.contents_manager
        folder = await ensure_async(contents.get_kernel_path(path=path))
        try:
            kernel_id = await ensure_async(
                self._kernels.start_kernel(path=folder, kernel_name=kernel_name)
            )
        except (NoSuchKernel, HTTPError) as error:
            raise await self._not_started(path, kernel_name, error) from error
        return await self._describe(kernel_id)

    async def end_session(self, path: str) -> None:
        """End the session of a notebook and its kernel, if there is one."""
        session = await self._session(path)
        if session is not None:
            await ensure_async(self._sessions.delete_session(session["id"]))

    async def _session(self, path: str) -> Any | None:
        """Return the session of a notebook, None without one."""
        try:
            return await ensure_async(self._sessions.get_session(path=path))
        except HTTPError as error:
            if error.status_code == 404:
                return None
            raise

    async def _end(self, kernel_id: str) -> None:
        if kernel_id in self._kernels:
            await ensure_async(self._kernels.shutdown_kernel(kernel_id, now=True))

    async def _not_started(
        self, path: str, kernel_name: str | None, error: Exception
    ) -> ShouldersError:
        installed = await self._installed()
        if isinstance(error, NoSuchKernel) or (kernel_name and kernel_name not in installed):
            return no_such_kernel(kernel_name, installed)
        said = error.log_message if isinstance(error, HTTPError) else None
        return Conflict(
            f"The kernel of {path} could not be started: {said or error}.",
            code="no_kernel",
            hint="Start it in the notebook; the Jupyter server's log says more.",
            retryable=True,
        )

    async def _installed(self) -> dict[str, KernelSpec]:
        """Return the kernelspecs by name, the gateway's where there is one."""
        specs = await ensure_async(self._kernels.kernel_spec_manager.get_all_specs())
        return {
            name: KernelSpec(name, found["spec"]["display_name"], found["spec"]["language"])
            for name, found in cast("dict[str, Any]", specs).items()
        }

    async def _handle(self, session: object) -> KernelHandle:
        return await self._describe(str(cast("dict[str, Any]", session)["kernel"]["id"]))

    async def _describe(self, kernel_id: str) -> KernelHandle:
        manager = self._kernels.get_kernel(kernel_id)
        if is_gateway_manager(manager):
            return await self._behind_gateway.handle(kernel_id, manager)
        return kernel_handle(kernel_id, manager)

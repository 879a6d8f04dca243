"""``kernels/{id}/…``: requests of programs in a kernel, for the proxy's key and their notebook."""

from __future__ import annotations

from typing import Any, cast

from jupyter_server.auth.decorator import authorized
from jupyter_server.utils import ensure_async, url_path_join
from tornado import web

from jupyter_ai_shoulders.server.app import PROXY_PATH
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.handlers.base import HostSource, ShouldersHandler
from jupyter_ai_shoulders.wire.api.responses import KernelNotebook, ProxySecret


class KernelSecretHandler(ShouldersHandler):
    """``kernels/{id}/proxy-secret``."""

    def initialize(self, host_source: HostSource, **route: Any) -> None:
        """Called by tornado with the arguments of the route: ``secrets``."""
        super().initialize(host_source)
        self._secrets: KernelSecrets = route["secrets"]

    @web.authenticated
    @authorized
    async def post(self, kernel_id: str) -> None:
        """Issue the secret of a kernel; it acts for the requesting user."""
        secret = self._secrets.issue(kernel_id, self.current_user)
        self.set_header("Cache-Control", "no-store")
        path = url_path_join(self.base_url, PROXY_PATH).rstrip("/")
        self.answer(ProxySecret(secret=secret, path=path))


class KernelNotebookHandler(ShouldersHandler):
    """``kernels/{id}/notebook``."""

    @web.authenticated
    @authorized
    async def get(self, kernel_id: str) -> None:
        """Name the kernel's notebook; a kernel's secret does not open Jupyter's own routes."""
        sessions: Any = self.session_manager
        rows = cast("list[Any]", await ensure_async(sessions.list_sessions()))
        found = (
            str(row["path"])
            for row in rows
            if row["kernel"]["id"] == kernel_id and row["type"] == "notebook"
        )
        self.answer(KernelNotebook(path=next(found, None)))

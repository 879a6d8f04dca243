"""The server extension, which Jupyter loads at every start, so it imports nothing heavy.

Jupyter finds it through ``jupyter_ai_shoulders.__init__``. The routes and the host behind them are
imported in a thread once the server listens, or with the first request.
"""

from __future__ import annotations

import asyncio
import gc
import os
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote, urlsplit, urlunsplit

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado.routing import PathMatches, Rule

from jupyter_ai_shoulders.host.config import Shoulders
from jupyter_ai_shoulders.server.kernels.environment import inject_kernel_environment
from jupyter_ai_shoulders.server.lazy_routes import LazyRoutes, Route

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
    from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
    from jupyter_ai_shoulders.server.extension_services import ExtensionServices

API_PATH = "shoulders/api/v1/"
PROXY_PATH = "shoulders/proxy/"
MCP_PATH = "shoulders/mcp"
_SERVICES = "jupyter_ai_shoulders.server.extension_services"
_API_MODULES = ("jupyter_ai_shoulders.server.routes", _SERVICES)
_MCP_MODULES = (_SERVICES, "jupyter_ai_shoulders.server.mcp.routes")
_PROXY_MODULES = (_SERVICES, "jupyter_ai_shoulders.server.proxy.routes")
LOCAL_NAMES = frozenset({"", "*", "localhost", "0.0.0.0", "::"})  # noqa: S104 compared, not bound
"""Listening addresses by which this machine reaches itself."""
QUIET_SECONDS = 0.5
"""Delay after the start: the browser first loads the lab's own pages, and our imports must not
compete.
"""
WARMING_STOP_SECONDS = 1.0
"""How long a stop waits for an unfinished start."""


class ShouldersApp(ExtensionApp):
    """The Jupyter Server extension."""

    name = "jupyter_ai_shoulders"
    load_other_extensions = True
    classes = [Shoulders]  # noqa: RUF012 traitlets reads it from the class

    _config: Shoulders | None = None
    _keys: KeyEnvironment | None = None
    _service: ExtensionServices | None = None
    _warming: asyncio.Task[None] | None = None

    def initialize_handlers(self) -> None:
        """Add our routes to the server's table, unloaded."""
        self._config = Shoulders(parent=self)  # reports a wrong setting at the start
        self._keys = _withdrawn_keys(self._config)
        self._add_routes(API_PATH, _API_MODULES, self._routes)
        self._add_routes(MCP_PATH, _MCP_MODULES, self._mcp_routes)
        self._add_routes(PROXY_PATH, _PROXY_MODULES, self._proxy_routes)
        serverapp = cast("ServerApp", self.serverapp)
        if not (serverapp.gateway_config.gateway_enabled or serverapp.sock):
            address, clean = lambda: _address(serverapp), self._without_keys
            inject_kernel_environment(serverapp.kernel_manager, address, self._secrets, clean)

    def _add_routes(
        self, path: str, modules: Sequence[str], load: Callable[[str], list[Route]]
    ) -> None:
        application = cast("ServerApp", self.serverapp).web_app
        prefix = _either_spelling(url_path_join(application.settings["base_url"], path))
        routes = LazyRoutes(application, modules, lambda: load(prefix))
        application.add_handlers(".*$", [Rule(PathMatches(f"{prefix}.*"), routes)])

    async def _start_jupyter_server_extension(self, serverapp: ServerApp) -> None:  # noqa: ARG002
        """Load the modules of the first request in advance, and recover."""
        if self._config is not None:
            self._warming = asyncio.create_task(self.warm(), name="shoulders-warm-up")

    async def stop_extension(self) -> None:
        """Stop running turns and write everything to the disk, in less than five seconds."""
        if self._warming is not None:
            self._warming.cancel()  # it then reverts the count of recovery attempts
            await asyncio.wait({self._warming}, timeout=WARMING_STOP_SECONDS)
        service, self._service = self._service, None
        if service is None:
            return
        try:
            await service.aclose()
        except Exception:
            self.log.exception("The AI colleague did not stop in order")

    async def warm(self) -> None:
        """Import the routes in a thread and recover, shortly after the start."""
        await asyncio.sleep(QUIET_SECONDS)
        first = not gc.get_freeze_count()  # once per process, however many servers it has
        try:
            with _long_lived(first):
                with _no_garbage_collection():
                    for module in _API_MODULES:
                        await asyncio.to_thread(import_module, module)
                await self.service().recover()
        except Exception:
            self.log.exception("The AI colleague could not be started")

    def service(self) -> ExtensionServices:
        """Return the services behind the routes, made on first use."""
        if self._service is None:
            from jupyter_ai_shoulders.server.extension_services import ExtensionServices

            config = self._config or Shoulders(parent=self)
            self._service = ExtensionServices(cast("ServerApp", self.serverapp), config, self._keys)
        return self._service

    async def _secrets(self) -> KernelSecrets:
        await asyncio.to_thread(import_module, _SERVICES)
        service = self.service()
        service.reload_catalogue()
        return service.kernel_secrets

    def _without_keys(self, environ: Mapping[str, str]) -> Mapping[str, str]:
        """Return the environment of a kernel, without keys if kernels get none."""
        return environ if self._keys is None else self._keys.without_keys(environ)

    def _routes(self, prefix: str) -> list[Route]:
        from jupyter_ai_shoulders.server.routes import api_routes

        service = self.service()
        return api_routes(
            prefix,
            service.host,
            service.connections,
            service.kernel_secrets,
            open_to_kernels=not service.has_owners,
        )

    def _proxy_routes(self, prefix: str) -> list[Route]:
        from jupyter_ai_shoulders.server.proxy.routes import proxy_routes

        secret = cast("ServerApp", self.serverapp).web_app.settings["cookie_secret"]
        service = self.service()
        return proxy_routes(prefix, service.host, secret, service.kernel_secrets)

    def _mcp_routes(self, prefix: str) -> list[Route]:
        from jupyter_ai_shoulders.server.mcp.routes import mcp_routes

        service = self.service()
        return mcp_routes(prefix, service.host, service.mcp, enabled=service.offers_mcp)


def _withdrawn_keys(config: Shoulders) -> KeyEnvironment | None:
    """Remove providers' keys from our environment, before anything is started in it."""
    if not config.removes_keys(os.environ):
        return None
    from jupyter_ai_shoulders.host.key_environment import withdraw_configured_keys

    return withdraw_configured_keys(
        os.environ, config.models, Path.home() / ".shoulders" / "models.json"
    )


def _address(serverapp: ServerApp) -> str:
    """Return the server's address for programs on this machine."""
    here = serverapp.ip in LOCAL_NAMES
    found = urlsplit(serverapp.local_url if here else serverapp.connection_url)
    return urlunsplit((found.scheme, found.netloc, serverapp.base_url, "", ""))


@contextmanager
def _long_lived(really: bool) -> Generator[None]:
    """Exclude objects created until the end of the start from garbage collection.

    Modules live as long as the process, and a full collection that includes them blocks the event
    loop for 0.3 s.
    """
    if really:
        gc.freeze()
    try:
        yield
    finally:
        if really:
            gc.freeze()


@contextmanager
def _no_garbage_collection() -> Generator[None]:
    """Collect no garbage: nearly all that an import creates stays.

    Collections that find nothing are 8 % of its CPU time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _either_spelling(path: str) -> str:
    """Return a pattern for the path: a hub quotes user names, some HTTP clients unquote them."""
    pieces = re.split("(%[0-9A-Fa-f]{2})", path)
    quoted = (f"(?:{piece}|{re.escape(unquote(piece))})" for piece in pieces[1::2])
    plain = map(re.escape, pieces[::2])
    return "".join(text for pair in zip_longest(plain, quoted, fillvalue="") for text in pair)

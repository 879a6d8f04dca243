"""The host of this Jupyter server, built from its configuration on first use.

Made by ``server.app``; the routes get the host and the page connections from it.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path
from typing import cast

from jupyter_events import EventLogger
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.config import Shoulders
from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
from jupyter_ai_shoulders.host.metrics.service import Observability, ObservabilityOptions
from jupyter_ai_shoulders.host.preload import import_for_turns
from jupyter_ai_shoulders.host.settings_from_traits import host_settings
from jupyter_ai_shoulders.server.adapters.activity_reporter import ActivityReporter
from jupyter_ai_shoulders.server.adapters.collaboration_rooms import ServerRooms, document_server
from jupyter_ai_shoulders.server.adapters.contents_events import ContentsListener
from jupyter_ai_shoulders.server.adapters.contents_manager import ServerContents
from jupyter_ai_shoulders.server.adapters.log_redaction import LogRedaction, log_handlers
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.auth.user_identity import identifies_people
from jupyter_ai_shoulders.server.connections.connection_registry import PageConnectionRegistry
from jupyter_ai_shoulders.server.kernels.kernel_directory import ServerKernels
from jupyter_ai_shoulders.server.mcp.endpoint import McpEndpoint

_log = logging.getLogger(__name__)


class ExtensionServices:
    """State that one server process shares between its requests."""

    def __init__(
        self, serverapp: ServerApp, config: Shoulders, keys: KeyEnvironment | None = None
    ) -> None:
        """``keys`` has the provider variables that were removed from the environment."""
        self.connections = PageConnectionRegistry(
            lambda session_id: self._host.sessions.header(session_id)[0]
        )
        kernels = serverapp.kernel_manager
        self.kernel_secrets = KernelSecrets(lambda kernel_id: kernel_id in kernels)
        self.mcp = McpEndpoint()
        self._warming: asyncio.Task[None] | None = None
        self._closing = False
        clock = SystemClock()
        directory = ServerKernels(serverapp.session_manager, serverapp.kernel_manager)
        self._host = build_host(
            _settings(serverapp, config),
            HostPorts(
                kernels=directory,
                end_kernel=directory.end_session,
                rooms=ServerRooms(serverapp.web_app.settings),
                contents=ServerContents(serverapp),
                pages=self.connections,
                clock=clock,
                ids=RandomIds(),
                keys=keys,
                mcp_url=lambda: _own_url(serverapp, "mcp") if config.mcp_server else None,
                proxy_url=lambda: _own_url(serverapp, "proxy/"),
                own_ports=lambda: (serverapp.port,) if serverapp.port else (),
            ),
        )
        self._log_redaction = LogRedaction(log_handlers(serverapp.log), self._host.redact)
        self._host.hub.add(self.connections)
        events = cast("EventLogger", serverapp.event_logger)  # available once the server runs
        self._renames = ContentsListener(events, self._host.renamed, self._host.file_saved)
        self._activity = ActivityReporter(serverapp.web_app.settings["last_activity_times"], clock)
        if config.report_activity:
            self._host.hub.add(self._activity)
        self._observability = Observability(
            self._host,
            ObservabilityOptions(
                metrics=config.metrics,
                by_user=config.metrics_users,
                traces=config.otel,
                content=config.otel_content,
            ),
        )

    @property
    def has_owners(self) -> bool:
        """Whether several users may use this server, as on a hub."""
        return self._host.settings.has_owners

    @property
    def offers_mcp(self) -> bool:
        """Whether the MCP server is switched on."""
        return self._host.settings.mcp_server

    def reload_catalogue(self) -> None:
        """Read the configuration of providers if it changed; a kernel is about to start."""
        self._host.models.reload()

    async def recover(self) -> None:
        """Recover the state of the last process, if the state directory is usable."""
        await self._observability.start()
        await self._host.ready()

    async def host(self) -> Host:
        """Return the host for a request; the first call prepares for turns.

        Raises ``StateUnavailable`` once the server stops: work begun then would never be ended.
        """
        if self._closing:
            raise StateUnavailable(
                "The server is shutting down; nothing new is started.",
                hint="Try again once it is back.",
                retryable=True,
            )
        if self._warming is None:
            self._warming = asyncio.create_task(_import_ahead(), name="shoulders-imports")
        await self.recover()
        return self._host

    async def aclose(self) -> None:
        """Stop running turns, write everything to the disk, disconnect the pages."""
        self._closing = True
        self._activity.close()
        self._renames.close()
        if self._warming is not None:
            await self._warming
        await self._host.aclose()
        await self._observability.aclose()
        await self.mcp.aclose()
        self._host.presence.close()
        self._host.hub.close()
        self.connections.close()
        self._log_redaction.close()


async def _import_ahead() -> None:
    try:
        await asyncio.to_thread(import_for_turns)
    except ImportError:  # the first turn that needs it fails and reports it
        _log.exception("Something that turns need cannot be imported")


def _settings(serverapp: ServerApp, config: Shoulders) -> HostSettings:
    web_settings = serverapp.web_app.settings
    settings = host_settings(
        config,
        Path(serverapp.root_dir),
        collaboration=ServerRooms(web_settings).available,
        document_server=document_server(web_settings),
        identifies_people=identifies_people(serverapp.identity_provider),
        runtime_dir=Path(serverapp.runtime_dir),
    )
    return replace(settings, runs_schedules=True)


def _own_url(serverapp: ServerApp, path: str) -> str | None:
    """Return an address of ours on this machine; None where there is no port."""
    if not serverapp.port:
        return None
    scheme = "https" if serverapp.certfile else "http"
    host = "127.0.0.1" if serverapp.ip in _EVERY_ADDRESS else serverapp.ip
    return f"{scheme}://{host}:{serverapp.port}{serverapp.base_url}shoulders/{path}"


_EVERY_ADDRESS = frozenset({"", "*", "0.0.0.0", "::", "localhost"})  # noqa: S104 compared, not bound

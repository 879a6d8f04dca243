"""The host of this Jupyter server, built from its configuration on first use.

Made by ``server.app``; the routes get the host and the page roster from it.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from jupyter_events import EventLogger
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.core.budget import Limits
from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import StateUnavailable
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.host.build import Host, HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.host.warm import import_for_turns
from jupyter_ai_shoulders.server.activity import ActivityReport
from jupyter_ai_shoulders.server.collaboration import ServerRooms, document_server
from jupyter_ai_shoulders.server.config import Shoulders
from jupyter_ai_shoulders.server.contents import ServerContents
from jupyter_ai_shoulders.server.kernels import ServerKernels
from jupyter_ai_shoulders.server.proxy.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.renames import Renames
from jupyter_ai_shoulders.server.roster import PageRoster
from jupyter_ai_shoulders.wire.sessions import Mode

_log = logging.getLogger(__name__)

STATE_DIR = ".shoulders"
_SHARED = (
    "JUPYTERHUB_API_URL",
    "JUPYTERHUB_API_TOKEN",
    "BINDER_SERVICE_HOST",
    "BINDER_LAUNCH_HOST",
)
"""Variables that a JupyterHub or Binder sets for the servers it starts."""


class Service:
    """What one server process shares between its requests."""

    def __init__(self, serverapp: ServerApp, config: Shoulders) -> None:
        self.roster = PageRoster()
        kernels = serverapp.kernel_manager
        self.kernel_secrets = KernelSecrets(lambda kernel_id: kernel_id in kernels)
        self._warming: asyncio.Task[None] | None = None
        self._closing = False
        clock = SystemClock()
        self._host = build_host(
            _settings(serverapp, config),
            HostPorts(
                kernels=ServerKernels(serverapp.session_manager, serverapp.kernel_manager),
                rooms=ServerRooms(serverapp.web_app.settings),
                contents=ServerContents(serverapp),
                pages=self.roster,
                clock=clock,
                ids=RandomIds(),
            ),
        )
        self._host.hub.add(self.roster)
        events = cast("EventLogger", serverapp.event_logger)  # it is there once the server runs
        self._renames = Renames(events, self._host.renamed)
        self._activity = ActivityReport(serverapp.web_app.settings["last_activity_times"], clock)
        if config.report_activity:
            self._host.hub.add(self._activity)

    async def recover(self) -> None:
        """Take up what the last process left, if the state directory allows."""
        await self._host.ready()

    async def host(self) -> Host:
        """Return the host for a request; the first one has us prepare for turns.

        Raises ``StateUnavailable`` once the server stops: what began now would never be ended.
        """
        if self._closing:
            raise StateUnavailable(
                "The server stops; nothing new is begun.",
                hint="Try again once it is back.",
                retryable=True,
            )
        if self._warming is None:
            self._warming = asyncio.create_task(_import_ahead(), name="shoulders-imports")
        await self.recover()
        return self._host

    async def aclose(self) -> None:
        """Stop running turns, bring everything to the disk, let the pages go."""
        self._closing = True
        self._activity.close()
        self._renames.close()
        if self._warming is not None:
            await self._warming
        await self._host.aclose()
        self._host.hub.close()
        self.roster.close()


async def _import_ahead() -> None:
    try:
        await asyncio.to_thread(import_for_turns)
    except ImportError:  # the first turn that needs it fails and says so
        _log.exception("Something that turns need cannot be imported")


def _settings(serverapp: ServerApp, config: Shoulders) -> HostSettings:
    workspace = Path(serverapp.root_dir)
    return HostSettings(
        workspace=workspace,
        state_dir=workspace / (config.state_dir or STATE_DIR),
        models=config.models,
        preferences=_preferences(config, os.environ),
        lock_reasons=_lock_reasons(config, os.environ),
        budget=_budget(config),
        default_mode=cast("Mode", config.default_mode),
        step_limit=config.step_limit,
        titles=config.titles,
        turn_time_limit=config.turn_time_limit or None,
        run_patience=config.run_patience,
        refuses_busy=config.busy_kernel == "refuse",
        allow_bypass=config.allow_bypass,
        rules=config.rules,
        compaction=cast("CompactionMode", config.compaction),
        page_grace=config.page_grace,
        has_owners=bool(os.environ.get("JUPYTERHUB_API_URL")),
        collaboration=ServerRooms(serverapp.web_app.settings).available,
        document_server=document_server(serverapp.web_app.settings),
    )


def _preferences(config: Shoulders, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Return what users cannot change; without leave there are no commands on shared machines."""
    if _commands_allowed(config, environ):
        return config.settings
    return {**config.settings, "commands": {"mode": "none"}}


def _lock_reasons(config: Shoulders, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return why commands are off, where it is not for ``Shoulders.settings``."""
    if _commands_allowed(config, environ):
        return {}
    if config.allow_commands is None:
        reason = (
            "On a shared machine commands are off unless the administrator allows them "
            "(Shoulders.allow_commands in Jupyter's configuration)."
        )
    else:
        reason = (
            "Your administrator has switched commands off "
            "(Shoulders.allow_commands in Jupyter's configuration)."
        )
    return {"commands.mode": reason}


def _commands_allowed(config: Shoulders, environ: Mapping[str, str]) -> bool:
    shared = any(name in environ for name in _SHARED)
    return not shared if config.allow_commands is None else config.allow_commands


def _budget(config: Shoulders) -> Limits:
    return Limits(
        month=_micro(config.budget_month_usd),
        day=_micro(config.budget_day_usd),
        session=_micro(config.budget_session_usd),
        turn=_micro(config.budget_turn_usd),
    )


def _micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * 1_000_000)

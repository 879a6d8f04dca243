"""Turns Jupyter's configuration into the settings of a host, the same for server and command line.

Called by ``server.extension_services`` and ``cli.in_process``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from jupyter_core.paths import jupyter_runtime_dir

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.host.config import Shoulders, is_shared
from jupyter_ai_shoulders.host.ports import FolderTrustSetting, HostSettings
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits
from jupyter_ai_shoulders.wire.sessions import Mode

STATE_DIR = ".shoulders"


def host_settings(
    config: Shoulders,
    workspace: Path,
    environ: Mapping[str, str] = os.environ,
    *,
    collaboration: bool = False,
    document_server: str | None = None,
    identifies_people: bool = False,
    runtime_dir: Path | None = None,
) -> HostSettings:
    """Return the settings of the host of a workspace.

    ``identifies_people``: whether the server distinguishes its users even without a hub.
    """
    return HostSettings(
        workspace=workspace,
        state_dir=workspace / (config.state_dir or STATE_DIR),
        runtime_dir=runtime_dir or Path(jupyter_runtime_dir()),
        models=config.models,
        preferences=_preferences(config, environ),
        lock_reasons=_lock_reasons(config, environ),
        budget=_budget(config),
        default_mode=cast("Mode", config.default_mode),
        step_limit=config.step_limit,
        titles=config.titles,
        turn_time_limit=config.turn_time_limit or None,
        run_timeout=config.run_patience,
        refuses_busy=config.busy_kernel == "refuse",
        allow_bypass=config.allow_bypass,
        rules=config.rules,
        folder_trust=cast("FolderTrustSetting", config.folder_trust),
        trusted_folders=config.trusted_folders,
        services=config.services,
        mcp_servers=config.mcp_servers,
        mcp_servers_locked=config.mcp_servers_locked,
        mcp_calls=CallLimits(config.mcp_silence_timeout, config.mcp_call_timeout),
        tool_packages=config.tool_packages,
        acp_agents=config.acp_agents,
        locks_acp_agents=config.lock_acp_agents,
        qdrant_url=config.qdrant_url,
        qdrant_api_key=config.qdrant_api_key,
        mcp_server=config.mcp_server,
        compaction=cast("CompactionMode", config.compaction),
        page_timeout=config.page_grace,
        has_owners=identifies_people or bool(environ.get("JUPYTERHUB_API_URL")),
        home_owner=environ.get("JUPYTERHUB_USER") or None,
        collaboration=collaboration,
        document_server=document_server,
    )


def _preferences(config: Shoulders, environ: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the locked preferences; on shared machines commands are off unless allowed."""
    if _commands_allowed(config, environ):
        return config.settings
    return {**config.settings, "commands": {"mode": "none"}}


def _lock_reasons(config: Shoulders, environ: Mapping[str, str]) -> Mapping[str, str]:
    """Return why commands are off, where ``Shoulders.settings`` is not the reason."""
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
    return not is_shared(environ) if config.allow_commands is None else config.allow_commands


def _budget(config: Shoulders) -> SpendingLimits:
    return SpendingLimits(
        month=_micro(config.budget_month_usd),
        day=_micro(config.budget_day_usd),
        session=_micro(config.budget_session_usd),
        turn=_micro(config.budget_turn_usd),
    )


def _micro(dollars: float | None) -> int | None:
    return None if dollars is None else round(dollars * 1_000_000)

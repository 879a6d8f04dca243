"""The value of each setting that no file and no administrator sets; read by ``preferences``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jupyter_ai_shoulders.core.model_preferences import COMPLETION_DEFAULTS, ModelPreferences


def default_values() -> dict[str, Any]:
    """Return the defaults by name, such as ``models.mode``."""
    return {
        **{f"models.{key}": value for key, value in asdict(ModelPreferences()).items()},
        "egress.data_values": "schema_only",
        "commands.mode": "sandbox",
        "commands.network": False,
        **{f"ghost.{key}": value for key, value in COMPLETION_DEFAULTS},
        "threads.keep_in_notebook": False,
        "search.enabled": True,
        "search.include": (),
        "search.exclude": (),
        "search.conversations": True,
        "search.by_meaning": True,
        "search.embedder": "",
        "search.send_to": "",
        "references.main_file": "references.bib",
        "references.key_pattern": "authoryearword",
        "references.citation_syntax": "myst",
        "references.style": "apa",
        "word.tracked_changes": True,
        "notifications.agent": False,
        "notifications.browser": False,
        "notifications.webhook": "",
        "schedules.agent": False,
        "schedules.shortest_interval_s": 900,
        "schedules.most_schedules": 20,
        "schedules.runs_per_day": 48,
        "schedules.usd_per_day": 1.0,
        "schedules.most_concurrent": 2,
        "schedules.longest_agent_days": 7,
        "schedules.largest_toolset": "full",
        "schedules.quiet_hours": "",
        "agent_database.enabled": False,
        "agent_database.limit_mb": 100,
        "memory.enabled": True,
        "schedules.poll_files": False,
    }

"""Files of the state directory that no tool may write; used by ``tools.permissions.rules``."""

from __future__ import annotations

from jupyter_ai_shoulders.tools.permissions.grants import normalize_path

STATE_FOLDER = ".shoulders"
SEALED_NAMES = frozenset(
    {
        *("tools.json", "settings.json", "models.json", "services.json", "keys.env"),
        *("mcp.json", "mcp_sign_ins.json", "mcp_tokens.json", "mcp_tools.json"),
    }
)
"""Files of the state directory that no tool may write: rules, settings, programs, keys."""
SEALED_FOLDER = "trust"
"""Folder of ``~/.shoulders`` that stores the user's trust decisions about folders."""


def is_sealed(path: str) -> bool:
    """Return whether a workspace-relative path is such a file."""
    parts = normalize_path(path).lower().split("/")
    return STATE_FOLDER in parts[:-1] and (
        parts[-1] in SEALED_NAMES
        or parts[-1].startswith(("state.db", "agent.db"))
        or SEALED_FOLDER in parts[parts.index(STATE_FOLDER) + 1 :]
    )

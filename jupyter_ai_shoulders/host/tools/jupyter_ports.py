"""The TCP ports of a user's running Jupyter servers, which sandboxed commands must not reach.

A command that found a server's token could change the permission rules there. Used by
``host.tools.command_execution``.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

_FILES = ("jpserver-*.json", "nbserver-*.json")


class _Server(BaseModel):
    """What a server writes into the runtime directory; 0: it listens on a UNIX socket only."""

    port: int = Field(ge=0, le=65_535)


def running_server_ports(runtime_dir: Path) -> set[int]:
    """Return the ports that servers have written down; blocks, for threads."""
    found: set[int] = set()
    for pattern in _FILES:
        for path in runtime_dir.glob(pattern):
            try:
                found.add(_Server.model_validate_json(path.read_bytes()).port)
            except (OSError, ValidationError):
                continue
    return found - {0}

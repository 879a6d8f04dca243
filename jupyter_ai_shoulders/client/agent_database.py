"""Opens the agent's database in a kernel, read-only; used by ``client``."""

from __future__ import annotations

import os
import sqlite3
from urllib.parse import quote

from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.lazy_imports import wire


class ReadOnlyConnection(sqlite3.Connection):
    """A connection that a ``with`` block closes."""

    def __exit__(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride] the base commits
        self.close()


def open_agent_database(found: wire.AgentDatabase) -> ReadOnlyConnection:
    """Return a read-only connection. Raises ``ClientError``."""
    if not found.enabled:
        raise ClientError(
            "The agent's database is off for this workspace.\n"
            "Switch it on in AI Settings, under Agent's database."
        )
    if found.path is None:
        raise ClientError(
            "The agent's database has no tables yet.\n"
            "Ask the agent to keep records; then call this again."
        )
    if _identity(found.path) != found.file:
        raise ClientError(
            "This kernel and the server are on different machines, so it cannot open the database."
            "\nExport a table in the lab (Open the Agent's Database), and read that file."
        )
    address = f"file:{quote(found.path)}?mode=ro"
    connection = sqlite3.connect(address, uri=True, factory=ReadOnlyConnection)
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may have come with a folder
    connection.execute("PRAGMA query_only = ON")
    return connection


def _identity(path: str) -> str | None:
    """Return device and number of a file, as the server names them; None if there is none."""
    try:
        facts = os.stat(path)  # noqa: PTH116 a path of the server, not of this folder
    except OSError:
        return None
    return f"{facts.st_dev}:{facts.st_ino}"

"""Chooses the engine of a command: the server that serves the workspace, else one of its own.

Called by ``program``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.cli.attached import AttachedDesk
from jupyter_ai_shoulders.cli.desk import Desk
from jupyter_ai_shoulders.cli.errors import WrongUse
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.address import URL, Address, Server, running_servers
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import ClientError


@dataclass(frozen=True, slots=True)
class Wanted:
    """Where the user wants the engine."""

    workspace: Path
    url: str | None = None
    token: str | None = None
    alone: bool = False


def choose(wanted: Wanted, environ: Mapping[str, str] = os.environ) -> Desk:
    """Return the engine. Raises ``WrongUse``, ``ServerNotFound``, ``Unreachable``."""
    workspace = wanted.workspace.resolve()
    if not workspace.is_dir():
        raise WrongUse(f"There is no folder {workspace}.")
    if wanted.url or (environ.get(URL) and not wanted.alone):
        return attach(Client(wanted.url, wanted.token, environ=environ))
    server = None if wanted.alone else serving(workspace, running_servers())
    if server is not None:
        address = Address(server.url, wanted.token or server.token or None, server.socket)
        return AttachedDesk(Client(environ={}, connection=Connection(address)), server.root)
    from jupyter_ai_shoulders.cli.alone import LoneDesk, configuration

    return LoneDesk(workspace, configuration())


def attach(client: Client) -> Desk:
    """Return the engine of a server whose address was given. Raises ``ClientError``."""
    try:
        return AttachedDesk(client, Path(client.status().workspace))
    except ClientError:
        client.close()
        raise


def serving(workspace: Path, servers: Sequence[Server]) -> Server | None:
    """Return the server whose root is the folder, or the nearest one above it."""
    above = [server for server in servers if workspace.is_relative_to(server.root)]
    return max(above, key=lambda server: len(server.root.parts), default=None)


def document_in(workspace: Path, given: str) -> str:
    """Return the path of a file in the workspace. Raises ``WrongUse``."""
    path = Path(given).resolve()
    if not path.is_file():
        raise WrongUse(f"There is no file {given}.")
    root = workspace.resolve()
    if not path.is_relative_to(root):
        raise WrongUse(f"{given} is not in the workspace {root}. --workspace names another one.")
    return path.relative_to(root).as_posix()

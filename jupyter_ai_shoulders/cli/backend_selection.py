"""Chooses the engine of a command: the server that serves the workspace, else one in this process.

Called by ``dispatch``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.cli.remote import RemoteBackend
from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.client.errors import ClientError
from jupyter_ai_shoulders.client.server_discovery import (
    URL,
    RunningServer,
    ServerAddress,
    running_servers,
)


@dataclass(frozen=True, slots=True)
class BackendOptions:
    """The user's options for the engine."""

    workspace: Path
    url: str | None = None
    token: str | None = None
    in_process: bool = False


def choose_backend(options: BackendOptions, environ: Mapping[str, str] = os.environ) -> Backend:
    """Return the engine. Raises ``UsageError``, ``ServerNotFound``, ``Unreachable``."""
    workspace = options.workspace.resolve()
    if not workspace.is_dir():
        raise UsageError(f"There is no folder {workspace}.")
    if options.url or (environ.get(URL) and not options.in_process):
        return connect_backend(Client(options.url, options.token, environ=environ))
    server = None if options.in_process else find_server(workspace, running_servers())
    if server is not None:
        address = ServerAddress(server.url, options.token or server.token or None, server.socket)
        return RemoteBackend(Client(environ={}, connection=Connection(address)), server.root)
    from jupyter_ai_shoulders.cli.in_process import InProcessBackend, load_configuration

    return InProcessBackend(workspace, load_configuration())


def find_connection(
    options: BackendOptions, environ: Mapping[str, str] = os.environ
) -> tuple[Connection, Path | None] | None:
    """Return the connection to a server and its root, where known; None if none serves the folder.

    Raises ``UsageError``, ``ClientError``.
    """
    workspace = options.workspace.resolve()
    if not workspace.is_dir():
        raise UsageError(f"There is no folder {workspace}.")
    if options.in_process:
        return None
    if options.url or environ.get(URL):
        return Client(options.url, options.token, environ=environ).connection, None
    server = find_server(workspace, running_servers())
    if server is None:
        return None
    address = ServerAddress(server.url, options.token or server.token or None, server.socket)
    return Connection(address), server.root


def connect_backend(client: Client) -> Backend:
    """Return the engine of a server whose address was given. Raises ``ClientError``."""
    try:
        return RemoteBackend(client, Path(client.status().workspace))
    except ClientError:
        client.close()
        raise


def find_server(workspace: Path, servers: Sequence[RunningServer]) -> RunningServer | None:
    """Return the server whose root is the folder, or the nearest one above it."""
    above = [server for server in servers if workspace.is_relative_to(server.root)]
    return max(above, key=lambda server: len(server.root.parts), default=None)


def resolve_document(workspace: Path, given: str) -> str:
    """Return the path of a file in the workspace. Raises ``UsageError``."""
    path = Path(given).resolve()
    if not path.is_file():
        raise UsageError(f"There is no file {given}.")
    root = workspace.resolve()
    if not path.is_relative_to(root):
        raise UsageError(f"{given} is not in the workspace {root}. --workspace names another one.")
    return path.relative_to(root).as_posix()

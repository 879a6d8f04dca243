"""Serves MCP on standard input and output, or prints a client's entry. Called by ``cli.dispatch``.

Where a Jupyter server serves the folder, messages are passed on to it, so a client works on live
notebooks and its questions are asked in JupyterLab. Elsewhere the engine runs in this process.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from jupyter_ai_shoulders.cli.backend_selection import BackendOptions, find_server
from jupyter_ai_shoulders.cli.errors import CommandFailed, UsageError
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.mcp.client_entries import client_entry
from jupyter_ai_shoulders.cli.output import write_error, write_out
from jupyter_ai_shoulders.client.server_discovery import (
    URL,
    ServerAddress,
    running_servers,
)
from jupyter_ai_shoulders.client.server_discovery import find_server as find_address

INSTALL = 'pip install "jupyter-ai-shoulders[mcp]"'


def mcp(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    """Serve, or print an entry. Raises ``CommandFailed``, ``ClientError``, ``ShouldersError``."""
    if options.action == "config":
        return _print_entry(options, wanted)
    if options.client is not None:
        raise UsageError("Only config takes the name of a client.")
    if find_spec("mcp") is None:
        raise CommandFailed(f"The package mcp is missing. Install it: {INSTALL}", ExitCode.ERROR)
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    address = server_address(wanted)
    if address is not None:
        from jupyter_ai_shoulders.cli.mcp.bridge import bridge

        asyncio.run(bridge(address, options.scope))
        return ExitCode.OK
    from jupyter_ai_shoulders.cli.mcp.local_server import serve_locally

    serve_locally(wanted.workspace, options.scope, options.mode)
    return ExitCode.OK


def server_address(
    wanted: BackendOptions, environ: Mapping[str, str] = os.environ
) -> ServerAddress | None:
    """Return the server to use: the one that is named, else the one that serves the folder.

    Raises ``ServerNotFound``.
    """
    if wanted.url or (environ.get(URL) and not wanted.in_process):
        return find_address(wanted.url, wanted.token, environ=environ)
    if wanted.in_process:
        return None
    found = find_server(wanted.workspace.resolve(), running_servers())
    if found is None:
        return None
    return ServerAddress(found.url, wanted.token or found.token or None, found.socket)


def _print_entry(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    if options.client is None:
        raise UsageError("config: name a client, such as claude-code; --help lists them.")
    address = server_address(wanted) if options.http else None
    if options.http and address is None:
        raise UsageError(
            "No Jupyter server of yours serves this folder. Start JupyterLab, or give --url."
        )
    program = str(Path(sys.argv[0]).absolute()) if _is_script() else "jupyter"
    entry = client_entry(options.client, program, address.url if address else None, os.environ)
    write_error(f"{entry.where}\n\n")
    write_out(f"{entry.text}\n")
    return ExitCode.OK


def _is_script() -> bool:
    """Return whether this process was started by the ``jupyter`` or ``jupyter-shoulders`` script.

    Its path works in programs that start in another environment.
    """
    return Path(sys.argv[0]).name in {"jupyter-shoulders", "jupyter-shoulders.exe"}

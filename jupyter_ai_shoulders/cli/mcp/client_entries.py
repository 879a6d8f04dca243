"""What to paste into a client so that it uses our MCP server. Pure.

The formats are those of each program's documentation (2026-11); the lab's settings show the same
(``labextension/src/settings/access/clientEntries.ts``).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAME = "jupyter"
VARIABLES = ("JUPYTER_RUNTIME_DIR", "JUPYTER_DATA_DIR", "XDG_DATA_HOME")
"""Where Jupyter looks for running servers (``jupyter_core.paths``). Several clients start commands
with the most common variables only.
"""
TOKEN = "TOKEN"  # noqa: S105 stands for one
CODEX_OPTIONS = (
    "required = true",  # otherwise it begins without a server that is slow to start
    "tool_timeout_sec = 3600",  # otherwise a call ends after a minute of waiting
    'default_tools_approval_mode = "approve"',  # JupyterLab asks; ``codex exec`` else refuses
)
"""Codex 0.171."""
_PASTE = "Add this to {}, and restart the program:"
_RUN = "Run this in a terminal:"


@dataclass(frozen=True, slots=True)
class ClientEntry:
    """An entry, and where it goes."""

    where: str
    text: str


@dataclass(frozen=True, slots=True)
class _Server:
    """The server as a client reaches it: a command, or an address with a token."""

    words: Sequence[str]
    url: str | None
    variables: Mapping[str, str]
    """Environment variables that the command needs."""

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {TOKEN}"}


def client_entry(
    client: str, program: str, url: str | None, environ: Mapping[str, str] | None = None
) -> ClientEntry:
    """Return the entry of a client: for the address ``url``, or else for a command.

    ``program`` is ``jupyter`` or the path of ``jupyter-shoulders``. An address needs a token, whose
    place is marked. Of ``environ``, what decides where running servers are found is in the entry of
    a command.
    """
    variables = {name: environ[name] for name in VARIABLES if name in environ} if environ else {}
    words = (
        [program, "mcp"]
        if program.endswith(("shoulders", ".exe"))
        else [program, "shoulders", "mcp"]
    )
    address = None if url is None else f"{url}shoulders/mcp"
    return _ENTRIES[client](_Server(words, address, variables))


def _claude_code(server: _Server) -> ClientEntry:
    if server.url is None:
        given = [f"-e {shlex.quote(f'{name}={v}')} " for name, v in server.variables.items()]
        words = shlex.join(server.words)
        return ClientEntry(_RUN, f"claude mcp add {NAME} {''.join(given)}-- {words}")
    header = f'--header "Authorization: Bearer {TOKEN}"'
    return ClientEntry(_RUN, f"claude mcp add --transport http {NAME} {server.url} {header}")


def _codex(server: _Server) -> ClientEntry:
    where = _PASTE.format("~/.codex/config.toml")
    lines = [f"[mcp_servers.{NAME}]"]
    if server.url is None:
        lines += [
            f"command = {json.dumps(server.words[0])}",
            f"args = {json.dumps(list(server.words[1:]))}",
        ]
        given = [f"{name} = {json.dumps(v)}" for name, v in server.variables.items()]
        lines += [f"env = {{ {', '.join(given)} }}"] if given else []
    else:
        lines += [
            f"url = {json.dumps(server.url)}",
            f"http_headers = {{ Authorization = {json.dumps(server.headers['Authorization'])} }}",
        ]
    lines += CODEX_OPTIONS
    return ClientEntry(where, "\n".join(lines))


def _json_entry(
    file: str, key: str, url_key: str = "url", **http: str
) -> Callable[[_Server], ClientEntry]:
    def made(server: _Server) -> ClientEntry:
        entry: dict[str, Any]
        if server.url is None:
            entry = {"command": server.words[0], "args": list(server.words[1:])}
            entry |= {"env": dict(server.variables)} if server.variables else {}
        else:
            entry = {**http, url_key: server.url, "headers": dict(server.headers)}
        return ClientEntry(_PASTE.format(file), json.dumps({key: {NAME: entry}}, indent=2))

    return made


_ENTRIES: Mapping[str, Callable[[_Server], ClientEntry]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _json_entry("~/.gemini/settings.json", "mcpServers", "httpUrl"),
    "cursor": _json_entry("~/.cursor/mcp.json", "mcpServers"),
    "vscode": _json_entry(".vscode/mcp.json", "servers", type="http"),
    "zed": _json_entry("~/.config/zed/settings.json", "context_servers"),
    "json": _json_entry("the program's list of MCP servers", "mcpServers", type="http"),
}
CLIENTS = tuple(_ENTRIES)

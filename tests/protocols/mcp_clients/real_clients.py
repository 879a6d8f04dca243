"""Programs that no one here wrote, as clients of our MCP server; used by the browser test of them.

The official SDK comes with the extra ``mcp``. The others come from npm and are looked for on the
path: ``mcp-inspector`` (``@modelcontextprotocol/inspector``), ``claude``
(``@anthropic-ai/claude-code``), ``codex`` (``@openai/codex``), ``gemini`` (``@google/gemini-cli``).
Their models are played by the simulator.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.cli.mcp.client_entries import TOKEN, client_entry
from tests.protocols.mcp_clients.simulated_model import (
    DONE,
    Call,
    make_calls,
    refusals,
    sent,
    simulated_model,
)
from tests.simulator.server import Simulator

SECONDS = 100
PROMPT = "Work on the notebook"


@dataclass(frozen=True)
class OurServer:
    """How a client reaches our MCP server: by its address with a token, or by the command."""

    url: str
    """Of the Jupyter server."""
    token: str
    program: str | None = None
    """``jupyter-shoulders``; it finds the server by the folder it is started in."""
    env: Mapping[str, str] | None = None

    def printed(self, client: str) -> str:
        """The entry that a user pastes."""
        entry = client_entry(
            client, self.program or "", None if self.program else self.url, self.env
        )
        return entry.text.replace(TOKEN, self.token)

    @property
    def entry(self) -> dict[str, Any]:
        """The entry in the JSON of most clients."""
        return json.loads(self.printed("json"))["mcpServers"]["jupyter"]


Use = Callable[[OurServer, Sequence[Call], Path], str]
"""Makes the calls with the client in a folder; returns all that it got from our server."""


@dataclass(frozen=True)
class RealClient:
    """One client."""

    name: str
    program: str | None
    """None: no program but the SDK."""
    use: Use


def _use_sdk(server: OurServer, calls: Sequence[Call], folder: Path) -> str:
    import httpx2
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
    from mcp_types import Implementation

    entry = server.entry

    async def use() -> str:
        async with httpx2.AsyncClient(headers=entry.get("headers"), timeout=SECONDS) as http:
            if server.program:
                command, arguments = entry["command"], entry["args"]
                transport = stdio_client(
                    StdioServerParameters(
                        command=command, args=arguments, env=entry.get("env"), cwd=folder
                    )
                )
            else:
                transport = streamable_http_client(entry["url"], http_client=http)
            info = Implementation(name="SDK client", version="1")
            async with Client(transport, client_info=info) as client:
                results = [await client.call_tool(name, dict(args)) for name, args in calls]
        return "\n".join(result.model_dump_json() for result in results)

    return asyncio.run(use())


def _use_inspector(server: OurServer, calls: Sequence[Call], folder: Path) -> str:
    config = folder / "inspector.json"
    config.write_text(server.printed("json"))
    told = [
        _run(
            [
                *("mcp-inspector", "--cli", "--config", str(config), "--server", "jupyter"),
                *("--method", "tools/call", "--tool-name", name),
                *("--tool-args-json", json.dumps(arguments), "--format", "json"),
                # It connects for each call. Without protocol sessions its calls are one
                # conversation, so that a cell that was read may be edited.
                *("--protocol-era", "modern"),
            ],
            folder,
            {},
        )
        for name, arguments in calls
    ]
    return "\n".join(told)


def _use_claude(server: OurServer, calls: Sequence[Call], folder: Path) -> str:
    words = shlex.split(server.printed("claude-code"))
    _run(words, folder, {})

    def command(simulator: Simulator) -> tuple[list[str], dict[str, str]]:
        return (
            [
                *("claude", "-p", PROMPT, "--allowed-tools", "mcp__jupyter"),
                "--no-session-persistence",
            ],
            {
                "ANTHROPIC_BASE_URL": simulator.url,
                "ANTHROPIC_API_KEY": simulator.key,
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
                "ENABLE_TOOL_SEARCH": "false",
                "MCP_CONNECTION_NONBLOCKING": "false",  # it begins without slow servers otherwise
            },
        )

    return _use_with_model(command, calls, folder)


def _use_codex(server: OurServer, calls: Sequence[Call], folder: Path) -> str:
    def command(simulator: Simulator) -> tuple[list[str], dict[str, str]]:
        home = folder / "home" / ".codex"
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(_codex_settings(server, simulator))
        return (
            ["codex", "exec", "--skip-git-repo-check", PROMPT],
            {"OPENAI_API_KEY": simulator.key, "CODEX_HOME": str(home)},
        )

    return _use_with_model(command, calls, folder)


def _codex_settings(server: OurServer, simulator: Simulator) -> str:
    lines = (
        'model = "gpt-5.4"',
        'model_provider = "simulated"',
        'approval_policy = "never"',
        "[model_providers.simulated]",
        'name = "simulated"',
        f'base_url = "{simulator.openai_url}"',
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        "[analytics]",
        "enabled = false",
        server.printed("codex"),
    )
    return "\n".join(lines)


def _use_gemini(server: OurServer, calls: Sequence[Call], folder: Path) -> str:
    settings = folder / "home" / ".gemini"
    settings.mkdir(parents=True, exist_ok=True)
    [(name, entry)] = json.loads(server.printed("gemini"))["mcpServers"].items()
    content = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
        "mcpServers": {name: {**entry, "trust": True}},  # it asks a person otherwise
    }
    (settings / "settings.json").write_text(json.dumps(content))

    def command(simulator: Simulator) -> tuple[list[str], dict[str, str]]:
        return (
            ["gemini", "--skip-trust", "-m", "gemini-2.5-pro", "-p", PROMPT],
            {"GEMINI_API_KEY": simulator.key, "GOOGLE_GEMINI_BASE_URL": simulator.url},
        )

    return _use_with_model(command, calls, folder)


def _use_with_model(
    command: Callable[[Simulator], tuple[list[str], dict[str, str]]],
    calls: Sequence[Call],
    folder: Path,
) -> str:
    with simulated_model() as simulator:
        simulator.default(make_calls(calls))
        words, variables = command(simulator)
        try:
            told = _run(words, folder, variables)
        except AssertionError as error:
            raise AssertionError(f"{error}\nRefused: {refusals(simulator)}") from error
        assert DONE in told, f"{told}\nRefused: {refusals(simulator)}\n{sent(simulator)[-4000:]}"
        return sent(simulator)


def _run(words: Sequence[str], folder: Path, variables: Mapping[str, str]) -> str:
    """Run a program with a home of its own; return what it printed."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "NO_COLOR": "1", **variables}
    done = subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    told = f"{done.stdout}\n{done.stderr[-4000:]}"
    assert done.returncode == 0, f"{words[0]} ended with {done.returncode}: {told}"
    return told


CLIENTS = (
    RealClient("sdk", None, _use_sdk),
    RealClient("inspector", "mcp-inspector", _use_inspector),
    RealClient("claude-code", "claude", _use_claude),
    RealClient("codex", "codex", _use_codex),
    RealClient("gemini", "gemini", _use_gemini),
)

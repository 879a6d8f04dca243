"""Agents of others with their models played by the simulator; used by ``test_real_agents``.

The programs come from npm and are looked for on the path: ``claude-agent-acp``, ``codex-acp``,
``gemini``, ``opencode``. What each is asked to do is said by the script of its model: the names and
arguments of tools are those of the versions named below.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.simulator.script import Entry, Reasoning, Reply, SimRequest, ToolUse, reply
from tests.simulator.server import Simulator

Prepare = Callable[[Path, Simulator], dict[str, str]]
"""Writes the agent's settings into its home; returns its variables."""


@dataclass(frozen=True)
class RealAgent:
    """One agent: its command, how it is set up, and its own tools."""

    name: str
    program: str
    arguments: tuple[str, ...]
    prepare: Prepare
    mode: str | None
    """Its mode that asks; None when it has none."""
    edit: Callable[[Path], ToolUse]
    """Replaces ``two`` by ``TWO`` in ``data.txt`` of a folder."""
    run: ToolUse
    """Prints ``data.txt``."""
    plan: ToolUse | None = None
    create: Callable[[Path], ToolUse] | None = None
    """Writes ``new.txt`` of a folder, where that is a request to us."""
    writes_here: bool = False
    """Whether its writes of files are requests to us."""
    remembers: bool = True
    """Whether it knows the conversation after it was killed; Gemini CLI 0.61 does not find it."""


def _claude(home: Path, simulator: Simulator) -> dict[str, str]:
    del home
    return {
        "ANTHROPIC_BASE_URL": simulator.url,
        "ANTHROPIC_API_KEY": simulator.key,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(home: Path, simulator: Simulator) -> dict[str, str]:
    folder = home / ".codex"
    folder.mkdir(exist_ok=True)
    lines = (
        'model = "gpt-5.4"',
        'model_provider = "simulated"',
        "[model_providers.simulated]",
        'name = "simulated"',
        f'base_url = "{simulator.openai_url}"',
        'env_key = "OPENAI_API_KEY"',
        'wire_api = "responses"',
        "[analytics]",
        "enabled = false",
    )
    (folder / "config.toml").write_text("\n".join(lines))
    return {"OPENAI_API_KEY": simulator.key, "CODEX_API_KEY": simulator.key}


def _gemini(home: Path, simulator: Simulator) -> dict[str, str]:
    folder = home / ".gemini"
    folder.mkdir(exist_ok=True)
    settings = {
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "telemetry": {"enabled": False},
        "privacy": {"usageStatisticsEnabled": False},
        "general": {"enableAutoUpdate": False},
    }
    (folder / "settings.json").write_text(json.dumps(settings))
    return {"GEMINI_API_KEY": simulator.key, "GOOGLE_GEMINI_BASE_URL": simulator.url}


def _opencode(home: Path, simulator: Simulator) -> dict[str, str]:
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    options = {"baseURL": simulator.openai_url, "apiKey": "{env:ANTHROPIC_API_KEY}"}
    settings = {
        "model": "anthropic/claude-sonnet-4-5",
        "small_model": "anthropic/claude-haiku-4-5",
        "autoupdate": False,
        "provider": {"anthropic": {"options": options}},
        "permission": {"edit": "ask", "bash": "ask"},
    }
    (folder / "opencode.json").write_text(json.dumps(settings))
    return {"OPENCODE_DISABLE_MODELS_FETCH": "1", "ANTHROPIC_API_KEY": simulator.key}


PATCH = (
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: data.txt\n"
    "@@\n one\n-two\n+TWO\n three\n*** End Patch\nEOF"
)
STEPS = (("Read the data", "completed"), ("Change the data", "in_progress"))

AGENTS = (
    RealAgent(
        "claude-code",
        "claude-agent-acp",
        (),
        _claude,
        "default",
        edit=lambda root: ToolUse(
            name="Edit",
            arguments={
                "file_path": str(root / "data.txt"),
                "old_string": "two",
                "new_string": "TWO",
            },
        ),
        run=ToolUse(
            name="Bash", arguments={"command": "tac data.txt", "description": "Print the data"}
        ),
        plan=ToolUse(
            name="TodoWrite",
            arguments={
                "todos": [
                    {"content": text, "status": status, "activeForm": text}
                    for text, status in STEPS
                ]
            },
        ),
    ),
    RealAgent(
        "codex",
        "codex-acp",
        (),
        _codex,
        "read-only",
        edit=lambda _: ToolUse(name="exec_command", arguments={"cmd": PATCH}),
        run=ToolUse(name="exec_command", arguments={"cmd": "cat data.txt"}),
    ),
    RealAgent(
        "gemini",
        "gemini",
        ("--acp", "--skip-trust", "-m", "gemini-2.5-pro"),
        _gemini,
        "default",
        edit=lambda root: ToolUse(
            name="replace",
            arguments={
                "file_path": str(root / "data.txt"),
                "instruction": "Write it in capitals",
                "old_string": "two",
                "new_string": "TWO",
            },
        ),
        run=ToolUse(
            name="run_shell_command",
            arguments={"command": "cat data.txt", "description": "Print the data"},
        ),
        create=lambda root: ToolUse(
            name="write_file",
            arguments={"file_path": str(root / "new.txt"), "content": "new\n"},
        ),
        writes_here=True,
        remembers=False,
    ),
    RealAgent(
        "opencode",
        "opencode",
        ("acp",),
        _opencode,
        None,
        edit=lambda root: ToolUse(
            name="edit",
            arguments={
                "filePath": str(root / "data.txt"),
                "oldString": "two",
                "newString": "TWO",
            },
        ),
        run=ToolUse(
            name="bash", arguments={"command": "cat data.txt", "description": "Print the data"}
        ),
    ),
)


def work_through(*uses: ToolUse) -> Entry:
    """Return an entry that uses these tools one after another, thinking before each.

    Requests with few tools are for titles and the like, and get a text.
    """
    left = list(uses)

    def answer(request: SimRequest) -> Reply:
        if len(request.tool_names) < 4:
            return reply("A title")
        if left:
            return reply(Reasoning(text="I think."), "Next step. ", left.pop(0))
        return reply(Reasoning(text="I think."), "All is done.")

    return answer

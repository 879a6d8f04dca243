"""Agents that are found by their programs' names, and how to install them.

Used by ``host.external_agents.agent_catalogue``. Names, arguments and packages are those of the
agents' own manuals: Claude Code and Codex speak the Agent Client Protocol through adapters.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent whose command is known."""

    name: str
    title: str
    program: str
    arguments: tuple[str, ...]
    install: str


KNOWN_AGENTS = (
    KnownAgent(
        name="claude-code",
        title="Claude Code",
        program="claude-agent-acp",
        arguments=(),
        install="npm install -g @agentclientprotocol/claude-agent-acp",
    ),
    KnownAgent(
        name="codex",
        title="Codex",
        program="codex-acp",
        arguments=(),
        install="npm install -g @agentclientprotocol/codex-acp",
    ),
    KnownAgent(
        name="gemini",
        title="Gemini CLI",
        program="gemini",
        arguments=("--acp",),
        install="npm install -g @google/gemini-cli",
    ),
    KnownAgent(
        name="opencode",
        title="OpenCode",
        program="opencode",
        arguments=("acp",),
        install="npm install -g opencode-ai",
    ),
    KnownAgent(
        name="goose",
        title="Goose",
        program="goose",
        arguments=("acp",),
        install="brew install block-goose-cli",
    ),
)

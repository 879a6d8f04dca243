"""Programs of others that tests run, from npm; installed when they are missing.

Only tests marked ``full`` use them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).parents[2] / ".venv" / "npm-programs"
PACKAGES = {
    "acpx": "acpx",
    "claude": "@anthropic-ai/claude-code",
    "claude-agent-acp": "@agentclientprotocol/claude-agent-acp",
    "codex": "@openai/codex",
    "codex-acp": "@agentclientprotocol/codex-acp",
    "gemini": "@google/gemini-cli",
    "mcp-inspector": "@modelcontextprotocol/inspector",
    "opencode": "opencode-ai",
}
SECONDS = 600


def put_on_path(program: str) -> str:
    """Return the path of a program, and put its folder on ``PATH``; install it if it is missing.

    Fails if npm cannot install it.
    """
    found = shutil.which(program)
    if found is not None:
        return found
    folder = FOLDER / program
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / ".bin" / program).exists():
            options = ("--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(folder))
            words = ["npm", "install", *options, PACKAGES[program]]
            subprocess.run(words, check=True, timeout=SECONDS)
    os.environ["PATH"] = f"{os.environ['PATH']}:{folder / 'node_modules' / '.bin'}"
    found = shutil.which(program)
    assert found is not None, f"{PACKAGES[program]} has no program {program}"
    return found

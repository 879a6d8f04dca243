"""Files that shape what the agent is told later, or run as programs without being asked to.

Pure; the sandbox keeps commands from those that are there (``guard.sandbox``), and a command line
that names one asks (``tools.run_command``).
"""

from __future__ import annotations

import re

INSTRUCTION_NAMES = frozenset(
    {"_instructions.md", "agents.md", "claude.md", ".cursorrules", ".hermes.md", "hermes.md"}
)
"""Lower-case names of files of instructions, wherever they lie (chapter 11)."""

GIT_PROGRAMS = ("hooks", "config", "config.worktree")
"""What in a repository's own folder has git run programs."""

HOME_PROGRAMS = (
    *(".bashrc", ".profile", ".bash_profile", ".bash_login", ".bash_logout", ".zshrc", ".zshenv"),
    *(".zprofile", ".zlogin", ".gitconfig", ".config/git", ".config/autostart", ".config/fish"),
    *(".config/systemd", ".ipython/profile_default/startup"),
    ".ipython/profile_default/ipython_config.py",
)
"""What of a home is run when somebody logs in, or begins a shell, a kernel or git."""

_QUOTES = re.compile(r"[\"'\\]")
_MENTIONED = re.compile(
    r"(?<![\w.-])(?:"
    + "|".join(map(re.escape, sorted({*INSTRUCTION_NAMES, ".git", ".shoulders", *HOME_PROGRAMS})))
    + r")(?![\w-]|\.\w)",
    re.IGNORECASE,
)


def mentioned(line: str) -> str | None:
    """Return the first such name in a command line, as it is spelled there; None without one.

    A name that the shell puts together, or that a program knows, is not seen.
    """
    found = _MENTIONED.search(_QUOTES.sub("", line))
    return found and found[0]

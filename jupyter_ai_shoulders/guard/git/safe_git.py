"""Runs git for reads, so that a hostile repository can run nothing.

A repository's configuration may name programs: file-system monitors, hooks, pagers, external diffs,
text converters, content filters, signature checkers, transports. All are switched off. Never asks
for a password, never fetches. Blocks; callers choose the thread. Used by
``host.context.environment`` and ``guard.git.repository``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.guard.process.environment import command_environment
from jupyter_ai_shoulders.guard.process.process_group import kill_after

OUTPUT_LIMIT = 400_000
_TIMEOUT_S = 2.0
"""Time limit of all reads together."""

_OFF = (
    "core.quotePath=false",
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    "core.pager=cat",
    "core.untrackedCache=false",
    "core.alternateRefsCommand=",
    "core.sshCommand=false",
    "diff.external=",
    "log.showSignature=false",
    "protocol.allow=never",
    "submodule.recurse=false",
)
_DIFF = ("--name-only", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_RUNS = re.compile(r"filter\.(.*)\.(?:clean|smudge|process)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
"""Filter names that fit on a command line: ``-c`` ends a key at the first ``=``."""


@dataclass(frozen=True, slots=True)
class GitState:
    """State of a repository; ``changed_files`` counts changes since the last commit, None if
    unknown.
    """

    changed_files: int | None = None


def git_state(directory: Path) -> GitState | None:
    """Return the state of the directory's repository, or None without one."""
    program = shutil.which("git")
    if program is None:
        return None
    git = SafeGit(program, directory)
    if git.run("rev-parse", "--git-dir") is None:
        return None
    if not git.switch_filters_off():
        return GitState()
    names = git.run("diff", "HEAD", *_DIFF, "--", ".")
    return GitState(None if names is None else names.count("\0"))


class SafeGit:
    """Runs git in one directory, for reads; ``seconds`` limits all of them together."""

    def __init__(self, program: str, directory: Path, seconds: float | None = None) -> None:
        self._program = program
        self._directory = directory
        self._off = list(_OFF)
        self._deadline = time.monotonic() + (_TIMEOUT_S if seconds is None else seconds)

    def switch_filters_off(self) -> bool:
        """Disable the configured content filters, which diffs would run.

        Returns False when they cannot all be disabled; then nothing may be compared.
        """
        names = self.run("config", "--list", "--null", "--name-only")
        if names is None or len(names) >= OUTPUT_LIMIT:
            return False
        found = {match[1] for name in names.split("\0") if (match := _RUNS.fullmatch(name))}
        if not all(map(_PLAIN.fullmatch, found)):
            return False
        for name in sorted(found):
            keys = [f"filter.{name}.{kind}=" for kind in ("clean", "smudge", "process")]
            self._off += [*keys, f"filter.{name}.required=false"]
        return True

    def run(self, *arguments: str) -> str | None:
        """Return git's output; None when it fails or takes too long."""
        settings = [word for setting in self._off for word in ("-c", setting)]
        command = [self._program, "--no-pager", "--no-optional-locks", *settings, *arguments]
        try:
            process = subprocess.Popen(  # noqa: S603 a fixed program with our own arguments
                command,
                cwd=self._directory,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:
            return None  # git cannot be started
        with kill_after(process, self._deadline - time.monotonic()):
            assert process.stdout is not None
            printed = process.stdout.read(OUTPUT_LIMIT)
            if len(printed) < OUTPUT_LIMIT:
                process.wait()  # all output is read, but the process may still be exiting
        complete = process.returncode == 0 or len(printed) == OUTPUT_LIMIT
        return printed.decode("utf-8", "replace") if complete else None


def _environment() -> dict[str, str]:
    """Return this process's environment without git's variables, with quiet settings."""
    variables = command_environment(os.environ)
    inherited = {name: value for name, value in variables.items() if not name.startswith("GIT_")}
    return inherited | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # none; overrides settings
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }

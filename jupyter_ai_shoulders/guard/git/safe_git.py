"""What git says of the workspace, asked so that a hostile repository can run nothing (chapter 11).

A repository's own configuration may name programs: file-system monitors, hooks, pagers, external
diffs, text converters, content filters, signature checkers, transports. All of them are switched
off here. Only reads; never asks for a password, never fetches. Blocks; callers choose the thread.
Used by ``host.context.environment`` and
``guard.git.repository``.
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
"""For all that is asked at once."""

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
"""Names of filters that can be said on a command line: ``-c`` ends a key at the first ``=``."""


@dataclass(frozen=True, slots=True)
class GitState:
    """A repository; ``changed_files`` since its last commit, None where that is not known."""

    changed_files: int | None = None


def git_state(directory: Path) -> GitState | None:
    """Return the state of the repository the directory is in, None when there is none."""
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
    """Runs git in one directory, for reads; all of them together take ``seconds`` at most."""

    def __init__(self, program: str, directory: Path, seconds: float | None = None) -> None:
        self._program = program
        self._directory = directory
        self._off = list(_OFF)
        self._deadline = time.monotonic() + (_TIMEOUT_S if seconds is None else seconds)

    def switch_filters_off(self) -> bool:
        """Have the content filters that are configured do nothing; diffs would run them.

        False when that cannot be made sure: then nothing is to be compared.
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
        """Return what git prints, None when it fails, takes too long or prints too much."""
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
            return None  # git cannot be started here: then nothing is known
        with kill_after(process, self._deadline - time.monotonic()):
            assert process.stdout is not None
            printed = process.stdout.read(OUTPUT_LIMIT)
            if len(printed) < OUTPUT_LIMIT:
                process.wait()  # it has said all, and may not have left yet
        complete = process.returncode == 0 or len(printed) == OUTPUT_LIMIT
        return printed.decode("utf-8", "replace") if complete else None


def _environment() -> dict[str, str]:
    """Return ours without what steers git, and with what keeps it quiet."""
    variables = command_environment(os.environ)
    inherited = {name: value for name, value in variables.items() if not name.startswith("GIT_")}
    return inherited | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # none; older ones know only this, and it outranks their settings
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }

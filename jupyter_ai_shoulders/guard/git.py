"""What git says of the workspace, asked so that a hostile repository can run nothing (chapter 11).

A repository's own configuration may name programs: file-system monitors, hooks, pagers, external
diffs, text converters, content filters, signature checkers, transports. All of them are switched
off here. Only reads; never asks for a password, never fetches. Blocks; callers choose the thread.
Used by ``host.surroundings`` and
``guard.repository``.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.secret_files import is_secret
from jupyter_ai_shoulders.guard.environment import command_environment
from jupyter_ai_shoulders.guard.groups import ended_after

MOST_FILES = 5
LINES_PER_FILE = 20
_LINE = 200
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
_DIFF = (
    *("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-renames"),
    *("--relative", "--src-prefix=a/", "--dst-prefix=b/", "-U1"),
)
_RUNS = re.compile(r"filter\.(.*)\.(?:clean|smudge|process)", re.DOTALL)
_PLAIN = re.compile(r"[A-Za-z0-9_.-]+")
"""Names of filters that can be said on a command line: ``-c`` ends a key at the first ``=``."""
_FILE = re.compile(r'^diff --git .* (?:"b/(.*)"|b/(.*))$')
"""Names with quotes or control characters in them are quoted."""


@dataclass(frozen=True, slots=True)
class GitState:
    """The branch, and what changed: not committed yet, else by the last commit."""

    branch: str
    changes: str
    of: str
    """``not committed`` or ``last commit: <subject>``; empty when there are no changes."""


def git_state(directory: Path) -> GitState | None:
    """Return the state of the repository the directory is in, None when there is none."""
    program = shutil.which("git")
    if program is None:
        return None
    asked = QuietGit(program, directory)
    head = asked.run("rev-parse", "--abbrev-ref", "HEAD")
    if head is None:
        unborn = asked.run("symbolic-ref", "--short", "-q", "HEAD")
        return None if unborn is None else GitState(_flat(unborn), "", "")
    branch = _flat(head) if head.strip() != "HEAD" else "(no branch)"
    if not asked.switch_filters_off():
        return GitState(branch, "", "")
    changes = short_diff(asked.run("diff", "HEAD", *_DIFF, "--", ".") or "")
    if changes:
        return GitState(branch, changes, "not committed")
    last = asked.run("log", "-1", "-p", "--first-parent", "--format=%h %s", *_DIFF, "--", ".") or ""
    subject, _, diff = last.partition("\n")
    changes = short_diff(diff)
    return GitState(branch, changes, f"last commit: {_flat(subject)}" if changes else "")


def short_diff(diff: str) -> str:
    """Return the changed lines of a few files, a few of each; secret files are only named."""
    files: list[tuple[str, list[str]]] = []
    for line in diff.splitlines():
        found = _FILE.match(line)
        if found:
            files.append((found[1] or found[2], []))
        elif files and line[:1] in {"+", "-", " ", "@"} and not line.startswith(("+++ ", "--- ")):
            files[-1][1].append(line[:_LINE])
    shown = [_short_file(path, lines) for path, lines in files[:MOST_FILES]]
    if len(files) > MOST_FILES:
        shown.append(f"… {len(files) - MOST_FILES} more of {len(files)} files")
    return "\n".join(shown)


def _short_file(path: str, lines: Sequence[str]) -> str:
    if is_secret(path):
        return f"{path}: changed (not shown: it looks like a secret)"
    if not lines:
        return f"{path}: changed (binary, or its mode only)"
    rest = len(lines) - LINES_PER_FILE
    more = [f"… {rest} more lines"] if rest > 0 else []
    return "\n".join([f"{path}:", *lines[:LINES_PER_FILE], *more])


class QuietGit:
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
        with ended_after(process, self._deadline - time.monotonic()):
            assert process.stdout is not None
            printed = process.stdout.read(OUTPUT_LIMIT)
            if len(printed) < OUTPUT_LIMIT:
                process.wait()  # it has said all, and may not have left yet
        complete = process.returncode == 0 or len(printed) == OUTPUT_LIMIT
        return printed.decode("utf-8", "replace") if complete else None


def _environment() -> dict[str, str]:
    """Return ours without what steers git, and with what keeps it quiet."""
    known = command_environment(os.environ)
    kept = {name: value for name, value in known.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",  # none; older ones know only this, and it outranks their settings
        "GIT_PAGER": "cat",
        "LC_ALL": "C",
    }


def _flat(text: str) -> str:
    return " ".join(text.split())[:_LINE]

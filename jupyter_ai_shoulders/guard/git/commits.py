"""Makes commits as the user would: with the repository's hooks, filters and signing.

Without them a commit would bypass checks, or store content that a filter removes. The user is shown
which programs will run before deciding. They get no keys from the environment, no terminal and a
time limit, and are ended as a group. Nothing is fetched, and nothing else from the repository's
configuration runs. Blocks; callers choose the thread. Used by ``tools.git.commit``.
"""

from __future__ import annotations

import hashlib
import os
import re
import selectors
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    PolicyRefusal,
    ShouldersError,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.git.repository import ChangedFile, Repository
from jupyter_ai_shoulders.guard.process.environment import command_environment
from jupyter_ai_shoulders.guard.process.process_group import kill_process_group

SECONDS = 120.0
"""Time limit of a commit with all its hooks."""
MOST_FILES = 500
OUTPUT_LIMIT = 20_000
_POLL_SECONDS = 0.05
_HOOKS = (
    *("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("reference-transaction", "post-index-change"),
)
"""Hooks that adding and committing run (githooks(5))."""
_OFF = (
    "core.fsmonitor=false",
    "core.pager=cat",
    "core.sshCommand=false",
    "core.editor=true",
    "protocol.allow=never",
    "submodule.recurse=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.verbose=false",
)
_COMMANDS = r"^(filter\.|gpg\.|commit\.gpgsign$|user\.signingkey$)"
"""Settings that name programs to run for a commit."""
_FILTER = re.compile(r"filter\.(.*)\.(?:clean|process)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class CommitPlan:
    """The content of a planned commit and the programs it runs; ``fingerprint`` covers both."""

    branch: str
    files: tuple[ChangedFile, ...]
    paths: tuple[WorkspacePath, ...]
    """The paths to commit; empty for the staged changes."""
    diff: str
    programs: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class CommitResult:
    """The commit's hash, and the output of git and the hooks."""

    commit: str
    output: str


def plan_commit(
    workspace: Workspace, repository: Repository, paths: Sequence[WorkspacePath]
) -> CommitPlan:
    """Plan a commit of the current content of the paths, or of the staged changes.

    Raises ``InvalidRequest`` (nothing to commit), ``Conflict`` (an unfinished merge) and
    ``PolicyRefusal`` (a secret file).
    """
    status = repository.status(paths)
    if not paths and repository.has_staged_outside():
        raise PolicyRefusal(
            "Files outside the workspace are staged, and would be committed unseen.",
            code="outside_workspace",
            hint="Name the paths to commit.",
        )
    if any(file.in_conflict for file in status.files):
        raise Conflict(
            "A merge has left files in conflict.",
            hint="Resolve them before you commit.",
            retryable=True,
        )
    files = [file for file in status.files if paths or file.staged]
    if not files:
        raise _nothing(status.files, paths)
    if len(files) > MOST_FILES:
        raise InvalidRequest(
            f"{len(files)} files would be committed; {MOST_FILES} are the most at once.",
            hint="Name fewer paths.",
        )
    secrets = [file.path for file in files if is_secret(file.path)]
    if secrets:
        raise PolicyRefusal(
            f"{', '.join(secrets[:5])} usually holds keys or passwords and is not committed.",
            code="forbidden",
            hint="Commit other paths; the user can commit it by hand.",
        )
    return CommitPlan(
        branch=status.branch or "(no branch)",
        files=tuple(files),
        paths=tuple(paths),
        diff=_diff(workspace, repository, files, staged=not paths, unborn=status.commit is None),
        programs=tuple(_programs(repository, files)),
        fingerprint=_fingerprint(workspace, repository, files, staged=not paths),
    )


def commit(repository: Repository, plan: CommitPlan, message: str) -> CommitResult:
    """Make the commit. Raises ``Conflict``, with nothing committed, when git or a hook refuses.

    Untracked files are added first, and taken out of the index again when the commit fails.
    """
    new = [file.path for file in plan.files if file.untracked]
    specs = repository.pathspecs([WorkspacePath(path) for path in new]) if new else []
    if new:
        _check(_run(repository, "add", "--intent-to-add", "--", *specs), "add")
    exact = [WorkspacePath(file.path) for file in plan.files]
    only = ["--only", "--", *repository.pathspecs(exact)] if plan.paths else []
    status, output = _run(repository, "commit", "--quiet", f"--message={message}", *only)
    if status != 0:
        if new:
            _run(repository, "reset", "--quiet", "--", *specs)
        why = "took too long" if status is None else "was refused, by git or by a hook"
        raise Conflict(
            f"The commit {why}; nothing was committed. {output.strip()}".strip(),
            hint="Fix what it reports, or ask the user.",
        )
    head = repository.git.run("rev-parse", "HEAD")
    return CommitResult((head or "").strip(), output.strip())


def _nothing(changed: Sequence[ChangedFile], paths: Sequence[WorkspacePath]) -> ShouldersError:
    if paths:
        return InvalidRequest(
            f"Nothing changed in {', '.join(paths[:5])}.", hint="See git_status for what did."
        )
    others = ", ".join(file.path for file in changed[:5])
    return InvalidRequest(
        "Nothing is staged.",
        hint=f"Name paths to commit. Changed: {others}." if others else "There are no changes.",
    )


def _diff(
    workspace: Workspace,
    repository: Repository,
    files: Sequence[ChangedFile],
    *,
    staged: bool,
    unborn: bool,
) -> str:
    if staged:
        return repository.diff(["--cached"]).text
    tracked = [WorkspacePath(file.path) for file in files if not file.untracked]
    which = ["--cached"] if unborn else ["HEAD"]
    text = repository.diff(which, tracked).text if tracked else ""
    return text + "".join(_new_file(workspace, file.path) for file in files if file.untracked)


def _new_file(workspace: Workspace, path: str) -> str:
    """Return an untracked file in the form of git's diff of a new file."""
    try:
        content = workspace.head(WorkspacePath(path), OUTPUT_LIMIT).content
    except ShouldersError as error:
        return f"diff --git a/{path} b/{path}\nnew file: {error}\n"
    head = f"diff --git a/{path} b/{path}\nnew file\n"
    if b"\0" in content:
        return f"{head}Binary file\n"
    lines = content.decode("utf-8", "replace").splitlines()
    return "\n".join([f"{head}--- /dev/null", f"+++ b/{path}", *(f"+{line}" for line in lines), ""])


def _fingerprint(
    workspace: Workspace, repository: Repository, files: Sequence[ChangedFile], *, staged: bool
) -> str:
    """Return a hash of the content that would be committed and of the programs that would run."""
    parts: list[object] = [repository.git.run("rev-parse", "-q", "--verify", "HEAD")]
    parts += [repository.git.run("diff", "--cached", "--raw", "-z", "--no-abbrev", "--", ".")]
    for file in files:
        parts.append(file)
        if not staged:
            try:
                parts.append(workspace.stat(WorkspacePath(file.path)))
            except ShouldersError:  # deleted, or a link, which git stores as such
                parts.append(None)
    parts += _state_of_programs(repository)
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def _state_of_programs(repository: Repository) -> Iterator[object]:
    """Yield values that change with the hook files and the commands of filters and signing.

    Programs that a hook starts are not covered.
    """
    for hook in _hooks(repository):
        yield str(hook)
        try:
            with hook.open("rb") as file:
                yield hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:  # deleted, or executable but not readable
            yield error.errno
    yield repository.git.run("config", "--null", "--get-regexp", _COMMANDS)


def _programs(repository: Repository, files: Sequence[ChangedFile]) -> list[str]:
    """Return descriptions of the programs the commit will run."""
    found = [f"hook {hook.name}" for hook in _hooks(repository)]
    found += [f"filter {name}" for name in _filters(repository, files)]
    if (repository.git.run("config", "--type=bool", "commit.gpgSign") or "").strip() == "true":
        found += [f"signature by {program}" for program in _signers(repository)]
    return found


def _signers(repository: Repository) -> list[str]:
    """Return the configured signing programs."""
    printed = repository.git.run("config", "--null", "--get-regexp", r"^gpg\..*(program|command)$")
    named = (entry.partition("\n")[2] for entry in (printed or "").split("\0"))
    return sorted({name for name in named if name}) or ["gpg"]


def _hooks(repository: Repository) -> list[Path]:
    """Return the existing hooks. The last ``core.hooksPath`` is our own, used for reads."""
    printed = repository.git.run("config", "--null", "--type=path", "--get-all", "core.hooksPath")
    paths = (printed or "").split("\0")[:-2]
    common = repository.git.run("rev-parse", "--path-format=absolute", "--git-common-dir") or ""
    top = repository.git.run("rev-parse", "--show-toplevel") or ""
    default = Path(common.removesuffix("\n")) / "hooks"
    folder = Path(top.removesuffix("\n")) / paths[-1] if paths else default
    return [folder / name for name in _HOOKS if os.access(folder / name, os.X_OK)]


def _filters(repository: Repository, files: Sequence[ChangedFile]) -> list[str]:
    """Return the configured filters that the attributes of these files name."""
    printed = repository.git.run("config", "--list", "--null", "--name-only") or ""
    configured = {match[1] for name in printed.split("\0") if (match := _FILTER.fullmatch(name))}
    if not configured:
        return []
    names = [repository.path_in_repository(WorkspacePath(file.path)) for file in files]
    attributes = repository.git.run("check-attr", "-z", "filter", "--", *names) or ""
    used = set(attributes.split("\0")[2::3])
    return sorted(configured & used)


def _check(result: tuple[int | None, str], command: str) -> None:
    status, output = result
    if status != 0:
        raise Conflict(f"git {command} failed: {output.strip()}", hint="Check the repository.")


def _run(repository: Repository, *arguments: str) -> tuple[int | None, str]:
    """Run git with the repository's own programs; return its status (None: timeout) and output."""
    settings = [word for setting in _OFF for word in ("-c", setting)]
    process = subprocess.Popen(  # noqa: S603 git, and what the user was told it runs
        [repository.program, "--no-pager", *settings, *arguments],
        cwd=repository.directory,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=sys.platform != "win32",
    )
    late = Event()

    def stop() -> None:
        late.set()
        kill_process_group(process)

    timer = Timer(SECONDS, stop)
    timer.start()
    printed = b""
    with process:
        assert process.stdout is not None
        output = process.stdout.fileno()
        while _has_more_output(process, output) and (chunk := os.read(output, 65_536)):
            printed = (printed + chunk)[:OUTPUT_LIMIT]
    timer.cancel()
    status = process.returncode
    return None if late.is_set() and status != 0 else status, printed.decode("utf-8", "replace")


def _has_more_output(process: subprocess.Popen[bytes], output: int) -> bool:
    """Wait for output, or for git to exit without more.

    A process left by a hook may keep the pipe open after the commit is made.
    """
    if sys.platform == "win32":  # pipes cannot be polled on Windows
        return True
    with selectors.DefaultSelector() as selector:
        selector.register(output, selectors.EVENT_READ)
        while True:
            has_exited = process.poll() is not None
            if selector.select(0 if has_exited else _POLL_SECONDS):
                return True
            if has_exited:
                return False


def _environment() -> dict[str, str]:
    """Return the environment without secrets and git's variables, with quiet settings."""
    variables = command_environment(os.environ)
    inherited = {name: value for name, value in variables.items() if not name.startswith("GIT_")}
    return inherited | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "",
        "GIT_PAGER": "cat",
    }

"""Reads a git repository of the workspace without running its programs; for ``tools.git``.

Reports only files in the workspace, by workspace-relative paths; secret files are named without
their content. ``guard.git.commits`` makes commits. Blocks; callers choose the thread.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.git.safe_git import OUTPUT_LIMIT, SafeGit

SECONDS = 20.0
"""Time limit of all reads of one call."""
_DIFF = ("--no-color", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--no-renames")
FILES_COMPARED = 500
_STATES = {"M": "modified", "A": "added", "D": "deleted", "T": "type changed", "U": "in conflict"}


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that differs from the last commit; a state is None where it does not."""

    path: str
    staged: str | None = None
    unstaged: str | None = None
    untracked: bool = False

    @property
    def in_conflict(self) -> bool:
        """Whether a merge left the file in conflict."""
        return "in conflict" in {self.staged, self.unstaged}


@dataclass(slots=True)
class RepositoryStatus:
    """The branch and the changed files; ``ahead`` and ``behind`` are None without an upstream."""

    branch: str = ""
    commit: str | None = None
    upstream: str | None = None
    ahead: int | None = None
    behind: int | None = None
    files: list[ChangedFile] = field(default_factory=list[ChangedFile])
    complete: bool = True


@dataclass(frozen=True, slots=True)
class RepositoryDiff:
    """The text of a comparison, with the files shown and the secret files left out."""

    text: str
    files: tuple[str, ...]
    secrets: tuple[str, ...]
    complete: bool


class Repository:
    """The repository around a path of the workspace; find it again for each call."""

    def __init__(self, program: str, directory: Path, prefix: str, path_in_tree: str) -> None:
        """``directory`` is where git runs, ``prefix`` its workspace path, ``path_in_tree`` its path
        in the tree.
        """
        self.program = program
        self.directory = directory
        self._prefix = prefix
        self._path_in_tree = path_in_tree
        self.git = SafeGit(program, directory, SECONDS)
        if not self.git.switch_filters_off():
            raise PolicyRefusal(
                "The repository names content filters that cannot be switched off, "
                "so nothing is compared.",
                code="forbidden",
                hint="Check the filters with: git config --list.",
            )

    def status(self, paths: Sequence[WorkspacePath] = ()) -> RepositoryStatus:
        """Return the branch and the changes in the workspace, or of the given paths."""
        printed = self._run(
            *("status", "--porcelain=v2", "-z", "--branch", "--untracked-files=all"),
            *("--ignore-submodules=all", "--no-renames", "--", *self.pathspecs(paths)),
        )
        status = RepositoryStatus(complete=len(printed) < OUTPUT_LIMIT)
        entries = printed.split("\0")
        for entry in entries[:-1]:  # the last entry is empty or cut off
            self._add_entry(status, entry)
        status.files.sort(key=lambda file: file.path)
        return status

    def diff(
        self, which: Sequence[str] = (), paths: Sequence[WorkspacePath] = ()
    ) -> RepositoryDiff:
        """Compare files with the index; with ``which``, the index (``--cached``) or files with a
        commit.

        Secret files are listed by name only.
        """
        names = self._run("diff", *which, "--name-only", "-z", *_DIFF, "--", *self.pathspecs(paths))
        names_by_path = {self._workspace_path(name): name for name in names.split("\0")[:-1]}
        secrets = tuple(sorted(path for path in names_by_path if is_secret(path)))
        shown = {path: name for path, name in sorted(names_by_path.items()) if path not in secrets}
        if not shown:
            return RepositoryDiff("", (), secrets, complete=True)
        specs = [f":(top,literal){name}" for name in list(shown.values())[:FILES_COMPARED]]
        prefix = f"{self._prefix}/" if self._prefix else ""
        prefixes = ["--relative", f"--src-prefix=a/{prefix}", f"--dst-prefix=b/{prefix}"]
        text = self._run("diff", *which, *_DIFF, *prefixes, "--", *specs)
        complete = max(len(names), len(text)) < OUTPUT_LIMIT and len(shown) <= FILES_COMPARED
        return RepositoryDiff(text, tuple(shown), secrets, complete)

    def has_staged_outside(self) -> bool:
        """Return whether anything outside the workspace is staged."""
        if not self._path_in_tree:
            return False
        return bool(self._run("diff", "--cached", "--name-only", "--", ":(top)", ":(exclude)."))

    def pathspecs(self, paths: Sequence[WorkspacePath]) -> list[str]:
        """Return literal path specifications for git; the whole directory for no paths."""
        if not paths:
            return ["."]
        return [f":(literal){self.path_in_repository(path)}" for path in paths]

    def path_in_repository(self, path: WorkspacePath) -> str:
        """Return a path relative to git's directory. Raises ``InvalidRequest`` outside the
        repository.
        """
        if not self._prefix:
            return path or "."
        if path == self._prefix:
            return "."
        if not path.startswith(f"{self._prefix}/"):
            raise InvalidRequest(
                f"{path} is not in the repository of {self._prefix}.",
                hint="Name paths of one repository in a call.",
            )
        return path[len(self._prefix) + 1 :]

    def _workspace_path(self, name: str) -> str:
        """Return the workspace path of a path from the top of the repository."""
        below = name.removeprefix(self._path_in_tree)
        return f"{self._prefix}/{below}" if self._prefix else below

    def _add_entry(self, status: RepositoryStatus, entry: str) -> None:
        kind, _, rest = entry.partition(" ")
        if kind == "#":
            _add_branch_fact(status, rest)
        elif kind == "?":
            status.files.append(ChangedFile(self._workspace_path(rest), untracked=True))
        elif kind in {"1", "u"}:
            # git-status(1), porcelain format version 2: XY and six or eight fields, then the path
            states = rest[:2] if kind == "1" else "UU"
            name = rest.split(" ", 7 if kind == "1" else 9)[-1]
            staged, unstaged = (_STATES.get(state) for state in states)
            status.files.append(ChangedFile(self._workspace_path(name), staged, unstaged))

    def _run(self, *arguments: str) -> str:
        printed = self.git.run(*arguments)
        if printed is None:
            raise Conflict(
                f"git {arguments[0]} failed, or took more than {SECONDS:.0f} s.",
                hint="Check the repository in a terminal.",
                retryable=True,
            )
        return printed


def find_repository(workspace: Workspace, near: WorkspacePath) -> Repository:
    """Return the repository of a file or folder of the workspace.

    Raises ``NotFound`` (no repository) and ``PolicyRefusal`` (git is not installed, or the
    repository cannot be read safely).
    """
    program = shutil.which("git")
    if program is None:
        raise PolicyRefusal(
            "Git is not installed on this computer.", code="disabled", hint="Install git."
        )
    folder = workspace.directory / near
    while not folder.is_dir():
        folder = folder.parent
    git = SafeGit(program, folder, SECONDS)
    top = git.run("rev-parse", "--show-toplevel")
    if top is None:
        raise NotFound(
            f"{near or 'The workspace'} is not in a git repository.",
            hint="Name a path in one, or let the user make one with: git init.",
        )
    top_folder = Path(top.removesuffix("\n")).resolve()
    if not _owns_working_tree(git, top_folder):
        raise PolicyRefusal(
            f"{near or 'The workspace'} names the repository of another folder as its own, "
            "so it is not read.",
            code="outside_workspace",
            hint="Check the file .git, or .git/commondir.",
        )
    return _at(workspace, program, top_folder)


def _owns_working_tree(git: SafeGit, top: Path) -> bool:
    """Return whether the history belongs to the files: ``.git`` may point to any repository.

    The git directory is inside ``top``, or it names ``top`` itself: a linked worktree by its file
    ``gitdir`` (gitrepository-layout(5)), a submodule by ``core.worktree``, which was already
    resolved to ``top``.
    """
    git_dir = git.run("rev-parse", "--absolute-git-dir")
    common = git.run("rev-parse", "--path-format=absolute", "--git-common-dir")
    if git_dir is None or common is None:
        return False
    own, shared = (Path(text.removesuffix("\n")).resolve() for text in (git_dir, common))
    if own == shared:
        named = git.run("config", "core.worktree")
        return own.is_relative_to(top) or bool(named and named.strip())
    try:
        linked = (own / "gitdir").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        return False
    return own.parent.parent == shared and Path(linked).resolve() == top / ".git"


def _at(workspace: Workspace, program: str, top: Path) -> Repository:
    root = workspace.directory
    if root.is_relative_to(top):
        path_in_tree = root.relative_to(top).as_posix()
        return Repository(program, root, "", "" if path_in_tree == "." else f"{path_in_tree}/")
    if top.is_relative_to(root):
        return Repository(program, top, top.relative_to(root).as_posix(), "")
    # ``core.worktree`` may name any folder; git would report the files there.
    raise PolicyRefusal(
        "The repository keeps its files outside the workspace, so it is not read.",
        code="outside_workspace",
        hint="Check core.worktree in its configuration.",
    )


def _add_branch_fact(status: RepositoryStatus, line: str) -> None:
    name, _, value = line.partition(" ")
    match name:
        case "branch.oid":
            status.commit = None if value == "(initial)" else value
        case "branch.head":
            status.branch = "" if value == "(detached)" else value
        case "branch.upstream":
            status.upstream = value
        case "branch.ab":
            ahead, behind = value.split(" ")
            status.ahead, status.behind = int(ahead), -int(behind)
        case _:
            pass  # branch.stash, and headers of later git versions

"""Renames new files of a command that would run by themselves later.

A sandbox can protect existing files of this kind, but cannot prevent new ones. They are renamed,
never deleted: ``AGENTS.md`` becomes ``AGENTS.md.set-aside``. Blocks, for threads; used by
``tools.commands.run_command``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    GIT_RUNS,
    ProtectedPaths,
    SandboxLocations,
    find_protected_paths,
)

SUFFIX = ".set-aside"
_MOST_SETTINGS = 1 << 20
_PLAIN_SETTINGS = re.compile(
    r"""(?ix)
    \s* (?: [\#;].*
    | \[ (?: (?:core|init|pull|push|user|extensions) | (?:remote|branch|submodule) \s "[^"\n]*" ) \]
    | (?: repositoryformatversion | filemode | bare | logallrefupdates | ignorecase | symlinks
        | precomposeunicode | autocrlf | eol | defaultbranch | rebase | ff | default | name | email
        | objectformat | refstorage | fetch | tagopt | remote | merge | active | prune
        | partialclonefilter | promisor | url ) \s* = [^\n]*
    )? \s*"""
)
"""A line of a repository's settings that makes git run nothing (git-config(1))."""
_RUNNING_ADDRESS = re.compile(r"(?i)url\s*=\s*\"?(?:ext|fd)::")
"""Transports that start a program (gitremote-helpers(7))."""


@dataclass(frozen=True, slots=True)
class QuarantinedFile:
    """A file that was renamed, or could not be renamed."""

    path: str
    """Its former path, relative to the workspace."""
    new_path: str | None
    """Its current path; None if it could not be renamed."""


def quarantine_new_files(
    locations: SandboxLocations, before: ProtectedPaths, *, repositories_only: bool = False
) -> list[QuarantinedFile]:
    """Rename files made since ``before`` that run by themselves; return them.

    Files in folders that are new themselves, such as a fresh clone, stay, because nobody has opened
    those folders yet. New repositories stay if git would run nothing because of them.
    """
    after = find_protected_paths(locations)
    renamed: list[QuarantinedFile] = []
    for path in sorted(_new_git_files(before, after)):
        renamed += _rename(locations, path)
    if not repositories_only:
        for path in sorted(after.running - before.running - set(map(str, after.repositories))):
            if not _is_in_fresh_folder(Path(path), before):
                renamed += _rename(locations, Path(path))
    return renamed


def _is_in_fresh_folder(path: Path, before: ProtectedPaths) -> bool:
    """Return whether a file is in a new folder that is not hidden, unlike ``.github``."""
    first = path
    while str(first.parent) not in before.folders and first.parent != first:
        first = first.parent
    return first != path and not first.name.startswith(".")


def _new_git_files(before: ProtectedPaths, after: ProtectedPaths) -> Iterator[Path]:
    """Yield new repositories that run something, and new files of that kind in existing ones."""
    known = set(before.repositories)
    for folder in after.repositories:
        if folder not in known:
            if can_run_programs(folder):
                yield folder
            continue
        for name in GIT_RUNS:
            path = folder / name
            if str(path) in after.git_files - before.git_files and (
                name != "hooks" or _has_hooks(path)
            ):
                yield path


def can_run_programs(folder: Path) -> bool:
    """Return whether a git directory makes git run a program or follow a path."""
    if any(os.path.lexists(folder / name) for name in ("commondir", "gitdir", "config.worktree")):
        return True
    if any(os.path.lexists(folder / name) for name in ("modules", "worktrees", "info/attributes")):
        return True
    if os.path.lexists(folder / "objects/info/alternates") or _has_hooks(folder / "hooks"):
        return True
    settings = folder / "config"
    if settings.is_symlink() or not settings.is_file():
        return os.path.lexists(settings)
    try:
        with settings.open("rb") as file:
            content = file.read(_MOST_SETTINGS + 1)
    except OSError:
        return True  # unreadable, so it cannot be ruled out
    text = content.decode("utf-8", "replace")
    return (
        len(content) > _MOST_SETTINGS
        or _RUNNING_ADDRESS.search(text) is not None
        or not all(map(_PLAIN_SETTINGS.fullmatch, text.splitlines()))
    )


def _has_hooks(folder: Path) -> bool:
    if folder.is_symlink():
        return True
    try:
        return any(not name.endswith(".sample") for name in os.listdir(folder))  # noqa: PTH208 names alone
    except OSError:
        return False


def _rename(locations: SandboxLocations, path: Path) -> Iterator[QuarantinedFile]:
    number, target = 1, path.with_name(path.name + SUFFIX)
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.name}{SUFFIX}-{number}")
    root = locations.workspace
    name = path.relative_to(root).as_posix()
    try:
        path.rename(target)
    except FileNotFoundError:
        return  # deleted since
    except OSError:
        yield QuarantinedFile(name, None)
    else:
        yield QuarantinedFile(name, target.relative_to(root).as_posix())

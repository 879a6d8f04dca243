"""Finds the files of a workspace that a sandboxed command must not read, or not change.

These are keys and passwords, files that run outside the sandbox, and instructions for agents.
Blocks, for threads; used by ``guard.sandbox.sandbox``.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.sensitive_files.path_patterns import plain_name
from jupyter_ai_shoulders.core.sensitive_files.protected_files import (
    has_protected_name,
    protected_locations,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import has_secret_name, secret_locations

_SKIPPED_FOLDERS = frozenset(
    {
        *("node_modules", ".venv", "venv", "__pycache__", "site-packages", ".tox", ".nox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache"),
    }
)
"""Folders of installed or generated files; not searched."""
GIT_RUNS = (
    *("hooks", "config", "config.worktree", "commondir", "gitdir", "modules", "worktrees"),
    *("info/attributes", "objects/info/alternates"),
)
"""Files in a git directory that git runs or follows (gitrepository-layout(5))."""
_MOST_ENTRIES = 50_000
_SCAN_SECONDS = 0.5
_MINIMUM_ENTRIES = 2_000
"""Entries that are always scanned; beyond them the time limit applies."""
_CREDENTIALS = re.compile(rb"(?i)(https?://)[^/\s@]+@")
_HEADERS = re.compile(rb"(?im)^(\s*(?:extraheader|password|token)\s*=).*$")
_MOST_SETTINGS = 1 << 20


@dataclass(frozen=True, slots=True)
class SandboxLocations:
    """Locations of the server, as real paths of the operating system."""

    workspace: Path
    state_dir: Path
    home: Path
    environ: Mapping[str, str]
    runtime_dir: Path | None = None
    """Folder where Jupyter keeps tokens of running servers."""


@dataclass(frozen=True, slots=True)
class ProtectedPaths:
    """Protected paths of a workspace, without those below another of the same kind."""

    secret: tuple[Path, ...]
    frozen: tuple[str, ...]
    """Readable but not writable: programs of the server, git directories, and files that run by
    themselves.
    """
    unmovable: tuple[str, ...]
    """Parent folders of some of these; they must not be moved, so that nothing takes their place.
    """
    running: frozenset[str]
    """Files and folders that run by themselves, and git directories."""
    repositories: tuple[Path, ...]
    """Git directories."""
    git_files: frozenset[str]
    """Files in them that git runs or follows, ``GIT_RUNS``."""
    folders: frozenset[str]
    """Folders that were searched."""
    truncated: bool
    """Whether the workspace was too large to search completely."""


def find_protected_paths(
    locations: SandboxLocations, *, writable_repositories: bool = False
) -> ProtectedPaths:
    """Return the secret and unchangeable paths, as far as the search reaches.

    With ``writable_repositories``, git directories are writable except for the files git runs or
    follows.
    """
    programs = server_program_folders(locations)
    search = _Search(locations.workspace, set(map(Path, programs)))
    search.run()
    secret = _secret_paths(locations, search.secret)
    home = [locations.home / name for name in protected_locations() if name != ".git"]
    fixed = [path for path in home if _is_below(path, locations.workspace)]
    git_files = [folder / name for folder in search.git for name in GIT_RUNS]
    fixed += git_files if writable_repositories else search.git
    existing = [path for path in fixed if _exists_without_links(path)]
    fixed = [*existing, *map(Path, programs)]
    unmovable = {
        parent
        for path in fixed
        for parent in path.parents
        if _is_below(parent, locations.workspace)
    }
    frozen = dict.fromkeys([*map(Path, programs), *existing, *search.running])
    return ProtectedPaths(
        secret=tuple(secret),
        frozen=tuple(str(path) for path in frozen if not frozen.keys() & set(path.parents)),
        unmovable=tuple(sorted(map(str, unmovable))),
        running=frozenset(map(str, [*existing, *search.running, *search.git])),
        repositories=tuple(search.git),
        git_files=frozenset(str(path) for path in git_files if os.path.lexists(path)),
        folders=frozenset(search.folders),
        truncated=search.truncated,
    )


def _exists_without_links(path: Path) -> bool:
    """Return whether the path exists without a link in it: a link could be replaced."""
    return os.path.lexists(path) and Path(os.path.realpath(path)) == path


def server_program_folders(locations: SandboxLocations) -> list[str]:
    """Return folders of the workspace with the server's programs, such as its environment.

    Files a command wrote there would run with full rights, as git or as a library of a kernel.
    """
    folders = filter(os.path.isdir, program_folders(locations))
    found = [path for path in map(Path, folders) if _is_below(path, locations.workspace)]
    return [str(path) for path in found if not any(_is_below(path, other) for other in found)]


def _secret_paths(locations: SandboxLocations, files: Sequence[Path]) -> list[Path]:
    fixed = [locations.home / name for name in secret_locations()]
    fixed += [] if locations.runtime_dir is None else [locations.runtime_dir]
    existing = [locations.state_dir, *filter(os.path.lexists, fixed)]
    inside = (path for path in existing if _is_below(path, locations.workspace))
    found = dict.fromkeys([*inside, *files])
    return [path for path in found if not found.keys() & set(path.parents)]


class _Search:
    """Searches a folder breadth-first for protected names, within limits of time and number."""

    def __init__(self, root: Path, skipped: set[Path]) -> None:
        self.secret: list[Path] = []
        self.running: list[Path] = []
        """Files that run by themselves, and files that point to a git directory."""
        self.git: list[Path] = []
        """Git directories."""
        self.folders: set[str] = {str(root)}
        self.truncated = False
        self._root = root
        self._skipped = skipped
        self._count = 0
        self._deadline = time.monotonic() + _SCAN_SECONDS

    def run(self) -> None:
        """Search; ``truncated`` tells that a limit was reached."""
        waiting = deque([(str(self._root), list[str]())])
        while waiting and not self.truncated:
            folder, above = waiting.popleft()
            for entry in _scan(folder):
                self.truncated = self._is_over()
                if self.truncated:
                    return
                parts = [*above, plain_name(entry.name)]
                if self._is_to_enter(entry, parts):
                    waiting.append((entry.path, parts))
                    self.folders.add(entry.path)

    def _is_over(self) -> bool:
        self._count += 1
        if self._count > _MOST_ENTRIES:
            return True
        return self._count > _MINIMUM_ENTRIES and time.monotonic() > self._deadline

    def _is_to_enter(self, entry: os.DirEntry[str], parts: list[str]) -> bool:
        """Record an entry, by its path from the root; return whether to search it as a folder."""
        if entry.is_symlink():
            return False
        name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
        if name == ".git" and is_folder:
            self._note_git(Path(entry.path))
        elif has_secret_name([*parts, ""] if is_folder else parts):
            self.secret.append(Path(entry.path))
        elif has_protected_name(parts):
            self.running.append(Path(entry.path))
        elif is_folder:
            return name not in _SKIPPED_FOLDERS and Path(entry.path) not in self._skipped
        return False

    def _note_git(self, folder: Path) -> None:
        self.git.append(folder)
        settings = folder / "config"
        if not settings.is_symlink() and git_settings_without_credentials(settings) is not None:
            self.secret.append(settings)


def git_settings_without_credentials(settings: Path) -> bytes | None:
    """Return git's settings without passwords; None when there are none in them."""
    try:
        if not settings.is_file():  # opening a named pipe would block until it has a writer
            return None
        with settings.open("rb") as file:
            content = file.read(_MOST_SETTINGS)
    except OSError:
        return None
    plain = _HEADERS.sub(rb"\1", _CREDENTIALS.sub(rb"\1", content))
    return None if plain == content else plain


def _scan(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return


def program_folders(locations: SandboxLocations) -> list[str]:
    """Return the folders of programs and libraries outside the system's folders."""
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    prefixes += [locations.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    paths = [Path(entry) for entry in locations.environ.get("PATH", "").split(os.pathsep) if entry]
    local = [locations.home / ".local" / name for name in ("lib", "share/jupyter/kernels")]
    found = [*map(Path, filter(None, prefixes)), *paths, *map(_installation, paths), *local]
    real = (Path(os.path.realpath(path)) for path in found if path.is_absolute())
    return list(dict.fromkeys(str(path) for path in real if _is_narrow(path, locations)))


def _installation(programs: Path) -> Path:
    """Return the installation that a folder of programs belongs to, or that folder."""
    parent = programs.parent
    marks = ("lib", "pyvenv.cfg", "conda-meta")
    is_one = programs.name in {"bin", "condabin"} and parent.name != ".local"
    return parent if is_one and any((parent / mark).exists() for mark in marks) else programs


def _is_narrow(path: Path, locations: SandboxLocations) -> bool:
    """Return whether a program folder neither is nor contains a sensitive folder."""
    sensitive = (locations.home, locations.state_dir, locations.workspace)
    return not any(folder.is_relative_to(path) for folder in sensitive)


def _is_below(path: Path, folder: Path) -> bool:
    return path != folder and path.is_relative_to(folder)

"""Rules of the workspace's ``.gitignore`` files; used by the walks of ``guard``.

Ignore files above the workspace, or of the user, do not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

FILE_LIMIT = 65_536
"""Bytes read of an ignore file."""


@dataclass(frozen=True, slots=True)
class GitignoreRules:
    """The patterns of one ``.gitignore`` and its folder."""

    folder: str
    spec: GitIgnoreSpec

    def decide(self, path: str) -> bool | None:
        """Return whether these patterns ignore a workspace path (folders end in ``/``).

        None if no pattern matches, False if one with ``!`` decides.
        """
        relative = path.removeprefix(f"{self.folder}/") if self.folder else path
        return self.spec.check_file(relative).include


def is_ignored(path: str, ignored: Sequence[GitignoreRules]) -> bool:
    """Return whether a path is ignored; as in git, the rules of the nearest folder decide."""
    for rules in reversed(ignored):
        decided = rules.decide(path)
        if decided is not None:
            return decided
    return False


def outer_rules(workspace: Workspace, folder: str) -> tuple[GitignoreRules, ...]:
    """Return the rules of all folders above one, the workspace's first."""
    parts = folder.split("/") if folder else []
    ignored: tuple[GitignoreRules, ...] = ()
    for count in range(len(parts)):
        ignored = with_folder_rules(workspace, "/".join(parts[:count]), ignored)
    return ignored


def with_folder_rules(
    workspace: Workspace, folder: str, ignored: tuple[GitignoreRules, ...]
) -> tuple[GitignoreRules, ...]:
    """Return these rules and those of the folder itself."""
    name = f"./{folder}/.gitignore"
    try:
        content = workspace.head(workspace.path(name), FILE_LIMIT).content
    except ShouldersError:
        return ignored  # most folders have none
    return (
        *ignored,
        GitignoreRules(folder, _spec(content.decode("utf-8", "replace").splitlines())),
    )


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Return the valid patterns; like git, skip invalid ones."""
    from pathspec import GitIgnoreSpec

    readable: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        readable.append(line)
    return GitIgnoreSpec.from_lines(readable)

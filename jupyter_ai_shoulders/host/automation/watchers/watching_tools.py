"""What watchers use of a host: the workspace, its index, clocks, and the activity of our own runs.

Made by ``host.automation``; used by ``host.automation.watchers.service`` and ``watched_files``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.file_changes.attribution import Moment, is_own_change
from jupyter_ai_shoulders.core.file_changes.snapshot import FileChange, FileState, Snapshot
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.search.globs import Glob
from jupyter_ai_shoulders.guard.search.matching_files import folders_to_watch, matching_files
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.host.automation.watchers.own_activity import OwnActivityLog


@dataclass(frozen=True, slots=True)
class WatchingTools:
    """Shared by all watchers of a workspace."""

    workspace: Workspace
    index: PathIndex
    activity: OwnActivityLog
    clock: Clock
    ids: IdSource

    def folders(self, globs: Sequence[str]) -> set[str]:
        """Return the folders to watch for these patterns. Blocks."""
        tree = self.index.tree()
        return {folder for glob in globs for folder in folders_to_watch(tree, glob)}

    def scan(self, globs: Sequence[Glob]) -> dict[str, FileState]:
        """Return the files that match now. Blocks. Raises ``TooManyFiles``."""
        return matching_files(self.workspace, self.index.tree(), globs)

    def now_ns(self) -> int:
        """Return the time in nanoseconds since 1970."""
        return round(self.clock.now().timestamp() * 1_000_000) * 1000

    async def made_by_others(
        self,
        changes: Sequence[FileChange],
        current: Snapshot,
        burst: Moment,
        *,
        since_ns: int,
        exact_times: bool,
    ) -> tuple[FileChange, ...]:
        """Return the changes that none of our conversations made.

        ``burst`` is when the changes were noticed. ``exact_times`` is whether times of files are
        those of this machine.
        """
        activity = self.activity.since(since_ns)
        to_hash = [
            change.path
            for change in changes
            if change.path in current and None not in activity.written.get(change.path, {None})
        ]
        versions = await asyncio.to_thread(self._versions, to_hash)
        return tuple(
            change
            for change in changes
            if not is_own_change(
                change,
                _moment(current.get(change.path), burst, exact_times=exact_times),
                versions.get(change.path) if change.path in current else None,
                activity,
            )
        )

    def _versions(self, paths: Sequence[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for path in paths:
            try:
                found[path] = self.workspace.digest(WorkspacePath(path)).sha256
            except ShouldersError:  # it changes again: another version than any of ours
                found[path] = ""
        return found


def _moment(state: FileState | None, burst: Moment, *, exact_times: bool) -> Moment:
    if state is None or not exact_times or not state.changed_ns:
        return burst
    return Moment(state.changed_ns, state.changed_ns)

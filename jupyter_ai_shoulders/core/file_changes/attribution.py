"""Decides which changes our own conversations made, so that a watcher cannot start itself.

Pure; used by ``host.automation.watchers``, which collects the facts. Documented in
docs/design/watchers.md#own-changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from jupyter_ai_shoulders.core.file_changes.snapshot import FileChange

TOLERANCE_NS = 1_000_000_000
"""Before and after code of ours ran: clocks of file systems are coarse."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When a change happened: between two times in nanoseconds since 1970."""

    earliest: int
    latest: int

    def overlaps(self, other: Moment) -> bool:
        """Return whether both may be the same moment."""
        return (
            self.earliest <= other.latest + TOLERANCE_NS
            and other.earliest - TOLERANCE_NS <= self.latest
        )


@dataclass(frozen=True, slots=True)
class OwnActivity:
    """What our conversations did since the watcher last looked."""

    written: Mapping[str, Collection[str | None]] = field(
        default_factory=dict[str, Collection[str | None]]
    )
    """SHA-256 of the contents that tools wrote, by path; None where only the fact is known: cells
    of notebooks, removed and moved files.
    """
    code_ran: Sequence[Moment] = ()
    """When cells and commands of ours ran; they write without a record."""
    saved: Mapping[str, int] = field(default_factory=dict[str, int])
    """When the person saved a file in the lab, by path."""


def is_own_change(
    change: FileChange, moment: Moment, version: str | None, activity: OwnActivity
) -> bool:
    """Return whether one of our conversations made a change.

    ``version`` is the SHA-256 of the file's content now, None for a file that is gone. A file that
    a tool wrote and that has other content now was changed by somebody else since. What changed
    while code of ours ran counts as written by it, unless the person saved it in the lab.
    """
    written = activity.written.get(change.path)
    if written is not None:
        return version is None or None in written or version in written
    if change.old_path in activity.written:
        return True
    saved_at = activity.saved.get(change.path)
    if saved_at is not None and moment.overlaps(Moment(saved_at, saved_at)):
        return False
    return any(moment.overlaps(ran) for ran in activity.code_ran)

"""Finds out whether a folder is on a network file system, which reports no changes of others.

Used by ``host.automation.watchers`` to choose between notifications and polling. Known on Linux
only; elsewhere a setting decides.
"""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
_REMOTE = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "gpfs"}
    | {"beegfs", "orangefs", "pvfs2", "virtiofs", "vboxsf", "drvfs", "prl_fs", "ncpfs", "coda"}
)
_ESCAPES = (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\"))


def remote_file_system(folder: Path, mounts: Path = MOUNTS) -> str | None:
    """Return the type of the network file system that holds a folder; None: a local or unknown one.

    Every ``fuse.`` type counts as one, because most of them (sshfs, rclone, s3fs) are.
    """
    try:
        lines = mounts.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:  # no such file outside Linux
        return None
    kind, longest = "", -1
    for line in lines:
        mount = _mount(line)
        if mount and len(mount[0]) >= longest and _is_below(str(folder), mount[0]):
            longest, kind = len(mount[0]), mount[1]
    return kind if kind in _REMOTE or kind.startswith("fuse.") else None


def _mount(line: str) -> tuple[str, str] | None:
    """Return mount point and type (proc_pid_mountinfo(5): the type follows a lone hyphen)."""
    before, found, after = line.partition(" - ")
    fields = before.split(" ")
    if not found or len(fields) < 5:
        return None
    point = fields[4]
    for escape, character in _ESCAPES:
        point = point.replace(escape, character)
    return point, after.split(" ", 1)[0]


def _is_below(folder: str, point: str) -> bool:
    return point in {"/", folder} or folder.startswith(point.rstrip("/") + os.sep)

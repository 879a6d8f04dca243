"""The type of file system that decides between notifications and polling."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.filesystem.network_mounts import remote_file_system

MOUNTS = """\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:40 / /home rw - nfs4 server:/home rw,vers=4.2
31 30 0:41 / /home/me/local rw - xfs /dev/sdb1 rw
32 22 0:42 / /mnt/with\\040space rw shared:2 - cifs //server/share rw
33 22 0:43 / /mnt/ssh rw - fuse.sshfs me@host:/ rw
34 22 0:44 / /mnt/usb rw - fuseblk /dev/sdc1 rw
35 22 0:45 / /mnt/wsl rw - 9p C:\\134 rw
36 22 0:46 / /over rw - overlay overlay rw
broken line
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/work", None),
        ("/home/me/work", "nfs4"),
        ("/home/me/local/work", None),
        ("/homework", None),
        ("/mnt/with space/x", "cifs"),
        ("/mnt/ssh", "fuse.sshfs"),
        ("/mnt/usb/x", None),
        ("/mnt/wsl/x", "9p"),
        ("/over/x", None),
    ],
)
def test_type_of_network_file_system(tmp_path: Path, folder: str, kind: str | None) -> None:
    (tmp_path / "mountinfo").write_text(MOUNTS)

    assert remote_file_system(Path(folder), tmp_path / "mountinfo") == kind


def test_unknown_without_the_list_of_mounts(tmp_path: Path) -> None:
    assert remote_file_system(tmp_path, tmp_path / "none") is None

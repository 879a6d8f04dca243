"""Changes of files on a full or read-only disk: existing files stay, and the log records it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError, StateUnavailable
from tests.files.crash_program import FILES, TURN, World, world

IN_OWN_NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "--")
REPOSITORY = Path(__file__).parents[2]
LARGE = "".join(f"{number}\n" for number in range(100_000))


async def _grow(at: World) -> None:
    read = await at.texts.read("a.txt")
    await at.texts.replace("a.txt", read.text + LARGE, read.version, TURN)


ACTS: tuple[Callable[[World], Awaitable[object]], ...] = (
    _grow,
    lambda at: at.changes.create("x/new.txt", LARGE, TURN),
    lambda at: at.changes.copy("large.bin", "copy.bin", TURN),
)


async def _refused(at: World, error: type[ShouldersError]) -> None:
    before = at.tree()
    for act in ACTS:
        with pytest.raises(error):
            await act(at)
    assert at.tree() == before
    assert [path.name for path in at.root.rglob(".~*")] == []
    assert at.store.operations.unfinished() == []
    assert {row.state for row in at.store.operations.recent()} <= {"failed"}


async def _full_workspace(disk: Path) -> None:
    """Fill the workspace, of one megabyte; its state directory is elsewhere."""
    _mount(disk / "workspace", "size=1m")
    for name, content in FILES.items():
        (disk / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (disk / "workspace" / name).write_bytes(content)
    (disk / "workspace" / "large.bin").write_bytes(os.urandom(700_000))
    with world(disk) as at:
        await _refused(at, StateUnavailable)
        await at.changes.delete("large.bin", TURN)
        await _grow(at)
        assert at.tree()["a.txt"] != FILES["a.txt"], "writing works again once there is space"
        await at.store.aclose()


async def _full_state(disk: Path) -> None:
    """Fill the state directory, of one megabyte."""
    _mount(disk / "state", "size=1m")
    with world(disk) as at:
        (at.root / "large.bin").write_bytes(b"x")
        before = at.tree()
        (disk / "state" / "filler").write_bytes(b"x" * 1_000_000)
        for act in ACTS[:2]:
            with pytest.raises(StateUnavailable) as refused:
                await act(at)
            assert refused.value.info.code == "disk_full"
        assert at.tree() == before
        (disk / "state" / "filler").unlink()
        await at.changes.create("new.txt", "text", TURN)
        assert [row.state for row in at.store.operations.recent()] == ["done"]
        await at.store.aclose()


async def _read_only_workspace(disk: Path) -> None:
    _mount(disk / "workspace", "size=1m")
    for name, content in FILES.items():
        (disk / "workspace" / name).parent.mkdir(parents=True, exist_ok=True)
        (disk / "workspace" / name).write_bytes(content)
    (disk / "workspace" / "large.bin").write_bytes(b"x")
    _remount(disk / "workspace", "ro")
    with world(disk) as at:
        await _refused(at, PolicyRefusal)
        with pytest.raises(PolicyRefusal):
            await at.changes.delete("a.txt", TURN)
        with pytest.raises(PolicyRefusal):
            await at.changes.move("a.txt", "b.txt", TURN)
        assert at.tree()["a.txt"] == FILES["a.txt"]
        await at.store.aclose()


def _mount(folder: Path, options: str) -> None:
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(folder)]
    subprocess.run(command, check=True)


def _remount(folder: Path, options: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{options}", str(folder)], check=True)


FAULTS: dict[str, Callable[[Path], Coroutine[Any, Any, None]]] = {
    "full workspace": _full_workspace,
    "full state directory": _full_state,
    "read-only workspace": _read_only_workspace,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_disk_changes_nothing(tmp_path: Path, fault: str) -> None:
    probe = subprocess.run([*IN_OWN_NAMESPACE, "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        pytest.skip(f"no user namespaces here: {probe.stderr.decode().strip()}")
    done = subprocess.run(
        [*IN_OWN_NAMESPACE, sys.executable, "-m", __name__, fault, str(tmp_path)],
        capture_output=True,
        check=False,
        cwd=REPOSITORY,
    )
    assert done.returncode == 0, done.stderr.decode()


if __name__ == "__main__":
    asyncio.run(FAULTS[sys.argv[1]](Path(sys.argv[2])))

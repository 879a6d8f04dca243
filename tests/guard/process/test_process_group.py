"""Fixed programs end with their children."""

import subprocess
import time
from pathlib import Path

from jupyter_ai_shoulders.guard.process.process_group import kill_after
from tests.guard.command_runner import TIMEOUT_S, is_running, pids, wait_for

LINE = "sleep 1000 & echo $! > a.pid; echo $$ > b.pid; wait"


def start(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["bash", "-c", LINE], cwd=folder, start_new_session=True)


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + TIMEOUT_S
    while any(is_running(pid) for pid in pids(folder)) and time.monotonic() < deadline:
        time.sleep(0.01)
    return not any(is_running(pid) for pid in pids(folder))


def test_a_program_is_ended_with_its_children_when_the_block_is_left(tmp_path: Path) -> None:
    process = start(tmp_path)
    with kill_after(process, TIMEOUT_S):
        wait_for(tmp_path / "b.pid")

    assert process.returncode == -9
    assert gone(tmp_path)


def test_a_program_is_ended_with_its_children_when_its_time_is_over(tmp_path: Path) -> None:
    process = start(tmp_path)
    wait_for(tmp_path / "b.pid")
    with kill_after(process, 0.01):
        process.wait()

    assert process.returncode == -9
    assert gone(tmp_path)


def test_a_program_that_ended_keeps_its_exit_code(tmp_path: Path) -> None:
    process = subprocess.Popen(["bash", "-c", "exit 3"], start_new_session=True)
    with kill_after(process, TIMEOUT_S):
        process.wait()

    assert process.returncode == 3

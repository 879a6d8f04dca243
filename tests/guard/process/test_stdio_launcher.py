"""Programs on pipes: exact variables, bounded errors, and none left when they or the server end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.guard.process.stdio_launcher import ERROR_LINES, StdioLauncher
from jupyter_ai_shoulders.guard.process.stdio_process import StdioCommand, StdioProcess
from tests.guard.command_runner import PATH, is_running, pids, wait_for, wait_until

FAMILY = "sleep 1000 & echo $! > a.pid; setsid sleep 1000 & echo $! > b.pid; "


@asynccontextmanager
async def started(line: str, folder: Path, **environ: str) -> AsyncGenerator[StdioProcess]:
    command = StdioCommand("bash", ["-c", line], {"PATH": PATH, **environ}, folder)
    process = await StdioLauncher().start(command)
    try:
        yield process
    finally:
        await process.aclose()


async def test_lines_go_in_and_out_and_only_given_variables_are_there(tmp_path: Path) -> None:
    line = "while read -r x; do echo got $x $TOKEN $HOME; done; exit 3"
    async with started(line, tmp_path, TOKEN="secret") as process:
        process.stdin.write(b"one\n")
        assert await process.stdout.readline() == b"got one secret\n"
        process.stdin.close()
        assert await process.wait() == 3


async def test_the_last_error_lines_are_kept(tmp_path: Path) -> None:
    async with started(
        "seq 1000 >&2; head -c 100000 /dev/zero | tr '\\0' x >&2", tmp_path
    ) as process:
        assert await process.wait() == 0
        assert await process.stdout.read() == b""
        lines = process.error_lines()
    assert len(lines) <= ERROR_LINES
    assert max(map(len, lines)) <= 500
    assert set(lines[-1]) == {"x"}


async def test_a_missing_program_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no-such-program"):
        await StdioLauncher().start(StdioCommand("no-such-program", [], {"PATH": PATH}, tmp_path))


@pytest.mark.parametrize("rest", ["cat", "trap '' TERM; sleep 1000"], ids=["polite", "deaf"])
async def test_closing_leaves_no_process(rest: str, tmp_path: Path) -> None:
    async with started(FAMILY + rest, tmp_path):
        await asyncio.to_thread(wait_for, tmp_path / "b.pid")
    assert not any(map(is_running, pids(tmp_path)))


async def test_a_program_that_ends_leaves_no_process(tmp_path: Path) -> None:
    async with started(FAMILY + "exit 0", tmp_path) as process:
        assert await process.wait() == 0
        assert not any(map(is_running, pids(tmp_path)))


_SERVER = """
import asyncio, sys
from pathlib import Path
from jupyter_ai_shoulders.guard.process.stdio_launcher import StdioLauncher
from jupyter_ai_shoulders.guard.process.stdio_process import StdioCommand

async def main():
    command = StdioCommand("bash", ["-c", sys.argv[2]], {"PATH": sys.argv[1]}, Path.cwd())
    process = await StdioLauncher().start(command)
    print((await process.stdout.readline()).decode(), flush=True)
    await asyncio.sleep(1000)

asyncio.run(main())
"""


def test_a_killed_server_leaves_no_process(tmp_path: Path) -> None:
    line = FAMILY + "trap '' TERM HUP; echo up; sleep 1000"
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, PATH, line], cwd=tmp_path, stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    with server.stdout:
        assert server.stdout.readline() == b"up\n"
        family = pids(tmp_path)
        assert len(family) == 2
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
    wait_until(lambda: not any(map(is_running, family)))

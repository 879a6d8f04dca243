"""Commands end with all their processes, within their limits, without blocking the server."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.guard.process.launcher import Spawner
from jupyter_ai_shoulders.guard.process.port_rules import PortRules
from jupyter_ai_shoulders.guard.process.program import OutputChunk, Program, ProgramExit
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.spawner.process_tree import end_orphans, process_start
from tests.guard.command_runner import (
    TIMEOUT_S,
    is_running,
    pids,
    program,
    run_command,
    spawned,
    wait_for,
    wait_until,
)

LEFT_BEHIND = {
    "in its group": "sleep 1000 & echo $! > a.pid",
    "after hangup": "nohup sleep 1000 > /dev/null 2>&1 & echo $! > a.pid",
    "in a separate session": "setsid sleep 1000 & echo $! > a.pid",
    "twice forked": "(setsid bash -c 'sleep 1000 & echo $! > a.pid' &)",
    "without our mark": "(env -i setsid bash -c 'sleep 1000 & echo $! > a.pid' &)",
    "deaf to being asked": "setsid bash -c 'trap \"\" TERM; echo $$ > a.pid; sleep 1000' &",
}


async def test_output_and_exit_code_come_as_they_are(tmp_path: Path) -> None:
    done = await run_command(program("echo out; echo err >&2; exit 7", tmp_path))

    assert done.ended == ProgramExit(7)
    assert done.printed == {"stdout": b"out\n", "stderr": b"err\n"}


async def test_a_command_has_no_input_and_no_terminal(tmp_path: Path) -> None:
    done = await run_command(
        program("cat; read x; echo got:$x; tty; test -t 0 || echo none", tmp_path)
    )

    assert done.out == "got:\nnot a tty\nnone\n"


async def test_a_command_gets_only_the_environment_it_is_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOULDERS_TEST_SECRET", "hidden")

    done = await run_command(program("env; cat /proc/$PPID/environ", tmp_path))

    assert "hidden" not in done.all
    names = {line.partition("=")[0] for line in done.out.splitlines() if "=" in line}
    assert names <= {"PATH", "PWD", "SHLVL", "_", "SHOULDERS_RUN", "LC_ALL"}


async def test_a_command_inherits_no_open_file_and_no_ignored_signal(tmp_path: Path) -> None:
    kept = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(kept, True)
    try:
        done = await run_command(
            program("ls /proc/self/fd | wc -w; grep -E 'Sig(Ign|Blk)' /proc/self/status", tmp_path)
        )
    finally:
        os.close(kept)

    files, _, blocked, _, ignored = done.out.split()
    assert (files, int(blocked, 16)) == ("4", 0)
    ours = sum(1 << number - 1 for number in signal.valid_signals())  # the C library reserves two
    assert int(ignored, 16) & ours == 0


@pytest.mark.parametrize("line", LEFT_BEHIND.values(), ids=list(LEFT_BEHIND))
async def test_what_a_command_leaves_running_is_ended_with_it(tmp_path: Path, line: str) -> None:
    wait = "; while ! test -s a.pid; do sleep 0.01; done"

    done = await run_command(
        program(line + wait if not line.endswith("&") else f"{line} {wait[2:]}", tmp_path)
    )

    assert (done.ended.code, done.ended.reason) == (0, None)
    assert done.ended.orphans >= 1
    assert [is_running(pid) for pid in pids(tmp_path)] == [False]


@pytest.mark.parametrize("line", LEFT_BEHIND.values(), ids=list(LEFT_BEHIND))
async def test_a_cancelled_command_is_gone_with_all_it_started(tmp_path: Path, line: str) -> None:
    command = program(f"{line.removesuffix('&')} & sleep 1000", tmp_path)
    task = asyncio.create_task(run_command(command))
    await asyncio.to_thread(wait_for, tmp_path / "a.pid")

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert [is_running(pid) for pid in pids(tmp_path)] == [False]


async def test_a_command_past_its_time_is_ended_even_when_it_does_not_listen(
    tmp_path: Path,
) -> None:
    line = "trap '' TERM INT HUP; echo $$ > a.pid; while :; do sleep 1; done"

    done = await run_command(program(line, tmp_path, time_limit_s=1.0, stop_timeout_s=0.1))

    assert done.ended == ProgramExit(-signal.SIGKILL, "time")
    assert [is_running(pid) for pid in pids(tmp_path)] == [False]


async def test_a_command_past_its_time_may_first_tidy_up(tmp_path: Path) -> None:
    line = "trap 'echo tidy; exit 3' TERM; echo on; sleep 1000 & wait"

    done = await run_command(program(line, tmp_path, time_limit_s=1.0, stop_timeout_s=60))

    assert (done.out, done.ended) == ("on\ntidy\n", ProgramExit(3, "time"))


# They double nine times and then wait: a thousand at most if nothing ends them.
FLOODS = {
    "in one group": (
        'flood() { test "$1" -lt 9 || exec sleep 9; flood $(($1 + 1)) | flood $(($1 + 1)) & wait; }'
        "; flood 0; sleep 1000"
    ),
    "in separate sessions": "bash ./flood.sh 0; sleep 1000",
    "waiting": "for i in $(seq 1000); do sleep 1000 & done; wait",
}


@pytest.mark.parametrize("line", FLOODS.values(), ids=list(FLOODS))
async def test_a_flood_of_processes_is_ended(tmp_path: Path, line: str) -> None:
    (tmp_path / "flood.sh").write_text(
        'test "$1" -lt 9 || exec sleep 9\n'
        "setsid bash ./flood.sh $(($1 + 1)) & setsid bash ./flood.sh $(($1 + 1)) &\nsleep 9"
    )

    done = await run_command(program(line, tmp_path, processes=40))

    assert (done.ended.reason, done.ended.stuck) == ("processes", 0)


async def test_a_flood_of_processes_after_the_command_is_ended(tmp_path: Path) -> None:
    line = "for i in $(seq 60); do sleep 1000 & done; exit 0"

    done = await run_command(program(line, tmp_path, processes=40))

    assert (done.ended.reason, done.ended.stuck) == ("processes", 0)


async def test_new_processes_of_somebody_else_do_not_end_a_command(tmp_path: Path) -> None:
    others = asyncio.create_task(
        run_command(
            program("for i in $(seq 60); do sleep 1000 & done; touch ready; wait", tmp_path)
        )
    )
    line = "while ! test -e ready; do sleep 0.01; done; sleep 0.3; echo still here"

    done = await run_command(program(line, tmp_path, processes=40))
    others.cancel()
    await asyncio.wait([others])

    assert (done.out, done.ended) == ("still here\n", ProgramExit(0))


async def test_a_command_that_uses_too_much_memory_is_ended(tmp_path: Path) -> None:
    """Touches the memory repeatedly, so that none is swapped out where memory is short."""
    code = (
        "import os, time; open('a.pid', 'w').write(str(os.getpid())); x = bytearray(100 << 20)\n"
        "while True: x[::4096] = bytes(25600); time.sleep(0.05)"
    )

    done = await run_command(program(f'exec python3 -c "{code}"', tmp_path, memory_bytes=60 << 20))

    assert done.ended.reason == "memory"
    (pid,) = pids(tmp_path)
    await asyncio.to_thread(wait_until, lambda: not is_running(pid))


async def test_a_file_cannot_grow_without_end(tmp_path: Path) -> None:
    done = await run_command(
        program("head -c 10000000 /dev/zero > big", tmp_path, file_bytes=1_000_000)
    )

    assert done.ended.code == 128 + signal.SIGXFSZ or done.ended.code == -signal.SIGXFSZ
    assert (tmp_path / "big").stat().st_size == 1_000_000


async def test_a_hundred_megabytes_come_whole_and_cost_no_memory(tmp_path: Path) -> None:
    """The reader decides what to keep; nothing accumulates on the way."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = 0
    command = program("head -c 100000000 /dev/zero", tmp_path)
    async with spawned() as spawner, aclosing(spawner.run(command)) as items:
        async for item in items:
            count += len(item.data) if isinstance(item, OutputChunk) else 0

    assert count == 100_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024  # kilobytes


async def test_a_reader_that_waits_holds_the_command_up(tmp_path: Path) -> None:
    line = "head -c 50000000 /dev/zero; touch done"
    async with spawned() as spawner, aclosing(spawner.run(program(line, tmp_path))) as items:
        await anext(items)
        await asyncio.sleep(0.5)
        assert not (tmp_path / "done").exists()


async def test_output_without_end_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_ai_shoulders.guard.process.launcher.OUTPUT_LIMIT", 1_000_000)

    done = await run_command(program("yes", tmp_path))

    assert done.ended.reason == "output"
    assert len(done.all) <= 1_000_000


@pytest.mark.parametrize(
    "asked",
    [
        pytest.param({"words": ["/no/such/program"]}, id="program"),
        pytest.param({"folder": Path("/no/such/folder")}, id="folder"),
    ],
)
async def test_what_cannot_be_started_says_so(tmp_path: Path, asked: dict[str, object]) -> None:
    values: dict[str, Any] = {
        "words": ["true"],
        "folder": tmp_path,
        "environment": {},
        "time_limit_s": 9.0,
        **asked,
    }

    with pytest.raises(InvalidRequest, match="was not started"):
        await run_command(Program(**values))


async def test_the_loop_goes_on_while_commands_start_run_and_end(tmp_path: Path) -> None:
    """Nothing waits for a process on the event loop; delays of the machine do not count."""
    busy: list[float] = []

    async def tick() -> None:
        while True:
            cpu, began = time.thread_time(), time.monotonic()
            await asyncio.sleep(0.01)
            if time.monotonic() - began > 0.1:
                busy.append(time.thread_time() - cpu)

    ticking = asyncio.create_task(tick())
    lines = ["head -c 20000000 /dev/zero", "sleep 0.2", "setsid sleep 1000 & sleep 0.1", "true"]
    await asyncio.gather(*(run_command(program(line, tmp_path)) for line in lines))
    ticking.cancel()
    await asyncio.wait([ticking])

    assert [late for late in busy if late > 0.1] == []


SERVER = """
import asyncio
from pathlib import Path
from tests.guard.command_runner import program, run_command
line = "setsid sleep 1000 & echo $! > a.pid; echo $$ > b.pid; wait"
asyncio.run(run_command(program(line, Path.cwd())))
"""


def test_when_the_server_is_killed_its_command_is_ended_at_once(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    server = subprocess.Popen([sys.executable, "-c", SERVER], cwd=tmp_path, env=environment)
    wait_for(tmp_path / "b.pid")

    server.kill()
    server.wait()

    deadline = time.monotonic() + TIMEOUT_S
    while any(is_running(pid) for pid in pids(tmp_path)):
        assert time.monotonic() < deadline
        time.sleep(0.01)


HANDOVER = """
import os, subprocess
from jupyter_ai_shoulders.guard.spawner import main
left = subprocess.Popen(["sleep", "1000"])
lists = iter([[], []])
real = main.descendants
main.descendants = lambda root: real(root) if (found := next(lists, None)) is None else found
command = main._Command(pid=0, deadline=None, stop_timeout_s=0, most_processes=0, most_pages=0)
print([process.pid for process in next(main._alive(command))] == [left.pid])
left.kill()
left.wait()
print(next(main._alive(command)))
"""


def test_processes_that_a_list_misses_while_their_parent_ends_are_not_forgotten() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(
        [sys.executable, "-c", HANDOVER],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("True\n[]\n", 0), done.stderr


async def test_a_command_whose_spawner_was_killed_is_found_and_ended(tmp_path: Path) -> None:
    async with spawned() as spawner:
        items = spawner.run(program("echo $$ > a.pid; setsid sleep 1000 & wait", tmp_path))
        running = asyncio.create_task(anext(items))
        await asyncio.to_thread(wait_for, tmp_path / "a.pid")

        os.kill(spawner.pid, signal.SIGKILL)

        assert await running == ProgramExit(None, "lost")
        await items.aclose()
    assert [is_running(pid) for pid in pids(tmp_path)] == [False]


async def test_a_process_that_took_over_the_number_is_let_alone(tmp_path: Path) -> None:
    task = asyncio.create_task(run_command(program("echo $$ > a.pid; sleep 1000", tmp_path)))
    await asyncio.to_thread(wait_for, tmp_path / "a.pid")
    (pid,) = pids(tmp_path)
    start = process_start(pid)
    assert start is not None
    boot, _, moment = start.partition(":")

    for other in (None, f"{boot}:{int(moment) - 1}", f"another-boot:{moment}"):
        assert await asyncio.to_thread(end_orphans, pid, other) == 0
    assert is_running(pid)
    assert await asyncio.to_thread(end_orphans, pid, start) == 1
    assert not is_running(pid)
    await asyncio.wait([task])


async def test_a_spare_spawner_waits_and_is_let_go(tmp_path: Path) -> None:
    spawners = SpawnerPool()
    spawners.warm()
    first = await spawners.acquire()
    spawners.warm()
    second = await spawners.acquire()
    spawners.warm()
    await spawners.aclose()
    assert first.pid != second.pid

    await first.aclose()
    await second.aclose()

    assert [is_running(one.pid) for one in (first, second)] == [False, False]


async def test_a_start_that_is_cancelled_leaves_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread that starts it cannot be stopped."""
    launch, cancelled = Spawner.launch, threading.Event()
    launched: list[Spawner] = []

    def slow(rules: PortRules | None = None) -> Spawner:
        launched.append(launch(rules))
        cancelled.wait(TIMEOUT_S)
        return launched[-1]

    monkeypatch.setattr(Spawner, "launch", slow)
    taking = asyncio.create_task(SpawnerPool().acquire())
    await asyncio.to_thread(wait_until, lambda: bool(launched))
    taking.cancel()
    cancelled.set()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert not launched[0].alive

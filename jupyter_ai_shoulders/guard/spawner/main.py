"""Starts one command on request, watches its processes, ends them, and reports the exit.

Run by ``guard.process.launcher``. The server writes one request to stdin, and ``stop`` to end the
command early; the end of stdin means that the server is gone, and ends it too. Replies are lines of
JSON: ``ready``, then ``started`` or ``failed``, then ``ended``. The command's output, and its input
if it has one, do not pass through here.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_ai_shoulders.guard.spawner.confinement import (
    AccessPolicy,
    ProcessLimits,
    apply_limits,
    confine,
)
from jupyter_ai_shoulders.guard.spawner.probe import probe
from jupyter_ai_shoulders.guard.spawner.process_tree import (
    MARK,
    ProcessInfo,
    descendants,
    end_all,
    machine_thread_count,
    process_start,
)
from jupyter_ai_shoulders.guard.spawner.system import PR_SET_CHILD_SUBREAPER, prctl

POLL_SECONDS = 0.02
"""Interval of checking the machine's thread count, which is cheap."""
_COUNT_SECONDS = 0.25
"""Interval of measuring the command's own processes."""
_THREADS_PER_PROCESS = 8
_REAPED_AT_ONCE = 64
_KILL_TIMEOUT_S = 5.0
"""Wait for killed processes to disappear; only those stuck in the kernel take longer."""
_ORPHAN_STOP_TIMEOUT_S = 0.2
_HANDOVER_SECONDS = 1.0
"""Wait for the system to hand the children of an ending process over to this one."""
SIZE_DIGITS = 8
"""A request begins with its length in bytes, in hexadecimal."""
_IGNORED = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)


@dataclass(slots=True)
class _Command:
    """A running command."""

    pid: int
    deadline: float | None
    stop_timeout_s: float
    most_processes: int
    most_pages: int
    status: int | None = None
    reason: str | None = None
    """Why it was ended; None when it exited by itself."""
    wake: int = -1
    baseline_threads: int = 0
    """Threads on the machine without a fork bomb of the command."""
    counted_at: float = 0.0
    """When the command's processes were last measured."""


def main() -> None:
    """Serve one request."""
    for number in _IGNORED:  # the end of stdin tells that the server is gone
        signal.signal(number, signal.SIG_IGN)
    woken, wake = os.pipe()
    for descriptor in (woken, wake):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, _on_child_exit)
    if sys.platform == "linux":
        prctl(PR_SET_CHILD_SUBREAPER, 1)
    start = process_start(os.getpid())
    _send({"ready": os.getpid(), "start": start})
    request = _read_request()
    if request is None:
        return
    if request.get("probe"):
        _send({"facts": probe(request["filters"])})
        return
    _serve(request, f"{os.getpid()}:{start}", woken)


def _serve(request: Mapping[str, Any], mark: str, woken: int) -> None:
    try:
        pid = _spawn(request, mark)
    except OSError as error:
        _send({"failed": error.strerror or str(error), "at": error.filename})
        return
    limit_s = request["time_limit_s"]
    command = _Command(
        pid=pid,
        deadline=None if limit_s is None else time.monotonic() + limit_s,
        stop_timeout_s=request["grace_s"],
        most_processes=request["processes"],
        most_pages=request["memory_bytes"] // os.sysconf("SC_PAGE_SIZE"),
        wake=woken,
        baseline_threads=machine_thread_count(),
    )
    _send({"started": pid})
    _watch(command)
    orphans = 0 if command.reason else _count_orphans(command)
    stop_timeout_s = _stop_timeout(command)
    if not stop_timeout_s:
        with contextlib.suppress(OSError):
            os.killpg(command.pid, signal.SIGKILL)  # nothing can fork out of this
    stuck = end_all(_alive(command), stop_timeout_s, _KILL_TIMEOUT_S)
    code = None if command.status is None else os.waitstatus_to_exitcode(command.status)
    _send({"ended": code, "why": command.reason, "left_behind": orphans, "stuck": stuck})


def _count_orphans(command: _Command) -> int:
    """Return the number of processes left after the command; too many count as a limit."""
    count = len(descendants(os.getpid(), command.most_processes + 1))
    if count > command.most_processes > 0:
        command.reason = "processes"
    return count


def _stop_timeout(command: _Command) -> float:
    match command.reason:
        case None:
            return _ORPHAN_STOP_TIMEOUT_S
        case "time" | "stopped":
            return command.stop_timeout_s
        case _:
            return 0.0


def _watch(command: _Command) -> None:
    """Return when the command has exited or must be ended."""
    while command.status is None and command.reason is None:
        ready, _, _ = select.select([0, command.wake], [], [], POLL_SECONDS)
        if command.wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(command.wake, 4096)
        _reap(command)
        if 0 in ready:
            command.reason = "stopped" if os.read(0, 4096) else "gone"
        elif command.status is None:
            command.reason = _exceeded_limit(command)


def _exceeded_limit(command: _Command) -> str | None:
    """Return the limit the command exceeds."""
    if command.deadline is not None and time.monotonic() >= command.deadline:
        return "time"
    now = time.monotonic()
    if (
        command.most_processes
        and machine_thread_count() - command.baseline_threads > command.most_processes // 2
    ):
        return _check_flood(command)
    if now - command.counted_at < _COUNT_SECONDS:
        return None
    command.counted_at = now
    return _exceeded_share(command, descendants(os.getpid()))


def _check_flood(command: _Command) -> str | None:
    """Pause the command while it is counted, because a fork bomb would leave no time for it.

    It continues if the new processes are not its own.
    """
    with contextlib.suppress(OSError):
        os.killpg(command.pid, signal.SIGSTOP)
    over = _exceeded_share(command, descendants(os.getpid(), command.most_processes + 1))
    if over is None:
        command.baseline_threads = machine_thread_count()
        with contextlib.suppress(OSError):
            os.killpg(command.pid, signal.SIGCONT)
    return over


def _exceeded_share(command: _Command, alive: list[ProcessInfo]) -> str | None:
    threads = sum(process.threads for process in alive)
    most = command.most_processes
    if most and (len(alive) > most or threads > most * _THREADS_PER_PROCESS):
        return "processes"
    if command.most_pages and sum(process.resident_pages for process in alive) > command.most_pages:
        return "memory"
    return None


def _alive(command: _Command) -> Iterator[list[ProcessInfo]]:
    """Yield the command's processes as they are at each moment.

    A list read from ``/proc`` may be empty while a process exits: its children are then neither its
    own nor this process's. Only without any child, living or not, is nothing left.
    """
    while True:
        deadline = time.monotonic() + _HANDOVER_SECONDS
        while True:
            has_children = _reap(command)
            alive = descendants(os.getpid())
            if alive or not has_children or time.monotonic() >= deadline:
                break
            time.sleep(0.001)
        yield alive


def _reap(command: _Command) -> bool:
    """Reap children, a limited number at once: a fork bomb's orphans arrive without end.

    Returns whether there are more children.
    """
    for _ in range(_REAPED_AT_ONCE):
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == command.pid:
            command.status = status
    return True


def _spawn(request: Mapping[str, Any], mark: str) -> int:
    """Start the command. Raises the ``OSError`` that prevented it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        _exec(request, mark, writer)
    os.close(writer)
    given = {request["stdout"], request["stderr"], request.get("stdin")}
    for descriptor in given:
        if descriptor is not None:
            os.close(descriptor)
    with os.fdopen(reader, "rb") as pipe:
        failure = pipe.read()
    if failure:
        os.waitpid(pid, 0)
        number, step, text = json.loads(failure)
        raise OSError(number, text, step)
    return pid


def _exec(request: Mapping[str, Any], mark: str, writer: int) -> None:
    """Turn this process into the command; never returns."""
    step = "start"
    try:
        os.setsid()
        _reset_signals()
        policy = None if request["sandbox"] is None else AccessPolicy.from_json(request["sandbox"])
        rules = None if policy is None else policy.port_rules
        preserved = {writer} if rules is None else {writer, rules}
        _reset_descriptors(request, preserved)
        apply_limits(ProcessLimits(request["file_bytes"], request["cpu_seconds"]))
        step = "cwd"
        os.chdir(request["cwd"])
        step = "sandbox"
        if policy is not None:
            confine(policy)
            os.chdir(request["cwd"])
        step = "program"
        environment = {**request["env"], MARK: mark}
        os.execvpe(request["argv"][0], request["argv"], environment)  # noqa: S606 no shell is meant
    except OSError as error:
        failure = [error.errno, step, error.strerror or str(error)]
        os.write(writer, json.dumps(failure).encode())
    except BaseException as error:  # noqa: BLE001 whatever it is, the server must hear of it
        os.write(writer, json.dumps([0, step, repr(error)]).encode())
    os._exit(127)


def _reset_signals() -> None:
    """Reset all signal handling: programs inherit ignored signals."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def _reset_descriptors(request: Mapping[str, Any], preserved: set[int]) -> None:
    given = request.get("stdin")
    os.dup2(os.open(os.devnull, os.O_RDONLY) if given is None else given, 0)
    os.dup2(request["stdout"], 1)
    os.dup2(request["stderr"], 2)
    first = 3
    for descriptor in sorted(preserved):
        os.closerange(first, descriptor)
        first = descriptor + 1
    os.closerange(first, os.sysconf("SC_OPEN_MAX"))


def _read_request() -> dict[str, Any] | None:
    """Return the request; None when the server closed stdin."""
    size = _read_exactly(SIZE_DIGITS)
    text = None if size is None else _read_exactly(int(size, 16))
    return None if text is None else json.loads(text)


def _read_exactly(count: int) -> bytes | None:
    text = b""
    while len(text) < count:
        piece = os.read(0, count - len(text))
        if not piece:
            return None
        text += piece
    return text


def _on_child_exit(number: int, frame: object) -> None:
    """Do nothing: the signal's arrival wakes the wait."""


def _send(message: Mapping[str, object]) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(1, json.dumps(message).encode() + b"\n")

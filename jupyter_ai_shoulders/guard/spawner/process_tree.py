"""Finds and ends the processes of a command, also those that left its group.

Used by ``spawner.main`` while a command runs, and by ``guard.process.launcher`` for the processes
of a killed server. Linux provides the data in ``/proc`` (proc(5)); elsewhere only groups are ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

MARK = "SHOULDERS_RUN"
"""The environment variable that identifies a command's processes when nothing else does."""

_PROC = Path("/proc")
_STEP_SECONDS = 0.005


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process at one moment; ``start``, in clock ticks since boot, distinguishes reused ids."""

    pid: int
    parent: int
    group: int
    start: int
    threads: int
    resident_pages: int
    ended: bool
    """Only its exit code is left."""


def process_info(pid: int) -> ProcessInfo | None:
    """Return a process; None when it does not exist or the system cannot tell."""
    try:
        text = (_PROC / str(pid) / "stat").read_text("utf-8", "replace")
        fields = text.rpartition(")")[
            2
        ].split()  # the name may contain anything, including brackets
        return ProcessInfo(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            start=int(fields[19]),
            threads=int(fields[17]),
            resident_pages=int(fields[21]),
            ended=fields[0] in "ZX",
        )
    except (OSError, ValueError, IndexError):
        return None


def process_start(pid: int) -> str | None:
    """Return a unique mark of a process id's current holder: the boot and the start time."""
    process = process_info(pid)
    if process is None:
        return None
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return None
    return f"{boot}:{process.start}"


def machine_thread_count() -> int:
    """Return the number of threads on this machine, from one small file; 0 if unknown."""
    try:
        return int((_PROC / "loadavg").read_text("ascii").split()[3].partition("/")[2])
    except (OSError, ValueError, IndexError):
        return 0


def descendants(root: int, most: int | None = None) -> list[ProcessInfo]:
    """Return the living descendants of a process, nearest first, at most ``most``."""
    found: list[ProcessInfo] = []
    waiting = list(_children(root))
    known = set(waiting)
    while waiting and (most is None or len(found) < most):
        pid = waiting.pop(0)
        process = process_info(pid)
        if process is not None and not process.ended:
            found.append(process)
        new = [child for child in _children(pid) if child not in known]
        known.update(new)
        waiting += new
    return found


def marked_processes(mark: str) -> list[ProcessInfo]:
    """Return the living processes with a mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    found: list[ProcessInfo] = []
    for pid in _all():
        with contextlib.suppress(OSError):
            values = (_PROC / str(pid) / "environ").read_bytes().split(b"\0")
            process = process_info(pid) if wanted in values else None
            if process is not None and not process.ended:
                found.append(process)
    return found


def kill(processes: Iterable[ProcessInfo], number: int) -> None:
    """Signal processes and their groups, never a later process with the same id.

    A whole group is signalled at once, so that nothing can fork out of it; our own group is spared.
    The groups are the command's own: it began a session, and no process joins a group of another
    session.
    """
    targets = list(processes)
    groups = {process.group for process in targets} - {os.getpgrp(), 0, 1}
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
    for process in targets:
        # A second SIGTERM would interrupt the handling of the first.
        if number == signal.SIGKILL or process.group not in groups:
            _signal_by_handle(process, number)


def end_all(find: Iterator[list[ProcessInfo]], stop_timeout_s: float, kill_timeout_s: float) -> int:
    """End the processes ``find`` yields, after SIGTERM and ``stop_timeout_s``; return how many
    remain.

    ``find`` yields the current processes each time, and may reap.
    """
    deadline = time.monotonic() + stop_timeout_s
    alive = next(find)
    if stop_timeout_s > 0 and alive:
        kill(alive, signal.SIGTERM)
        while alive and time.monotonic() < deadline:
            time.sleep(_STEP_SECONDS)
            alive = next(find)
    deadline = time.monotonic() + kill_timeout_s
    while alive and time.monotonic() < deadline:
        kill(alive, signal.SIGKILL)
        time.sleep(_STEP_SECONDS)
        alive = next(find)
    return len(alive)


def end_orphans(pid: int, start: str | None, kill_timeout_s: float = 2.0) -> int:
    """End the remaining processes of a command whose spawner had this id and start.

    Returns how many were found. Only processes certain to belong to it are touched: the spawner is
    identified by its start, the command by the mark with both.
    """
    if start is None:
        return 0
    count = len(_orphans(pid, start))
    if count:
        end_all(
            iter(lambda: _orphans(pid, start), None),
            stop_timeout_s=0.2,
            kill_timeout_s=kill_timeout_s,
        )
    return count


def _orphans(pid: int, start: str) -> list[ProcessInfo]:
    found = {process.pid: process for process in marked_processes(f"{pid}:{start}")}
    spawner = process_info(pid)
    if spawner is not None and not spawner.ended and process_start(pid) == start:
        found |= {process.pid: process for process in (*descendants(pid), spawner)}
    return list(found.values())


def _signal_by_handle(process: ProcessInfo, number: int) -> None:
    try:
        handle = os.pidfd_open(process.pid)
    except (OSError, AttributeError):  # already gone, or the kernel is older than 5.3
        return _signal_by_pid(process, number)
    try:
        current = process_info(process.pid)
        if current is not None and current.start == process.start:
            signal.pidfd_send_signal(handle, number)
    except (ProcessLookupError, PermissionError):
        return None
    finally:
        os.close(handle)


def _signal_by_pid(process: ProcessInfo, number: int) -> None:
    current = process_info(process.pid)
    if current is not None and current.start == process.start:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process.pid, number)


def _children(pid: int) -> list[int]:
    """Return the children of a process, started by any of its threads."""
    found: list[int] = []
    try:
        threads = [entry.name for entry in (_PROC / str(pid) / "task").iterdir()]
    except OSError:
        return found
    for thread in threads:
        try:
            text = (_PROC / str(pid) / "task" / thread / "children").read_text("ascii")
        except FileNotFoundError:
            if (_PROC / "self/task" / str(os.getpid()) / "children").exists():
                continue  # the thread ended
            return [
                process.pid
                for other in _all()
                if (process := process_info(other)) and process.parent == pid
            ]
        except OSError:
            continue
        found += map(int, text.split())
    return found


def _all() -> list[int]:
    try:
        return [int(entry.name) for entry in _PROC.iterdir() if entry.name.isdigit()]
    except OSError:
        return []

"""Runs a module of this package in its own process, to parse untrusted bytes.

A parser that exhausts memory or time, or crashes, affects only that process. Blocks; callers choose
the thread. Used by ``files.previews.document_previews``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from dataclasses import dataclass, field

_PASSED_VARIABLES = (
    *("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TEMP", "USERPROFILE", "APPDATA"),
    *(
        "PYTHONPATH",
        "PYTHONHOME",
        "VIRTUAL_ENV",
        "COVERAGE_PROCESS_START",
        "COVERAGE_PROCESS_CONFIG",
    ),
)
"""Variables needed to find Python's packages; keys are not passed on."""

_ALONE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS"), "1"
)
"""One thread per library: on machines with many cores the thread stacks alone would exceed a memory
limit.
"""


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """The worker's output and exit status."""

    status: int | None
    """None when it timed out."""
    output: bytes
    stderr_tail: str
    """The end of its error output, for the log."""


@dataclass(slots=True)
class WorkerStop:
    """Ends a worker before its time, from any thread."""

    _lock: threading.Lock = field(default_factory=threading.Lock)
    _process: subprocess.Popen[bytes] | None = None
    _stopped: bool = False

    def stop(self) -> None:
        """Kill the worker, now or when it starts."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def started(self, process: subprocess.Popen[bytes]) -> None:
        """Record the process."""
        with self._lock:
            self._process = process
            if self._stopped:
                process.kill()


def run_worker(
    module: str,
    arguments: tuple[str, ...],
    content: bytes,
    seconds: float,
    stop: WorkerStop | None = None,
) -> WorkerResult:
    """Run ``python -m module`` with the content on stdin, away from files of the workspace.

    Modules are imported from Python's path, never from the working directory.
    """
    passed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    command = [sys.executable, "-P", "-B", "-m", module, *arguments]
    with subprocess.Popen(  # noqa: S603 our own module, the arguments are ours
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=sys.prefix,
        env={**passed, **_ALONE, "MALLOC_ARENA_MAX": "2"},
        start_new_session=sys.platform != "win32",
    ) as process:
        if stop is not None:
            stop.started(process)
        try:
            output, errors = process.communicate(content, timeout=seconds)
        except subprocess.TimeoutExpired:
            return WorkerResult(None, b"", "")
        finally:
            process.kill()
    return WorkerResult(process.returncode, output, errors[-2_000:].decode("utf-8", "replace"))

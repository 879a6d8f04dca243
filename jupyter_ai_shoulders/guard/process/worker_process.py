"""Runs a module of this package in a process of its own, for work on bytes that nobody trusts.

A parser that is led to take all memory or time, or that crashes, takes only that process with it.
Blocks; callers choose the thread. Used by ``files.previews.document_previews``.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass

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
"""Variables that finding Python's packages takes; keys stay here."""

_ALONE = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS"), "1"
)
"""One thread each: on a machine with many cores, the stacks alone would pass a limit of memory."""


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """What the helper wrote, and how it ended: 0, or that it was stopped or crashed."""

    status: int | None
    """None: it took too long."""
    output: bytes
    stderr_tail: str
    """The end of what it wrote to the error stream, for the log."""


def run_worker(
    module: str, arguments: tuple[str, ...], content: bytes, seconds: float
) -> WorkerResult:
    """Run ``python -m module`` with the content as input; no file of the workspace is found by it.

    Modules are looked for where Python looks, never in the working directory.
    """
    passed = {name: os.environ[name] for name in _PASSED_VARIABLES if name in os.environ}
    command = [sys.executable, "-P", "-B", "-m", module, *arguments]
    try:
        done = subprocess.run(  # noqa: S603 our own module, the arguments are ours
            command,
            input=content,
            capture_output=True,
            timeout=seconds,
            check=False,
            cwd=sys.prefix,
            env={**passed, **_ALONE, "MALLOC_ARENA_MAX": "2"},
            start_new_session=sys.platform != "win32",
        )
    except subprocess.TimeoutExpired:
        return WorkerResult(None, b"", "")
    return WorkerResult(
        done.returncode, done.stdout, done.stderr[-2_000:].decode("utf-8", "replace")
    )

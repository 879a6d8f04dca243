"""Ends one of our fixed programs with all its children; blocks, for threads.

Used by ``guard.git``; commands of the agent run below ``guard.spawner`` instead.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process started with ``start_new_session``, and everything in its group."""
    if sys.platform == "win32":
        process.kill()
        return
    # The process id cannot be reused until the process is waited for.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def kill_after(process: subprocess.Popen[bytes], seconds: float) -> Generator[None]:
    """Kill a process when the time is over or the block is left."""
    timer = threading.Timer(max(0.0, seconds), kill_process_group, [process])
    timer.start()
    try:
        with process:
            try:
                yield
            finally:
                kill_process_group(process)
    finally:
        timer.cancel()

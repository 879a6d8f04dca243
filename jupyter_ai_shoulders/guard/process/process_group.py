"""A fixed program of ours that is ended with all it has started; blocks, for threads.

Used by ``guard.git.safe_git``; commands of the agent run below ``guard.spawner`` instead.
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
    """Kill a process that began a session (``start_new_session``), and all that stayed in it."""
    if sys.platform == "win32":
        process.kill()
        return
    # Until it is waited for its number cannot be anybody else's.
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)


@contextlib.contextmanager
def kill_after(process: subprocess.Popen[bytes], seconds: float) -> Generator[None]:
    """Have a process ended once the time is over, or the block is left."""
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

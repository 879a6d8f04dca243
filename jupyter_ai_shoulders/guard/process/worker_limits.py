"""What a worker process does to itself: limits before it reads, and its end.

Called by the programs that ``guard.process.worker_process`` starts.
"""

from __future__ import annotations

import os
import sys


def limit_process(memory: int, cpu_seconds: int) -> None:
    """Limit the address space (bytes) and the processor time; let it write no file.

    On Windows only its time is limited, by the process that started it.
    """
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (wanted, wanted))


def end_process(output: str) -> None:
    """Write the answer and end at once.

    Threads of readers may abort a process that ends in order (Arrow's do).
    """
    sys.stdout.write(output)
    sys.stdout.flush()
    os._exit(0)

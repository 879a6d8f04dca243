"""What a worker process does to itself: limits before it reads, and its end.

Called by the programs that ``guard.process.worker_process`` starts.
"""

from __future__ import annotations

import os
import sys


def limit_process(
    memory: int, cpu_seconds: int, *, file_size: int = 0, now: int | None = None
) -> None:
    """Limit the address space and the files it writes (bytes), and the processor time.

    ``now`` is a smaller address space for the beginning, which it may raise to ``memory``.

    On Windows only its time is limited, by the process that started it.
    """
    try:
        import resource
    except ImportError:
        return
    for what, most in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_FSIZE, file_size),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (wanted, wanted))
    if now is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = now if hard == resource.RLIM_INFINITY else min(now, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))


def end_process(output: str) -> None:
    """Write the answer and end at once.

    Threads of readers may abort a process that ends in order (Arrow's do).
    """
    sys.stdout.write(output)
    sys.stdout.flush()
    os._exit(0)

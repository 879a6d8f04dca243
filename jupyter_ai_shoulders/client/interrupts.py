"""Defers Ctrl+C while a message is being sent to an engine. Used by the command line and the
magics.

Otherwise it would be unknown whether a turn has started that must be cancelled.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class DeferredInterrupt:
    """Result of a block with deferred interrupts."""

    received: bool = False
    """Whether Ctrl+C was pressed."""


@contextmanager
def defer_interrupt() -> Generator[DeferredInterrupt]:
    """Defer the first Ctrl+C to the end of the block; a second one interrupts it.

    Only the main thread is ever interrupted; in other threads this does nothing.
    """
    held = DeferredInterrupt()

    def note(_signal: int, _frame: object) -> None:
        if held.received:
            raise KeyboardInterrupt
        held.received = True

    before = signal.getsignal(signal.SIGINT)
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or not callable(before):  # ignored, as in background processes
        yield held
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)

"""Ctrl+C while a message is on its way to an engine. Used by the command line and the magics.

An interrupt there would leave it open whether a turn has begun that must be cancelled.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class DeferredInterrupt:
    """What happened meanwhile."""

    received: bool = False
    """Whether Ctrl+C was pressed."""


@contextmanager
def defer_interrupt() -> Generator[DeferredInterrupt]:
    """Have the first Ctrl+C wait for the end of the block; a second one interrupts it.

    No thread but the main one is ever interrupted, and there is nothing to hold there.
    """
    held = DeferredInterrupt()

    def note(_signal: int, _frame: object) -> None:
        if held.received:
            raise KeyboardInterrupt
        held.received = True

    before = signal.getsignal(signal.SIGINT)
    main_thread = threading.current_thread() is threading.main_thread()
    if not main_thread or not callable(before):  # ignored, as by what runs in the background
        yield held
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)

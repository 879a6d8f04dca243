"""Ctrl+C while a message is on its way to an engine. Used by ``attached`` and ``chat.talk``.

An interrupt there would leave it open whether a turn has begun that must be cancelled.
"""

from __future__ import annotations

import signal
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Held:
    """What happened meanwhile."""

    came: bool = False
    """Whether Ctrl+C was pressed."""


@contextmanager
def hold_interrupt() -> Generator[Held]:
    """Have the first Ctrl+C wait for the end of the block; a second one interrupts it.

    In the main thread only.
    """
    held = Held()

    def note(_signal: int, _frame: object) -> None:
        if held.came:
            raise KeyboardInterrupt
        held.came = True

    before = signal.getsignal(signal.SIGINT)
    if not callable(before):  # ignored, as by what a shell starts in the background
        yield held
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield held
    finally:
        signal.signal(signal.SIGINT, before)

"""Keeps the Landlock rules that close TCP ports to commands: to make them takes 0.1 s.

The rules name the 65,000 ports that stay open. Used by ``guard.process.launcher``.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Collection
from dataclasses import dataclass

from jupyter_ai_shoulders.guard.spawner import landlock


@dataclass(frozen=True, slots=True)
class PortRules:
    """A descriptor of rules, to be closed by whoever got it, and the ports they close."""

    descriptor: int
    closed: frozenset[int]


class PortRulesCache:
    """Makes rules when the closed ports change; ``close`` it."""

    def __init__(self, closed_ports: Callable[[], Collection[int]]) -> None:
        self._closed_ports = closed_ports
        self._lock = threading.Lock()
        self._made: PortRules | None = None

    def rules(self) -> PortRules | None:
        """Return rules that close the ports there are now; blocks, for threads.

        None where there are no such ports, or no such rules: then the spawner finds out.
        """
        ports = frozenset(self._closed_ports())
        with self._lock:
            made = self._made
            if made is None or made.closed != ports:
                self._drop()
                made = self._made = _made(ports)
            return None if made is None else PortRules(os.dup(made.descriptor), ports)

    def close(self) -> None:
        """Close the rules."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        made, self._made = self._made, None
        if made is not None:
            os.close(made.descriptor)


def _made(ports: frozenset[int]) -> PortRules | None:
    if not ports or sys.platform != "linux" or landlock.abi() < landlock.NETWORK_ABI:
        return None
    try:
        return PortRules(landlock.port_rules(ports), ports)
    except OSError:
        return None

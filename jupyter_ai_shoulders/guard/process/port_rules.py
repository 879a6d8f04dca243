"""Caches the Landlock rules that close TCP ports to commands; making them takes 0.1 s.

The rules list the 65,000 ports that stay open. Used by ``guard.process.spawner_pool``.
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
    """A descriptor of rules, which the receiver closes, and the ports they close."""

    descriptor: int
    closed: frozenset[int]


class PortRulesCache:
    """Makes rules when the closed ports change; close it after use."""

    def __init__(self, closed_ports: Callable[[], Collection[int]]) -> None:
        self._closed_ports = closed_ports
        self._lock = threading.Lock()
        self._current: PortRules | None = None

    def rules(self) -> PortRules | None:
        """Return rules for the currently closed ports; blocks, for threads.

        None when no ports are closed or Landlock cannot close ports; then the spawner decides.
        """
        ports = frozenset(self._closed_ports())
        with self._lock:
            current = self._current
            if current is None or current.closed != ports:
                self._drop()
                current = self._current = _create_rules(ports)
            return None if current is None else PortRules(os.dup(current.descriptor), ports)

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        current, self._current = self._current, None
        if current is not None:
            os.close(current.descriptor)


def _create_rules(ports: frozenset[int]) -> PortRules | None:
    if not ports or sys.platform != "linux" or landlock.abi() < landlock.NETWORK_ABI:
        return None
    try:
        return PortRules(landlock.port_rules(ports), ports)
    except OSError:
        return None

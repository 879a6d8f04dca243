"""Modules that are imported when one of their names is first used.

Used by ``client`` and ``kernel``: a notebook imports ``Client`` and ``ChatPanel`` in its first
cell, and pydantic, httpx and the wire models, needed from the first call on, would double the
wait.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["LazyModule", "ev", "httpx", "pydantic", "websocket", "wire"]


class LazyModule:
    """Stands in for a module at run time; type checkers see the import under ``TYPE_CHECKING``."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        """Return and keep a name of the module. Raises ``ImportError``, ``AttributeError``."""
        value = getattr(import_module(self.__name__), name)
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    import httpx
    import pydantic
    import websocket

    from jupyter_ai_shoulders.client import wire_models as wire
    from jupyter_ai_shoulders.wire import events as ev
else:
    httpx = LazyModule("httpx")
    pydantic = LazyModule("pydantic")
    websocket = LazyModule("websocket")
    wire = LazyModule("jupyter_ai_shoulders.client.wire_models")
    ev = LazyModule("jupyter_ai_shoulders.wire.events")

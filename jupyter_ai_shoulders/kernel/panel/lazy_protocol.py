"""The module ``protocol``, imported with the panel's first message. Used by its neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_ai_shoulders.client.lazy_imports import LazyModule

__all__ = ["protocol"]

if TYPE_CHECKING:
    from jupyter_ai_shoulders.kernel.panel import protocol
else:
    protocol = LazyModule("jupyter_ai_shoulders.kernel.panel.protocol")

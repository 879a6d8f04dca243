"""What the tools of the loop share: every conversation has them, and they touch nothing.

Base of ``todo``, ``complete``, ``clarify`` and ``share_artifact``.
"""

from __future__ import annotations

from typing import ClassVar

from jupyter_ai_shoulders.tools.base import Category
from jupyter_ai_shoulders.wire.events import Risk
from jupyter_ai_shoulders.wire.sessions import Toolset


class ConversationTool:
    """Category ``loop`` (chapter 05)."""

    category: ClassVar[Category] = "loop"
    risk: ClassVar[Risk] = "read"
    external: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = frozenset(
        {"document", "notebook", "workspace", "full"}
    )

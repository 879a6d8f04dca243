"""Maps function names to the characters Gemini accepts, and back; used by ``encode`` and
``decode``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.:-]")
_KEPT = 100


def function_name(tool: str) -> str:
    """Return the tool's name, with a digest and safe characters where Gemini would refuse it."""
    if _NAME.fullmatch(tool):
        return tool
    digest = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest()[:8]
    return f"_{_NOT_IN_NAMES.sub('_', tool)[:_KEPT]}_{digest}"


def renamed(tools: Iterable[str]) -> Mapping[str, str]:
    """Return the original tool names by the names sent to Gemini, where they differ."""
    return {function_name(tool): tool for tool in tools if function_name(tool) != tool}

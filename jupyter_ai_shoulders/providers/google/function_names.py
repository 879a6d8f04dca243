"""Names of functions in the letters Gemini takes (reference §4), and back; used by both halves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.:-]")
_KEPT = 100


def function_name(tool: str) -> str:
    """Return the tool's name, with other letters and a digest where Gemini would refuse it."""
    if _NAME.fullmatch(tool):
        return tool
    digest = hashlib.sha256(tool.encode("utf-8", "replace")).hexdigest()[:8]
    return f"_{_NOT_IN_NAMES.sub('_', tool)[:_KEPT]}_{digest}"


def renamed(tools: Iterable[str]) -> Mapping[str, str]:
    """Return the tools' own names by the names Gemini is given, where the two differ."""
    return {function_name(tool): tool for tool in tools if function_name(tool) != tool}

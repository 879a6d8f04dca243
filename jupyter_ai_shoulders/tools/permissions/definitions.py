"""Definitions of tools that may change: tools of MCP servers. Pure.

A definition is a line of digests, one for each part of what the user saw, such as
``title:4f2a… description:0c1d…``. Grants and rules keep it, so that a tool that says something else
than when it was allowed asks again (``tools.permissions.rules``).
"""

from __future__ import annotations


def definition_covers(allowed: str | None, current: str | None) -> bool:
    """Return whether what was allowed is the tool as it is now; None allows any definition."""
    return allowed is None or allowed == current


def changed_parts(allowed: str, current: str | None) -> str:
    """Return the parts that changed, as in "description and arguments"."""
    before, now = _parts(allowed), _parts(current or "")
    names = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return " and ".join(names) or "definition"


def _parts(definition: str) -> dict[str, str]:
    pairs = (part.partition(":") for part in definition.split())
    return {name: digest for name, _, digest in pairs}

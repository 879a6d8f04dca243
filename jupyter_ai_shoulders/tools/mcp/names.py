"""Names of servers' tools and of their categories, as every provider accepts them. Pure.

A name is ``mcp__server__tool``. Where that would be ambiguous, too long or hold other characters,
they are replaced and a digest of the real names is added. So a name depends on the server and the
tool alone, never on what else the server offers.
"""

from __future__ import annotations

import hashlib
import re

PREFIX = "mcp__"
MAX_NAME = 64
_DIGEST = 8
_EXACT = re.compile(r"[A-Za-z0-9_-]+")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")


def is_server_tool(name: str) -> bool:
    """Return whether a tool or category is of an MCP server."""
    return name.startswith(PREFIX)


def category_name(server: str) -> str:
    """Return the category of a server's tools."""
    return _named(f"{PREFIX}{server}", (server,), exact=_is_exact_server(server))


def tool_name(server: str, tool: str) -> str:
    """Return the name of a server's tool for the model."""
    exact = _is_exact_server(server) and _EXACT.fullmatch(tool) is not None
    return _named(f"{PREFIX}{server}__{tool}", (server, tool), exact=exact)


def _is_exact_server(server: str) -> bool:
    return "__" not in server and not server.endswith("_") and bool(_EXACT.fullmatch(server))


def _named(name: str, parts: tuple[str, ...], *, exact: bool) -> str:
    if exact and len(name) <= MAX_NAME:
        return name
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    digest = hashlib.sha256(joined).hexdigest()[:_DIGEST]
    return f"{_OTHER.sub('_', name)[: MAX_NAME - _DIGEST - 1]}_{digest}"

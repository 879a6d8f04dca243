"""A server made with the SDK, for tests: ``python sdk_server.py stdio | http PORT | sse PORT``."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("probe", version="1.2", instructions="Add numbers.")


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
async def count(steps: int, ctx: Context) -> str:
    """Report progress."""
    for step in range(steps):
        await ctx.report_progress(step + 1, steps, f"step {step + 1}")
    return "counted"


@server.tool()
async def hang(file: str) -> str:
    """Never return; write a file when cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        Path(file).write_text("cancelled", encoding="utf-8")  # noqa: ASYNC240 no loop to keep
    return ""


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("It did not work.")


@server.resource("note://one")
def note() -> str:
    """Return a note."""
    return "a note"


@server.resource("note://{name}/text")
def named(name: str) -> str:
    """Return a named note."""
    return f"note {name}"


@server.prompt()
def greet(name: str) -> str:
    """Greet someone."""
    return f"Say hello to {name}."


def main() -> None:
    """Run it."""
    kind, *rest = sys.argv[1:]
    if kind == "stdio":
        server.run("stdio")
    elif kind == "sse":
        server.run("sse", host="127.0.0.1", port=int(rest[0]))
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(rest[0]))


if __name__ == "__main__":
    main()

"""A server made with the SDK, for tests: ``python sdk_server.py stdio | http PORT | sse PORT``."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import cast

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("probe", version="1.2", instructions="Add numbers.")


class Name(BaseModel):
    """What the server asks for."""

    name: str


@server.tool()
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool()
def variables() -> str:
    """Return the names of the variables."""
    return " ".join(sorted(os.environ))


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
        Path(file).write_text("cancelled", encoding="utf-8")
    return ""


@server.tool()
async def ask(ctx: Context) -> str:
    """Ask the user."""
    answer = await ctx.elicit("Your name?", Name)
    return f"{answer.action} {cast('Name', answer.data).name if answer.action == 'accept' else ''}"


@server.tool()
async def roots(ctx: Context) -> str:
    """Return the client's roots."""
    found = await ctx.session.list_roots()
    return " ".join(str(root.uri) for root in found.roots)


@server.tool()
def fail() -> str:
    """Fail."""
    raise ValueError("It did not work.")


@server.tool()
def crash() -> str:
    """End the process."""
    print("about to end", file=sys.stderr, flush=True)
    os._exit(3)


@server.tool()
async def grow(ctx: Context) -> str:
    """Add a tool."""

    def grown() -> str:
        return "grown"

    server.add_tool(grown)
    await ctx.session.send_tool_list_changed()
    return "grew"


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
    print("probe is here", file=sys.stderr, flush=True)
    if kind == "stdio":
        server.run("stdio")
    elif kind == "sse":
        server.run("sse", host="127.0.0.1", port=int(rest[0]))
    else:
        server.run("streamable-http", host="127.0.0.1", port=int(rest[0]))


if __name__ == "__main__":
    main()

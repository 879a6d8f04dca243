"""A server made with the SDK that asks its client, and changes.

``python asking_server.py [stdio | http PORT]``.
"""

from __future__ import annotations

import base64
import sys
from typing import Annotated

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from mcp.server.subscriptions import ListenHandler
from mcp_types import CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR4nGMwaDiAFTEMLQkAztVcAX2X"
    "hiIAAAAASUVORK5CYII="
)
server = MCPServer("asking", version="1")


class Trip(BaseModel):
    """What the user is asked for."""

    city: str


def ask_model(text: str) -> Sample:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return Sample([message], max_tokens=100, system_prompt="Be short.")


def ask_city() -> Elicit[Trip]:
    return Elicit("Where do you want to go?", Trip)


@server.tool()
def summarize(answer: Annotated[CreateMessageResult, Resolve(ask_model)], text: str) -> str:
    """Summarize a text with a model of the client."""
    said = answer.content
    assert isinstance(said, TextContent)
    return f"{len(text)} characters: {said.text} ({answer.model}, {answer.stop_reason})"


@server.tool()
def book(trip: Annotated[Trip, Resolve(ask_city)]) -> str:
    """Book a trip."""
    return f"Booked {trip.city}."


@server.tool()
def picture() -> list[str | Image]:
    """Draw a picture."""
    return ["A grey square.", Image(data=base64.b64decode(PNG), format="png")]


@server.tool()
async def grow(name: str, ctx: Context) -> str:
    """Add a tool, and announce that."""
    server.add_tool(picture, name=name)
    await ctx.notify_tools_changed()
    return "grown"


@server.tool()
async def update(ctx: Context) -> str:
    """Announce a new content of the notes."""
    await ctx.notify_resource_updated("note://meeting")
    return "updated"


@server.tool()
def end_stream() -> str:
    """End the streams of changes, as a server may."""
    served = server._lowlevel_server  # pyright: ignore[reportPrivateUsage] no other way
    entry = served.get_request_handler("subscriptions/listen")
    assert entry is not None
    assert isinstance(entry.handler, ListenHandler)
    entry.handler.close()
    return "ended"


@server.resource("note://meeting", name="meeting", mime_type="text/plain")
def meeting() -> str:
    """Return the notes of a meeting."""
    return "We meet on Monday."


@server.prompt()
def review(topic: str) -> str:
    """Review something."""
    return f"Review {topic} with care."


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")

"""What the panel's page and its kernel say to each other, as custom messages of the widget.

Every message is tagged with ``view``, an id the page makes for each place the panel is shown in;
ids are the page's as well. ``bundle`` says how the page's code gets there. Used by ``widget`` and
``relay``; the page's side is ``labextension/src/widget``.

A front end that sends comm messages over a subshell (JupyterLab 4.6 and Notebook 7.6 do, where the
kernel has subshells: ipykernel 7) reaches us while a cell runs; all widgets share that subshell.
With others the page's messages wait for the cell: ``Ready.waits`` says so. What we send never
waits.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from jupyter_ai_shoulders.wire.base import Json, WireModel

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]


class Load(WireModel):
    """The page's loader wants the panel's code."""

    t: Literal["load"] = "load"
    view: str


class ViewHello(WireModel):
    """A view is there. Answered by ``ready``."""

    t: Literal["hello"] = "hello"
    view: str


class Http(WireModel):
    """A request below the API's root. Answered by ``http``."""

    t: Literal["http"] = "http"
    view: str
    id: str
    method: Method
    path: str
    """Relative to the API's root, with its query, as ``sessions?limit=5``."""
    body: Json = None
    """JSON, or the text of it."""


class Open(WireModel):
    """Open a page socket. Answered by ``opened`` or ``closed``."""

    t: Literal["open"] = "open"
    view: str
    id: str


class Send(WireModel):
    """A frame for an open socket."""

    t: Literal["send"] = "send"
    view: str
    id: str
    text: str


class Close(WireModel):
    """Close a socket; without an id, the view is gone and all of its sockets go."""

    t: Literal["close"] = "close"
    view: str
    id: str | None = None


PageMessage = Annotated[Load | ViewHello | Http | Open | Send | Close, Field(discriminator="t")]
PAGE_MESSAGES: TypeAdapter[PageMessage] = TypeAdapter(PageMessage)


class Code(WireModel):
    """The panel's code: the module and its style sheet in the two buffers; none when missing."""

    t: Literal["code"] = "code"
    view: str
    missing: str | None = None
    """Why there is no code and what to do; then there are no buffers."""


class Ready(WireModel):
    """Answers ``hello``."""

    t: Literal["ready"] = "ready"
    view: str
    server: bool
    """Whether the server answers; ``gone`` says why not."""
    notebook: str | None
    """Path of the kernel's notebook in the workspace."""
    version: str
    waits: bool
    """Whether the page's messages wait while a cell runs."""


class HttpAnswer(WireModel):
    """Answers ``http``, also when there is no server: then with an error body of ours."""

    t: Literal["http"] = "http"
    view: str
    id: str
    status: int
    content_type: str
    body: str | None
    """The text; null when it is binary and in the message's one buffer."""


class Opened(WireModel):
    """A socket is open."""

    t: Literal["opened"] = "opened"
    view: str
    id: str


class Frame(WireModel):
    """A frame of the server's."""

    t: Literal["frame"] = "frame"
    view: str
    id: str
    text: str


class Closed(WireModel):
    """A socket is closed, or could not be opened."""

    t: Literal["closed"] = "closed"
    view: str
    id: str
    code: int
    """As of a WebSocket; 1006 when the connection was lost."""
    reason: str


class Gone(WireModel):
    """The kernel cannot reach the server."""

    t: Literal["gone"] = "gone"
    view: str
    reason: str
    """What was tried and what to do."""


KernelMessage = Code | Ready | HttpAnswer | Opened | Frame | Closed | Gone

"""Events of a tool call, from the request to its one result.

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.ids import BlobHash, CallId, LongRunId, Version
from jupyter_ai_shoulders.wire.parts import ProviderState, ResultContent
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope

Risk = Literal["read", "write", "execute"]

CallStatus = Literal["ok", "error", "denied", "skipped", "cancelled", "unknown"]


class ToolCall(EventBase):
    """The model requested a tool call; not yet approved."""

    type: Literal["tool-call"] = "tool-call"
    call_id: CallId
    tool: str
    arguments: JsonObject | None
    """Validated arguments, or null when they are invalid (see ``raw`` and ``invalid``)."""
    raw: str | None
    invalid: str | None
    """Why the arguments are invalid, in words for the model and the user."""
    risk: Risk
    external: bool
    title: str
    target: str | None
    """The object of the call, as shown in the conversation ("Cell 4 · analysis.ipynb")."""
    state: ProviderState | None = None
    via: Literal["call_tool"] | None = None
    """The tool through which the call was made; its arguments are then in ``raw``, verbatim."""
    package: str | None = None
    """The installed package that provides the tool; null for a built-in one."""


class ToolStart(EventBase):
    """A call is about to take effect; committed and synced before it does."""

    type: Literal["tool-start"] = "tool-start"
    call_id: CallId
    pid: int | None = None
    process_start: str | None = None
    kernel_id: str | None = None
    before_version: Version | None = None
    """Version of the target before; if unchanged after a crash, the call was not applied."""
    expected_version: Version | None = None
    """Version of the target afterwards; if found after a crash, the call was applied."""
    in_page: bool = False
    """The target is a document open in a page, whose unsaved text is not in the file."""


class ToolProgress(EventBase):
    """Output of a running call, streamed."""

    type: Literal["tool-progress"] = "tool-progress"
    call_id: CallId
    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


class ToolResult(EventBase):
    """The one result of a call."""

    type: Literal["tool-result"] = "tool-result"
    call_id: CallId
    tool: str
    status: CallStatus
    result: ToolEnvelope
    content: tuple[ResultContent, ...]
    """Content for the model, created once."""
    duration_ms: int
    handle: BlobHash | None = None
    """Blob with the whole output when ``content`` is a digest."""
    after_version: Version | None = None
    seen: tuple[SeenVersion, ...] = ()
    """Versions this conversation has read or written through this call."""
    run: LongRunId | None = None
    """The background run started by the call, which ends with a ``run-end``."""


class RunEnd(EventBase):
    """A background run of a call has ended.

    Logged between two steps or outside turns; the model sees it in the next request.
    """

    type: Literal["run-end"] = "run-end"
    call_id: CallId
    tool: str
    title: str
    """Title of the call ("Run cell 4")."""
    run: LongRunId
    status: CallStatus
    """``unknown`` when the server was killed during the run."""
    result: ToolEnvelope
    content: tuple[ResultContent, ...]
    """Content for the model, created once."""
    duration_ms: int
    handle: BlobHash | None = None
    """Blob with the whole output when ``content`` is a digest."""


class ArtifactShare(EventBase):
    """A file was shared into the conversation."""

    type: Literal["artifact-share"] = "artifact-share"
    call_id: CallId
    name: str
    media_type: str
    size: int
    description: str | None

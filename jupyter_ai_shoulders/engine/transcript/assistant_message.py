"""Collects the model's reply of one step and the results of its calls.

Used by ``engine.transcript.messages``. Knows which parts of a reply a provider accepts back, and
which parts of a result are data from others.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from jupyter_ai_shoulders.engine.guardrails.untrusted_text import mark_untrusted_content
from jupyter_ai_shoulders.engine.transcript.unwrap_call_tool import call_as_sent
from jupyter_ai_shoulders.tools.mcp.names import is_server_tool
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ReasoningPart,
    ResultContent,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    UserPart,
)

NO_RESULT = "The call was interrupted; whether it took effect is not known."
"""The result of a call whose own result is not in the log."""

_OWN_WORDS = frozenset({"todo", "complete", "clarify", "share_artifact", "load_tools"})
"""Tools whose results contain only text of the engine or the user."""
_OUTSIDE = frozenset({"ok", "error"})
"""Results with content a tool read; all others are the engine's words."""

PartEvent = (
    ev.TextStart
    | ev.ReasoningStart
    | ev.TextDelta
    | ev.ReasoningDelta
    | ev.TextEnd
    | ev.ReasoningEnd
)


@dataclass(slots=True)
class _PartBuilder:
    is_text: bool
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _Called:
    part: ToolCallPart
    label: str
    result: ToolResultPart | None = None


@dataclass(slots=True)
class AssistantMessageBuilder:
    """Collects the events of one reply, in order."""

    parts: list[AssistantPart] = field(default_factory=list[AssistantPart])
    open: _PartBuilder | None = None
    complete: bool = False
    """Whether the provider completed the reply."""
    cut: bool = False
    """Whether the reply broke off; later usage does not complete it."""
    calls: dict[CallId, _Called] = field(default_factory=dict[CallId, _Called])

    def add_part(self, event: PartEvent) -> None:
        """Add a piece of text or reasoning."""
        match event:
            case ev.TextStart() | ev.ReasoningStart():
                self.open = _PartBuilder(isinstance(event, ev.TextStart))
            case ev.TextDelta() | ev.ReasoningDelta():
                if self.open is not None:
                    self.open.pieces.append(event.text)
            case ev.TextEnd() | ev.ReasoningEnd():
                text = "".join(self.open.pieces) if self.open else ""
                kind = TextPart if isinstance(event, ev.TextEnd) else ReasoningPart
                self.parts.append(kind(text=text, state=event.state))
                self.open = None

    def add_call(self, event: ev.ToolCall) -> None:
        """Add a call as the model made it."""
        tool, arguments = call_as_sent(event)
        call = ToolCallPart(
            call_id=event.call_id, tool=tool, arguments=arguments, state=event.state
        )
        self.parts.append(call)
        label = " · ".join(filter(None, (event.tool, event.target)))
        self.calls[event.call_id] = _Called(call, label)

    def add_result(self, event: ev.ToolResult, secret: str) -> None:
        """Add a result; ignores calls of other replies. ``secret`` marks data."""
        called = self.calls.get(event.call_id)
        if called is not None:
            called.result = ToolResultPart(
                call_id=event.call_id,
                tool=called.part.tool,
                content=_content(event, called.label, secret),
                is_error=event.status != "ok",
            )

    def note_usage(self) -> None:
        """Mark the reply as complete: the provider reports usage at its end."""
        self.complete = self.complete or not self.cut

    @property
    def answered(self) -> bool:
        """Whether every call has its result."""
        return all(called.result is not None for called in self.calls.values())

    def message(self) -> AssistantMessage | None:
        """Return the text and calls of the reply.

        Trailing reasoning is left out: Anthropic refuses a message that ends with it.
        """
        parts = list(self.parts)
        if self.open is not None and self.open.is_text:
            parts.append(TextPart(text="".join(self.open.pieces)))
        kept = [part for part in parts if _says_something(part)]
        while kept and isinstance(kept[-1], ReasoningPart):
            kept.pop()
        return AssistantMessage(parts=tuple(kept)) if kept else None

    def has_result_for(self, call_id: CallId | None) -> bool:
        """Return whether the call has its result."""
        called = self.calls.get(call_id) if call_id else None
        return called is not None and called.result is not None and not called.result.is_error

    def call_results(self) -> list[ToolResultPart]:
        """Return one result per call, in the order of the calls."""
        return [called.result or _no_result(called.part) for called in self.calls.values()]


def _says_something(part: AssistantPart) -> bool:
    match part:
        case TextPart():
            return bool(part.text.strip())
        case ReasoningPart():
            return bool(part.text) or part.state is not None
        case ToolCallPart():
            return True


def _content(event: ev.ToolResult, label: str, secret: str) -> tuple[ResultContent, ...]:
    """Return a result's content; text that a tool read is marked as data."""
    own = event.tool in _OWN_WORDS and not _describes_server(event)
    if own or event.status not in _OUTSIDE:
        return event.content
    return mark_untrusted_content(event.content, label, secret)


def _describes_server(event: ev.ToolResult) -> bool:
    """Return whether a result of ``load_tools`` may hold texts of an MCP server."""
    if event.tool == "load_tools" and event.status == "error":  # may quote why it did not start
        return True
    data = event.result.data if event.result else None
    names = data.get("tools") if isinstance(data, dict) else None
    return isinstance(names, list) and any(is_server_tool(str(name)) for name in names)


def background_run_message(event: ev.RunEnd, secret: str) -> tuple[UserPart, ...]:
    """Return the message to the model about the end of a background run."""
    seconds = event.duration_ms / 1000
    how = f"status {event.status}, {seconds:.0f} s"
    heading = f"[notice] “{event.title}” ({event.run}) that you started has ended: {how}."
    content = mark_untrusted_content(event.content, f"{event.tool} · {event.title}", secret)
    return (TextPart(text=heading), *content)


def _no_result(call: ToolCallPart) -> ToolResultPart:
    content = (TextPart(text=NO_RESULT),)
    return ToolResultPart(call_id=call.call_id, tool=call.tool, content=content, is_error=True)

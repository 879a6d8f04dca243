"""Tracks which texts in a conversation the user did not type, from its events. Pure.

Called by ``engine.loop.event_reducer``. A source stays once it was read: its text remains in the
conversation, also in a summary (see docs/design/tools.md#taint).
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.core.frozen_values import replace
from jupyter_ai_shoulders.core.injection_safe_names import (
    is_injection_safe_id,
    is_injection_safe_name,
)
from jupyter_ai_shoulders.engine.guardrails.untrusted_text import READ_SOURCE, UNREVIEWED_SOURCE
from jupyter_ai_shoulders.engine.loop.state import SessionState
from jupyter_ai_shoulders.tools.agent.withheld_tools import DELEGATE
from jupyter_ai_shoulders.tools.load_tools import LOAD_TOOLS
from jupyter_ai_shoulders.tools.mcp.names import is_server_tool
from jupyter_ai_shoulders.tools.permissions.grants import normalize_path, target_of
from jupyter_ai_shoulders.tools.permissions.taint import MAX_SOURCES, TaintSource, taint_source
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.hidden_characters import visible
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    ImageAttachment,
    McpPromptAttachment,
    McpResourceAttachment,
    MessageContext,
    ThreadAttachment,
)

_PLAN = "run_plan"


def update_taint(state: SessionState, event: ev.Event) -> SessionState:
    """Return the state with the event's text sources added."""
    match event:
        case ev.SessionCreate() | ev.SessionUpdate():
            return _about(state, event)
        case ev.MessageAdd():
            return _message(state, event)
        case ev.ToolResult() if event.status in {"ok", "error"} or event.tool == DELEGATE:
            return _read(state, event)
        case ev.ContextAdd(role="meta"):
            return _added(state, event.source)
        case ev.Notice(code="event_damaged"):
            return _with(state, TaintSource("a part of the conversation that was lost"))
        case _:
            return state


def _added(state: SessionState, source: str) -> SessionState:
    if source.startswith(UNREVIEWED_SOURCE):
        return _with(state, TaintSource(source.removeprefix(UNREVIEWED_SOURCE)))
    if source.startswith(READ_SOURCE):
        return _with(state, _of(source.removeprefix(READ_SOURCE)))
    return state


def _about(state: SessionState, event: ev.SessionCreate | ev.SessionUpdate) -> SessionState:
    """Record the thread's document, and the sources its opening agent had read: it wrote the
    prompt.
    """
    anchor = event.session.anchor
    state = replace(state, about=anchor and normalize_path(anchor.document))
    if isinstance(event, ev.SessionCreate) and event.opener is not None:
        for source in event.opener.sources:
            state = _with(state, TaintSource(source.label, source.path))
    return state


def _message(state: SessionState, event: ev.MessageAdd) -> SessionState:
    """Record the text that accompanied the user's message."""
    context = event.context
    if context is not None:
        document = context.active_document
        shown = filter(None, (document, *context.open_documents))
        state = replace(
            state,
            document=document and normalize_path(document),
            opened=frozenset(map(normalize_path, shown)),
        )
        for path in _named_documents(context):
            state = _with(state, _of(path))
        if context.selection is not None and context.selection.text.strip():
            state = _with(state, _of(document or "a selection"))
    if state.about is not None:  # the prompt contains the anchored text
        state = _with(state, _of(state.about))
    for attachment in event.attachments:
        state = _with(state, _attached(attachment))
    return state


def _named_documents(context: MessageContext) -> Iterator[str]:
    """Yield the documents whose names or cell ids could be read as instructions."""
    document = context.active_document
    for path in (document, *context.open_documents):
        if path is not None and not is_injection_safe_name(path):
            yield path
    if context.active_cell_id is not None and not is_injection_safe_id(context.active_cell_id):
        yield document or "a notebook"


def _attached(attachment: Attachment) -> TaintSource:
    match attachment:
        case ImageAttachment():
            return TaintSource("an attached picture")
        case ThreadAttachment():
            return TaintSource("another conversation")
        case McpResourceAttachment() | McpPromptAttachment():
            return TaintSource(f"the MCP server {attachment.server}")
        case _:
            return _of(attachment.path)


def _read(state: SessionState, event: ev.ToolResult) -> SessionState:
    call = state.turn.call(event.call_id) if state.turn else None
    if call is None:
        return state
    loaded = (call.arguments or {}).get("category") if call.tool == LOAD_TOOLS else None
    if isinstance(loaded, str) and is_server_tool(loaded):  # errors quote the server too
        return _with(state, TaintSource(f"what {visible(loaded)[:80]} says about its tools"))
    if call.tool == DELEGATE:  # its summary may contain whatever the sub-agent read
        for source in _delegated(event):
            state = _with(state, source)
        return state
    if call.tool == _PLAN:
        for source in _planned(call.arguments or {}):
            state = _with(state, source)
        return state
    source = taint_source(
        call.tool,
        target_of(call.arguments or {}, call.tool),
        external=call.external,
        foreign=call.package is not None,
        failed=event.status == "error",
        document=state.document,
    )
    state = state if source is None else _with(state, source)
    if event.status == "error":  # a refusal shows the text that was not read or was changed
        for path in dict.fromkeys(seen.path for seen in event.seen):
            state = _with(state, _of(path))
    return state


def _delegated(event: ev.ToolResult) -> Iterator[TaintSource]:
    """Yield the sources of a sub-agent, as the host wrote them into its result."""
    data = event.result.data
    sources = data.get("sources") if isinstance(data, dict) else None
    for source in sources if isinstance(sources, list) else ():
        if isinstance(source, dict) and isinstance(label := source.get("label"), str):
            path = source.get("path")
            yield TaintSource(label, path if isinstance(path, str) else None)


def _planned(plan: JsonObject) -> Iterator[TaintSource]:
    """Yield the documents named by the plan's steps, or that a step may find any."""
    steps = plan.get("steps")
    for step in steps if isinstance(steps, list) else [None]:
        arguments = step.get("args") if isinstance(step, dict) else None
        path = target_of(arguments).path if isinstance(arguments, dict) else None
        yield TaintSource("what a plan read") if path is None else _of(path)


def _of(path: str) -> TaintSource:
    return TaintSource(normalize_path(path), normalize_path(path))


def _with(state: SessionState, source: TaintSource) -> SessionState:
    if source in state.taint or len(state.taint) >= MAX_SOURCES:
        return state
    return replace(state, taint=(*state.taint, source))

"""Which strangers' texts a conversation holds, from its events: pure (chapter 13, taint).

Called by ``engine.fold``. A source stays once it was read, for its text stays in the conversation,
also where a summary stands for it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from jupyter_ai_shoulders.engine.state import State
from jupyter_ai_shoulders.engine.untrusted import UNREVIEWED_SOURCE
from jupyter_ai_shoulders.tools.grants import clean_path, target_of
from jupyter_ai_shoulders.tools.taint import MOST_SOURCES, Source, source_of
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.messages import (
    Attachment,
    FileAttachment,
    FolderAttachment,
    OutputAttachment,
)

_PLAN = "run_plan"
_MAKERS = frozenset({"create_file", "create_notebook"})


def tainted(state: State, event: ev.Event) -> State:
    """Return the state with what an event says about where its text came from."""
    match event:
        case ev.SessionCreate() | ev.SessionUpdate():
            return _about(state, event)
        case ev.MessageAdd():
            return _heard(state, event)
        case ev.ToolResult() if event.status in {"ok", "error"}:
            return _read(state, event)
        case ev.ContextAdd(role="meta") if event.source.startswith(UNREVIEWED_SOURCE):
            return _with(state, Source(event.source.removeprefix(UNREVIEWED_SOURCE)))
        case ev.Notice(code="event_damaged"):
            return _with(state, Source("a part of the conversation that was lost"))
        case _:
            return state


def _about(state: State, event: ev.SessionCreate | ev.SessionUpdate) -> State:
    """Note where it is pinned, and what the one had read that opened it: it wrote the prompt."""
    anchor = event.session.anchor
    state = replace(state, about=anchor and clean_path(anchor.document))
    if isinstance(event, ev.SessionCreate) and event.opener is not None:
        for source in event.opener.sources:
            state = _with(state, Source(source.label, source.path))
    return state


def _heard(state: State, event: ev.MessageAdd) -> State:
    """Note what the user has open, and what they attached without having it open."""
    context = event.context
    if context is not None:
        shown = [*context.open_documents, context.active_document]
        opened = frozenset(clean_path(path) for path in shown if path)
        state = replace(state, opened=opened)
    if state.about is not None and state.about not in state.opened | state.made:
        state = _with(state, Source(state.about, state.about))  # the prompt holds what stands there
    for attachment in event.attachments:
        path = _attached(attachment)
        if path is not None and path not in state.opened | state.made:
            state = _with(state, Source(path, path))
    return state


def _attached(attachment: Attachment) -> str | None:
    """Return the document whose text an attachment brings along."""
    if isinstance(attachment, FileAttachment | FolderAttachment | OutputAttachment):
        return clean_path(attachment.path)
    return None


def _read(state: State, event: ev.ToolResult) -> State:
    call = state.turn.call(event.call_id) if state.turn else None
    if call is None:
        return state
    target = target_of(call.arguments or {})
    if call.tool in _MAKERS and event.status == "ok" and target.path is not None:
        return replace(state, made=state.made | {target.path})
    vouched = state.opened | state.made
    if call.tool == _PLAN and not _read_only_from(vouched, call.arguments or {}):
        return _with(state, Source("what a plan read"))
    source = source_of(
        call.tool, target, external=call.external, vouched=vouched, foreign=call.package is not None
    )
    state = state if source is None else _with(state, source)
    if event.status == "error":  # a refusal shows the text that was not read, or was changed
        for path in dict.fromkeys(seen.path for seen in event.seen):
            state = state if path in vouched else _with(state, Source(path, path))
    return state


def _read_only_from(vouched: Collection[str], plan: JsonObject) -> bool:
    """Return whether each step of a plan names one of these documents, not one to be found."""
    steps = plan.get("steps")
    given = (
        [step.get("args") for step in steps if isinstance(step, dict)]
        if isinstance(steps, list)
        else []
    )
    targets = [target_of(args if isinstance(args, dict) else {}) for args in given]
    return bool(targets) and all(target.path in vouched for target in targets)


def _with(state: State, source: Source) -> State:
    if source in state.taint or len(state.taint) >= MOST_SOURCES:
        return state
    return replace(state, taint=(*state.taint, source))

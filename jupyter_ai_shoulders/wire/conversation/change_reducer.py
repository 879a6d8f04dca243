"""Reduces changes of cells and files, and the decisions about them.

Part of ``wire.conversation.reducer``. A cell or file has one pending edit over all turns; each turn
that changed it has its own row here.
"""

from __future__ import annotations

from typing import assert_never

from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.conversation.part_updates import copy_with
from jupyter_ai_shoulders.wire.conversation.views import ChangeKind, ChangeView, Conversation
from jupyter_ai_shoulders.wire.ids import TurnId

ChangeEvent = ev.EditPending | ev.EditResolve | ev.CellsChange

_UNREVIEWED_CHANGES: dict[str, ChangeKind] = {"moved": "moved", "outputs": "cleared"}
"""Changes of cells that are not reviewed; only undoing the turn reverts them."""
_FILE_TOOLS = {"rename_file": "moved", "move_file": "moved", "create_notebook": "made"}
"""Tools whose changes are not text edits."""


def reduce_change_event(state: Conversation, event: ChangeEvent) -> Conversation:
    """Reduce an event about a change, or a decision about one."""
    match event:
        case ev.EditPending():
            return _pending(state, event)
        case ev.EditResolve():
            return _resolved(state, event)
        case ev.CellsChange():
            return _finished(state, event)
        case _:
            assert_never(event)


def add_file_change(state: Conversation, event: ev.ToolResult) -> Conversation:
    """Add a file moved by a call, or a notebook created by it."""
    what = _FILE_TOOLS.get(event.tool)
    data = event.result.data
    if what is None or event.status != "ok" or event.turn_id is None or not isinstance(data, dict):
        return state
    path, new_path = data.get("path"), data.get("new_path")
    if not isinstance(path, str):
        return state
    moved = isinstance(new_path, str)
    change = ChangeView(
        turn_id=event.turn_id,
        edit_id=None,
        document=new_path if isinstance(new_path, str) else path,
        cell_id=None,
        what="moved" if moved else "made",
        title="",
        origin=path if moved else None,
        state="done",
        by=None,
    )
    return _with(state, change)


def mark_turn_undone(state: Conversation, turn_id: TurnId | None) -> Conversation:
    """Mark all changes of a turn as undone."""
    if turn_id is None:
        return state
    changes = tuple(
        copy_with(change, state="undone", by="user")
        if change.turn_id == turn_id and change.edit_id is None
        else change
        for change in state.changes
    )
    return copy_with(state, changes=changes)


def _pending(state: Conversation, event: ev.EditPending) -> Conversation:
    again = tuple(
        copy_with(change, state="pending", by=None) if change.edit_id == event.edit_id else change
        for change in state.changes
    )
    state = copy_with(state, changes=again)
    if event.turn_id is None:
        return state
    change = ChangeView(
        turn_id=event.turn_id,
        edit_id=event.edit_id,
        document=event.document,
        cell_id=event.cell_id,
        what=_change_kind(event),
        title=event.title,
        origin=None,
        state="pending",
        by=None,
    )
    return _with(state, change)


def _change_kind(event: ev.EditPending) -> ChangeKind:
    if event.after_version is None:
        return "deleted"
    return "made" if event.before_version is None else "edited"


def _resolved(state: Conversation, event: ev.EditResolve) -> Conversation:
    if event.hunks is not None:
        return state  # a later event reports the rest
    decided = "kept" if event.decision == "keep" else "undone"
    changes = tuple(
        copy_with(change, state=decided, by=event.by) if change.edit_id == event.edit_id else change
        for change in state.changes
    )
    return copy_with(state, changes=changes)


def _finished(state: Conversation, event: ev.CellsChange) -> Conversation:
    if event.turn_id is None or event.restore_id is not None:
        return state
    for deed in event.cells:
        what = _UNREVIEWED_CHANGES.get(deed.what)
        if what is not None:
            change = ChangeView(
                turn_id=event.turn_id,
                edit_id=None,
                document=event.document,
                cell_id=deed.cell_id,
                what=what,
                title=deed.title,
                origin=None,
                state="done",
                by=None,
            )
            state = _with(state, change)
    return state


def _with(state: Conversation, change: ChangeView) -> Conversation:
    """Add a row, or replace the one it updates."""
    for index, before in enumerate(state.changes):
        if _key(before) == _key(change):
            changes = (*state.changes[:index], change, *state.changes[index + 1 :])
            return copy_with(state, changes=changes)
    return copy_with(state, changes=(*state.changes, change))


def _key(change: ChangeView) -> tuple[str | None, ...]:
    edit = change.edit_id
    if edit is not None:
        return change.turn_id, edit
    return change.turn_id, change.document, change.cell_id, change.what

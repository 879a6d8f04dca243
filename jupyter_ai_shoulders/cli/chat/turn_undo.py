"""Undoes and restores the changes of a conversation's last turn. Used by terminals and editors."""

from __future__ import annotations

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.cli.chat.undo_summary import find_undo, last_turn, undo_summary_lines
from jupyter_ai_shoulders.wire.api.commands import RestoreSession, UndoTurn
from jupyter_ai_shoulders.wire.ids import SessionId


def undo_last_turn(backend: ChatBackend, session_id: SessionId) -> list[str]:
    """Undo the changes of documents by the last turn; return what was done, in lines."""
    events = backend.past(session_id)
    turn_id = last_turn(events)
    if turn_id is None:
        return ["There is no turn to undo."]
    if find_undo(events, turn_id) is not None:
        return ["The last turn is already undone; /redo brings it back."]
    return undo_summary_lines(backend.undo_turn(session_id, UndoTurn(turn_id=turn_id)))


def redo_last_turn(backend: ChatBackend, session_id: SessionId) -> list[str]:
    """Revert the undo of the last turn; return what was done, in lines."""
    events = backend.past(session_id)
    turn_id = last_turn(events)
    undoing = None if turn_id is None else find_undo(events, turn_id)
    if undoing is None:
        return ["The last turn was not undone."]
    command = RestoreSession(seq=undoing.seq, what=("notebook", "files"))
    return undo_summary_lines(backend.restore(session_id, command))

"""Rules for editing and resending messages; used by ``engine.session.messages``.

The conversation continues from the edited message. Later events stay in the log, where a fork finds
them; documents are unchanged.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.engine.request.session_index import SessionIndex
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.wire.events import Replaced
from jupyter_ai_shoulders.wire.ids import MessageId


def find_edit_start(driver: SessionDriver, message_id: MessageId) -> int:
    """Return the first event that the edit hides.

    Raises ``Conflict`` (a turn runs, messages are queued, an answer), ``NotFound``, also for hidden
    messages.
    """
    if driver.is_running:
        raise Conflict(
            "A turn is running, so the conversation cannot be rewound now.",
            code="turn_running",
            hint="Stop the turn, then edit the message.",
            retryable=True,
        )
    seq = driver.index.said.get(message_id)
    if seq is None:
        raise NotFound(f"This conversation shows no message {message_id} that could be edited.")
    if message_id in driver.index.answers:
        raise Conflict(
            "The message answered a question of the agent and cannot be edited by itself.",
            hint="Edit the message before the question.",
        )
    if driver.state.queue:
        raise Conflict(
            "Messages are still waiting to be read by the agent.",
            hint="Remove them or send something first.",
        )
    return seq


def replaced_messages(
    message_id: MessageId, seq: int, before: SessionIndex, after: SessionIndex
) -> Replaced:
    """Return what the edited message replaces; ``after`` already hides it."""
    hidden = sum(1 for said in before.said.values() if said >= seq)
    return Replaced(message_id=message_id, seq=seq, messages=hidden, todo=after.todo)

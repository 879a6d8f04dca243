"""What the user's own wish for a summary of earlier messages needs (`/compact`).

It is logged as a notice, so that a restart keeps it, and carried out by the next turn
(``engine.request.builder``), which has a model and a budget. Used by ``engine.engine``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import Conflict, PolicyRefusal
from jupyter_ai_shoulders.core.summaries import CompactionMode
from jupyter_ai_shoulders.engine.request.session_index import COMPACTION_WANTED
from jupyter_ai_shoulders.engine.session.driver import SessionDriver
from jupyter_ai_shoulders.wire.events import Notice


def check_compaction(driver: SessionDriver, mode: CompactionMode) -> None:
    """Raise ``PolicyRefusal`` or ``Conflict`` where earlier messages cannot be summarised now."""
    if mode == "off":
        raise PolicyRefusal(
            "Summaries of earlier messages are switched off here.",
            code="disabled",
            hint="The administrator can allow them: Shoulders.compaction.",
        )
    if driver.state.turn is not None:
        raise Conflict(
            "A turn is open, so earlier messages cannot be summarised now.",
            code="turn_running",
            hint="Wait for the turn to end, or stop it.",
            retryable=True,
        )
    if not driver.can_compact:
        raise Conflict(
            "There is nothing to summarise yet: the first message and the latest are always kept.",
            hint="Summaries help in longer conversations.",
        )


def compaction_request_notice() -> Notice:
    """Return what is logged of the wish."""
    return Notice(
        level="info",
        code=COMPACTION_WANTED,
        text="Earlier messages are summarised for the model before your next message is answered; "
        "you still see all of them.",
    )

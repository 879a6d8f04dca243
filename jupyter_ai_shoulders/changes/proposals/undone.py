"""Marks proposals of task threads as ``undone`` when their change is undone in review.

An applied proposal of a thread is reviewed (see docs/design/task-threads.md#runs-and-proposals).
``UndoneProposalTracker`` follows the decisions of the review and catches up on missed ones at
start. Made by ``host.build``.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import NotFound, StateUnavailable
from jupyter_ai_shoulders.storage.base import EventLog, LoggedEvent
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.events import (
    EditPending,
    EditResolve,
    Event,
    ProposalAdd,
    ProposalResolve,
)
from jupyter_ai_shoulders.wire.ids import CellId, EditId, ProposalId, SessionId

KINDS = frozenset({"proposal-add", "proposal-resolve", "edit-pending", "edit-resolve"})
APPLIED = frozenset({"applied", "edited"})

_log = logging.getLogger(__name__)
_Key = str | CellId
"""A cell id (its notebook may be renamed), or the path of a file."""


class UndoneProposalTracker:
    """An ``EventListener`` that marks undone proposals."""

    def __init__(self, log: EventLog) -> None:
        self._log = log

    def on_event(self, logged: LoggedEvent) -> None:
        """Check the session of an undone edit once all listeners have the event."""
        event = logged.event
        if isinstance(event, EditResolve) and event.decision == "undo" and event.hunks is None:
            asyncio.get_running_loop().call_soon(self._append_undone, event.session_id)

    async def catch_up(self) -> None:
        """Mark proposals whose undo was not recorded. Raises ``StateUnavailable``."""
        decided = (logged.event for logged in self._log.find({"proposal-resolve"}))
        sessions = {
            event.session_id
            for event in decided
            if isinstance(event, ProposalResolve) and event.state in APPLIED
        }
        for session_id in sorted(sessions):
            self._append_undone(session_id)
            await asyncio.sleep(0)

    def _append_undone(self, session_id: SessionId) -> None:
        try:
            events = [logged.event for logged in self._log.find(KINDS, session_id)]
            for proposal in find_undone_proposals(events):
                resolve = ProposalResolve(
                    turn_id=proposal.turn_id, proposal_id=proposal.id, state="undone", by="user"
                )
                self._log.append(session_id, resolve)
                crash_point("proposals.undone.said")
        except NotFound:
            _log.debug("Conversation %s is gone", session_id)
        except StateUnavailable:
            _log.warning("What was undone in %s could not be noted", session_id, exc_info=True)


def find_undone_proposals(events: Iterable[Event]) -> list[Proposal]:
    """Return the proposals of one session whose whole change was undone in review.

    A proposal belongs to the pending edit of its text at the time it is applied.
    """
    edits: dict[EditId, _Key] = {}
    proposals: dict[ProposalId, Proposal] = {}
    waiting: dict[_Key, list[ProposalId]] = defaultdict(list)
    undone: dict[ProposalId, None] = {}
    for event in events:
        match event:
            case ProposalAdd():
                proposals[event.proposal.id] = event.proposal
            case EditPending():
                edits.setdefault(event.edit_id, event.cell_id or event.document)
            case EditResolve(hunks=None):
                key = edits.pop(event.edit_id, None)
                found = [] if key is None else waiting.pop(key, [])
                undone |= dict.fromkeys(found if event.decision == "undo" else ())
            case ProposalResolve():
                undone.pop(event.proposal_id, None)
                proposal = proposals.get(event.proposal_id)
                if proposal is not None and event.state in APPLIED:
                    key = proposal.cell_id or proposal.document
                    if key in edits.values():
                        waiting[key].append(proposal.id)
            case _:
                pass
    return [proposals[proposal_id] for proposal_id in undone]

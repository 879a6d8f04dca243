"""Proposals: changes the agent wants and the user decides on (chapters 06 and 07).

They live in the event logs: ``proposal-add`` makes one, ``proposal-resolve`` decides it. Asked by
the handlers of ``GET proposals`` and ``POST proposals/{id}``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import aclosing

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError
from jupyter_ai_shoulders.engine.restore.recorder import Doer, Recorder
from jupyter_ai_shoulders.notebook.base import Applied, CellRunner, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.commands import DecideProposal
from jupyter_ai_shoulders.wire.edits import Proposal, ProposalState
from jupyter_ai_shoulders.wire.events import Event, ProposalAdd, ProposalResolve
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.notebooks import CellSource, NotebookCell

log = logging.getLogger(__name__)


class Proposals:
    """Lists proposals and carries out what the user decides."""

    def __init__(
        self,
        event_log: EventLog,
        notebooks: Notebooks,
        runner: CellRunner,
        ids: IdSource,
        recorder: Recorder | None = None,
    ) -> None:
        """``recorder`` lets restores take back what was applied as the agent wrote it."""
        self._log = event_log
        self._notebooks = recorder.notebooks(notebooks) if recorder else notebooks
        self._recorder = recorder
        self._runner = runner
        self._ids = ids
        self._deciding = asyncio.Lock()
        self._runs: set[asyncio.Task[None]] = set()

    def list(self, may_see: Callable[[SessionId], bool] = lambda _session: True) -> list[Proposal]:
        """Return the proposals of the sessions ``may_see`` allows, oldest first, as they stand."""
        events = self._log.find(["proposal-add", "proposal-resolve"])
        folded = fold_proposals(logged.event for logged in events)
        return [proposal for proposal in folded if may_see(proposal.session_id)]

    def get(self, proposal_id: ProposalId) -> Proposal:
        """Return a proposal as it stands. Raises ``NotFound``."""
        for proposal in self.list():
            if proposal.id == proposal_id:
                return proposal
        raise NotFound(f"There is no proposal {proposal_id}.")

    async def decide(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """Apply or dismiss a proposal; return it in its new state.

        ``applied`` or ``edited``: the cell has the text. ``conflict``: the cell is not what the
        user saw beside the proposal; nothing was written, and a new proposal shows it as it is.
        ``stale``: the cell is gone. Raises ``NotFound``, ``Conflict`` (``already_answered``, page
        not responding) and what reading the notebook raises.
        """
        async with self._deciding:
            return await self._decide(self.get(proposal_id), command)

    async def aclose(self) -> None:
        """Stop the runs that decisions asked for."""
        for task in self._runs:
            task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)

    async def _decide(self, proposal: Proposal, command: DecideProposal) -> Proposal:
        if proposal.state != "proposed":
            raise Conflict(
                f"The proposal was decided already: it is {proposal.state}.",
                code="already_answered",
            )
        if command.decision == "dismiss":
            return await self._resolve(proposal, "dismissed")
        return await self._apply(proposal, command)

    async def _apply(self, proposal: Proposal, command: DecideProposal) -> Proposal:
        if proposal.cell_id is None:
            raise Conflict("Proposals on files cannot be applied yet.", code="not_a_notebook")
        text = proposal.new if command.text is None else command.text
        notebook = self._notebooks.open(proposal.document)
        edit = CellSource(cell_id=proposal.cell_id, source=text)
        if self._recorder is not None and text == proposal.new:
            self._recorder.work_for(Doer(proposal.session_id, proposal.id, by="user"))
        try:
            outcome = await notebook.apply([edit], {proposal.cell_id: proposal.current_version})
        finally:
            if self._recorder is not None:
                self._recorder.work_for(None)
        crash_point("proposals.cell.changed")
        if isinstance(outcome, Applied):
            if command.run:
                self._run(proposal.document, proposal.cell_id)
            return await self._resolve(proposal, "applied" if text == proposal.new else "edited")
        cell = (await notebook.read()).cell(proposal.cell_id)
        if cell is None:
            return await self._resolve(proposal, "stale")
        if outcome.conflicts[0].reason == "protected":
            raise Conflict(
                "The cell is protected: its metadata says it may not be edited.",
                code="cell_protected",
                hint="Lift the protection in the cell's properties, then apply again.",
            )
        resolved = await self._resolve(proposal, "conflict")
        self._propose_again(proposal, text, cell)
        return resolved

    def _propose_again(self, proposal: Proposal, text: str, cell: NotebookCell) -> None:
        """Put the same change beside the text that stands there now."""
        again = proposal.model_copy(
            update={
                "id": ProposalId(self._ids.new("proposal")),
                "new": text,
                "current": cell.source,
                "current_version": cell.version,
                "reason": "The cell was changed before the proposal was applied.",
            }
        )
        event = ProposalAdd(turn_id=proposal.turn_id, call_id=None, proposal=again)
        self._log.append(proposal.session_id, event)

    async def _resolve(self, proposal: Proposal, state: ProposalState) -> Proposal:
        event = ProposalResolve(
            turn_id=proposal.turn_id, proposal_id=proposal.id, state=state, by="user"
        )
        self._log.append(proposal.session_id, event)
        crash_point("proposals.decision.recorded")
        await self._log.sync()
        return proposal.model_copy(update={"state": state})

    def _run(self, path: str, cell_id: CellId) -> None:
        task = asyncio.create_task(self._run_to_end(path, cell_id))
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    async def _run_to_end(self, path: str, cell_id: CellId) -> None:
        """Run the cell as the user asked; its outputs are in the notebook."""
        try:
            async with aclosing(self._runner.run(path, cell_id)) as items:
                async for _ in items:
                    pass
        except ShouldersError:
            log.warning("The cell of an applied proposal did not run", exc_info=True)


def fold_proposals(events: Iterable[Event]) -> list[Proposal]:
    """Return the proposals these events make, in their present states."""
    proposals: dict[ProposalId, Proposal] = {}
    for event in events:
        if isinstance(event, ProposalAdd):
            session_id = event.session_id or event.proposal.session_id
            proposals[event.proposal.id] = event.proposal.model_copy(
                update={"session_id": session_id}
            )
        elif isinstance(event, ProposalResolve) and event.proposal_id in proposals:
            decided = proposals[event.proposal_id]
            proposals[event.proposal_id] = decided.model_copy(update={"state": event.state})
    return list(proposals.values())

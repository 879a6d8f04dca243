"""Lists proposals and applies or dismisses them (see docs/design/files-and-review.md#proposals).

Proposals live in the event logs: ``proposal-add`` makes one, ``proposal-resolve`` decides it. Used
by the handlers of ``GET proposals`` and ``POST proposals/{id}``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Protocol

from jupyter_ai_shoulders.changes.proposals.targets import (
    CellTarget,
    CurrentText,
    FileTarget,
    ProposalActor,
    ProposalTarget,
)
from jupyter_ai_shoulders.changes.recording.recorder import ChangeRecorder
from jupyter_ai_shoulders.changes.recording.recording_wrappers import RecordedNotebooks
from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.core.errors import Conflict, NotFound, ShouldersError
from jupyter_ai_shoulders.core.text_merge import merge_preferring, merge_words
from jupyter_ai_shoulders.files.base import TextDocuments
from jupyter_ai_shoulders.notebook.base import CellRun, CellRunner, Notebooks
from jupyter_ai_shoulders.storage.base import EventLog
from jupyter_ai_shoulders.wire.api.commands import DecideProposal
from jupyter_ai_shoulders.wire.edits import Proposal, ProposalState
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event, ProposalAdd, ProposalResolve
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId

ATTEMPTS = 3
"""Merge attempts while the user keeps typing."""

log = logging.getLogger(__name__)


class RunListener(Protocol):
    """Receives the outcomes of runs started by a decision.

    Implemented by ``host.threads.run_notifications``.
    """

    def is_thread(self, session_id: SessionId) -> bool:
        """Return whether the session is a task thread, which is notified of such runs."""
        ...

    async def run_ended(self, proposal: Proposal, outcome: CellRun | ErrorInfo) -> None:
        """Handle the outcome of running a proposal's cell, or the error that prevented the run."""
        ...


class ProposalService:
    """Lists proposals and carries out the user's decisions."""

    def __init__(
        self,
        event_log: EventLog,
        notebooks: Notebooks,
        runner: CellRunner,
        ids: IdSource,
        recorder: ChangeRecorder | None = None,
        *,
        texts: TextDocuments | None = None,
        listener: RunListener | None = None,
        current_path: Callable[[str], str] = str,
    ) -> None:
        """With a ``recorder``, restores can undo applied proposals.

        ``current_path`` maps the path of a document to its path after renames.
        """
        self._listener = listener
        self._current_path = current_path
        self._texts = texts
        self._log = event_log
        self._notebooks = RecordedNotebooks(notebooks, recorder) if recorder else notebooks
        self._recorder = recorder
        self._runner = runner
        self._ids = ids
        self._deciding = asyncio.Lock()
        self._runs: set[asyncio.Task[None]] = set()

    def list(self, may_see: Callable[[SessionId], bool] = lambda _session: True) -> list[Proposal]:
        """Return the current proposals of the visible sessions, oldest first."""
        events = self._log.find(["proposal-add", "proposal-resolve"])
        folded = fold_proposals(logged.event for logged in events)
        return [proposal for proposal in folded if may_see(proposal.session_id)]

    def get(self, proposal_id: ProposalId) -> Proposal:
        """Return a proposal in its current state. Raises ``NotFound``."""
        for proposal in self.list():
            if proposal.id == proposal_id:
                return proposal
        raise NotFound(f"There is no proposal {proposal_id}.")

    async def decide(self, proposal_id: ProposalId, command: DecideProposal) -> Proposal:
        """Apply or dismiss a proposal; return it in its new state.

        ``applied``: the cell or file has the proposed text. ``edited``: it has the user's version,
        or a merge with changes made since. ``conflict``: the user changed the same lines; nothing
        was written, and a new proposal shows the current text. ``stale``: the cell or file no
        longer exists. Raises ``NotFound``, ``Conflict`` (``already_answered``, page not responding)
        and the errors of reading and changing the document.
        """
        async with self._deciding:
            return await self._decide(self.get(proposal_id), command)

    async def settled(self) -> None:
        """Wait for the runs that decisions started."""
        await asyncio.gather(*self._runs, return_exceptions=True)

    async def aclose(self) -> None:
        """Cancel the runs that decisions started."""
        for task in self._runs:
            task.cancel()
        await asyncio.gather(*self._runs, return_exceptions=True)

    async def _decide(self, proposal: Proposal, command: DecideProposal) -> Proposal:
        if proposal.state != "proposed":
            raise Conflict(
                f"The proposal has already been decided: it is {proposal.state}.",
                code="already_answered",
            )
        if command.decision == "dismiss":
            return await self._resolve(proposal, "dismissed")
        return await self._apply(proposal, command)

    async def _apply(self, proposal: Proposal, command: DecideProposal) -> Proposal:
        text = proposal.new if command.text is None else command.text
        old = proposal.old if command.text is None or command.base is None else command.base
        rewritten = await asyncio.to_thread(_is_rewritten, proposal, old, text)
        target = self._target(proposal, rewritten=rewritten)
        current = await target.current()
        attempts = ATTEMPTS
        while current is not None:
            merged = await asyncio.to_thread(merge_words, old, current.text, text)
            if merged is None or attempts == 0:
                # Before the decision is recorded: a crash in between must not lose the user's text.
                self._add_conflict_proposal(proposal, old, text, current)
                return await self._resolve(proposal, "conflict")
            if await target.write(merged, current.version):
                return await self._applied(proposal, command, merged)
            current, attempts = await target.current(), attempts - 1  # the user is typing
        return await self._resolve(proposal, "stale")

    def _is_thread(self, proposal: Proposal) -> bool:
        """Return whether a task thread made the proposal.

        Its applied change is reviewed, and the thread is notified of runs.
        """
        return self._listener is not None and self._listener.is_thread(proposal.session_id)

    def _target(self, proposal: Proposal, *, rewritten: bool) -> ProposalTarget:
        """Return the document to change. Raises the errors of opening a notebook."""
        actor = ProposalActor(self._recorder, proposal, self._is_thread(proposal), rewritten)
        if proposal.cell_id is not None:
            notebook = self._notebooks.open(proposal.document)
            return CellTarget(notebook, proposal.cell_id, actor)
        if self._texts is None:
            raise Conflict("Proposals on files cannot be applied here.", code="not_a_notebook")
        return FileTarget(self._texts, self._current_path(proposal.document), actor)

    async def _applied(self, proposal: Proposal, command: DecideProposal, text: str) -> Proposal:
        crash_point("proposals.cell.changed")
        state: ProposalState = "applied" if text == proposal.new else "edited"
        if not command.run or proposal.cell_id is None:
            return await self._resolve(proposal, state)
        listener = self._listener if self._is_thread(proposal) else None
        decided = await self._resolve(proposal, state, run=listener is not None)
        self._run(decided, proposal.cell_id, listener)
        return decided

    def _add_conflict_proposal(
        self, proposal: Proposal, old: str, text: str, current: CurrentText
    ) -> None:
        """Propose the same change against the current text."""
        what = "file" if proposal.cell_id is None else "cell"
        conflict = proposal.model_copy(
            update={
                "id": ProposalId(self._ids.new("proposal")),
                "old": old,
                "new": text,
                "current": current.text,
                "current_version": current.version,
                "reason": f"The {what} was changed before the proposal was applied.",
            }
        )
        event = ProposalAdd(turn_id=proposal.turn_id, call_id=None, proposal=conflict)
        self._log.append(proposal.session_id, event)

    async def _resolve(
        self, proposal: Proposal, state: ProposalState, *, run: bool = False
    ) -> Proposal:
        event = ProposalResolve(
            turn_id=proposal.turn_id, proposal_id=proposal.id, state=state, by="user", run=run
        )
        self._log.append(proposal.session_id, event)
        crash_point("proposals.decision.recorded")
        await self._log.sync()
        return proposal.model_copy(update={"state": state})

    def _run(self, proposal: Proposal, cell_id: CellId, listener: RunListener | None) -> None:
        task = asyncio.create_task(self._run_to_end(proposal, cell_id, listener))
        self._runs.add(task)
        task.add_done_callback(self._runs.discard)

    async def _run_to_end(
        self, proposal: Proposal, cell_id: CellId, listener: RunListener | None
    ) -> None:
        """Run the cell of an applied proposal; its outputs go to the notebook."""
        outcome: CellRun | ErrorInfo | None = None
        try:
            async with aclosing(self._runner.run(proposal.document, cell_id)) as items:
                async for item in items:
                    outcome = item if isinstance(item, CellRun) else outcome
        except ShouldersError as error:
            log.warning("The cell of an applied proposal did not run", exc_info=True)
            outcome = error.info
        crash_point("proposals.cell.ran")
        if listener is not None and outcome is not None:
            await listener.run_ended(proposal, outcome)


def _is_rewritten(proposal: Proposal, base: str, text: str) -> bool:
    """Return whether the text is the user's version, not the agent's merged into current text."""
    if text == proposal.new:
        return False
    return text != merge_preferring(proposal.old, base, proposal.new)


def fold_proposals(events: Iterable[Event]) -> list[Proposal]:
    """Return the proposals of these events in their current states."""
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

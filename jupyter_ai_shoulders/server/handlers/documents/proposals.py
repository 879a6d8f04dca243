"""``proposals`` and ``proposals/{id}``: changes that wait for the user's decision."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import MAX_BODY_BYTES
from jupyter_ai_shoulders.wire.api.commands import DecideProposal
from jupyter_ai_shoulders.wire.api.responses import ProposalList
from jupyter_ai_shoulders.wire.base import CommandModel
from jupyter_ai_shoulders.wire.edits import ProposalState
from jupyter_ai_shoulders.wire.ids import ProposalId


class ProposalQuery(CommandModel):
    """Query arguments of ``GET proposals``."""

    status: ProposalState | None = None


class ProposalsHandler(ShouldersHandler):
    """``proposals``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List them, oldest first."""
        status = self.query(ProposalQuery).status
        known = self.host.proposals.list(self.may_see)
        chosen = (proposal for proposal in known if status in {None, proposal.state})
        self.answer(ProposalList(proposals=tuple(chosen)))


class ProposalHandler(ShouldersHandler):
    """``proposals/{id}``."""

    most_bytes = MAX_BODY_BYTES

    @web.authenticated
    @authorized
    async def post(self, proposal_id: str) -> None:
        """Apply or dismiss one; the answer has its new state."""
        proposal = self.host.proposals.get(ProposalId(proposal_id))
        if not self.may_see(proposal.session_id):
            raise NotFound(f"There is no proposal {proposal_id}.")
        command = self.body(DecideProposal)
        self.answer(await self.host.proposals.decide(proposal.id, command))

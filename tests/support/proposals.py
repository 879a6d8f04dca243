"""Proposals as the tools record them, for tests of what becomes of them."""

from __future__ import annotations

from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId
from jupyter_ai_shoulders.wire.versions import cell_version, text_version


def build_proposal(
    session_id: str,
    document: str,
    cell_id: str | None,
    old: str,
    new: str,
    *,
    name: str = "p",
    current: str | None = None,
    reason: str = "",
) -> Proposal:
    """Nobody has decided on it yet; ``current`` is what stands there where that is not ``old``."""
    stands = old if current is None else current
    return Proposal(
        id=ProposalId(name),
        session_id=SessionId(session_id),
        turn_id=None,
        document=document,
        cell_id=None if cell_id is None else CellId(cell_id),
        old=old,
        new=new,
        current=stands,
        current_version=text_version(stands) if cell_id is None else cell_version(stands),
        reason=reason,
        state="proposed",
    )

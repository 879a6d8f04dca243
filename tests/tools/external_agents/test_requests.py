"""Internal tools carry out open requests of the same conversation only."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.tools.external_agents.requests import AgentRequests, Done
from jupyter_ai_shoulders.wire.ids import SessionId

OURS, THEIRS = SessionId("ses_a"), SessionId("ses_b")


def test_a_request_is_carried_out_for_its_conversation_once() -> None:
    requests = AgentRequests()
    requests.add(OURS, "r1")

    requests.check(OURS, "r1")
    requests.answer(OURS, "r1", Done())

    assert requests.take(OURS, "r1") == Done()
    assert requests.take(OURS, "r1") is None


@pytest.mark.parametrize(("session", "request_id"), [(THEIRS, "r1"), (OURS, "r2")])
def test_another_request_is_refused(session: SessionId, request_id: str) -> None:
    requests = AgentRequests()
    requests.add(OURS, "r1")

    with pytest.raises(PolicyRefusal, match="No running agent"):
        requests.check(session, request_id)
    requests.answer(session, request_id, Done())
    assert requests.take(session, request_id) is None


def test_a_closed_conversation_has_no_requests() -> None:
    requests = AgentRequests()
    requests.add(OURS, "r1")
    requests.close(OURS)

    with pytest.raises(PolicyRefusal):
        requests.check(OURS, "r1")

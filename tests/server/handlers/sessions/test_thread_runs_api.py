"""Apply and run, in a thread, with a real kernel: the output is reported once."""

from __future__ import annotations

from pathlib import Path

from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.wire.events import ProposalAdd
from jupyter_ai_shoulders.wire.ids import SessionId
from tests.server.client import ENDED, Api
from tests.server.handlers.documents.test_proposals_api import host_of
from tests.server.handlers.sessions.test_thread_anchors_api import new_thread
from tests.simulator import Simulator
from tests.simulator_process import notebook
from tests.support.proposals import build_proposal

OLD, NEW = "print(1)", "print(6 * 7)"


async def propose(app: ServerApp, thread: str) -> str:
    """Record a proposal as ``propose_edit`` would."""
    proposal = build_proposal(thread, "n.ipynb", "c1", OLD, NEW)
    host = await host_of(app)
    host.log.append(SessionId(thread), ProposalAdd(call_id=None, proposal=proposal))
    return proposal.id


async def test_the_output_of_what_was_applied_and_run_is_fed_back(
    api: Api, jp_serverapp: ServerApp, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "n.ipynb").write_text(notebook(("c1", OLD)), encoding="utf-8")
    thread = await new_thread(api, range=None, quote="", suffix="", target="cell")
    proposal = await propose(jp_serverapp, thread)
    upstream.script("Forty-two, as it should be.")

    async with api.stream(thread) as stream:
        applied = await api.post(f"proposals/{proposal}", {"decision": "apply", "run": True})
        await stream.until(ENDED)

    assert applied.body["state"] == "applied"
    events = await api.events(thread)
    (message,) = (event for event in events if event["type"] == "message-add")
    assert message["text"] == "I applied the proposed change and ran cell 1. It ended well."
    assert message["attachments"] == [
        {"kind": "output", "path": "n.ipynb", "cell_id": "c1", "index": 0}
    ]
    (request,) = upstream.requests
    assert "output of cell 1\\n42" in str(request.body)
    assert events[-1]["session"]["status"] == "idle"

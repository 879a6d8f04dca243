"""Agents that no one here wrote work in a conversation, with their models played by the simulator.

Skipped where the agent is not on the path. Tried with claude-agent-acp 0.101, codex-acp 2.6 and
Gemini CLI 0.61, and OpenCode 1.18.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.host.build import HostPorts, HostSettings, build_host
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.conversation.views import ActivityView, AgentView
from jupyter_ai_shoulders.wire.events import ApprovalRequest, TurnEnd
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId
from tests.host.external_agents.agent_workspace import AgentWorkspace, answer
from tests.host.test_build import NoKernels, NoPages
from tests.protocols.acp_agents.real_agents import AGENTS, RealAgent, work_through
from tests.simulator.script import Delivery, Reasoning, reply
from tests.simulator.server import Simulator
from tests.support.npm_programs import put_on_path

pytestmark = [
    pytest.mark.full,
    pytest.mark.timeout(180),
    # Their requests have fields that are not in the vendors' public types.
    pytest.mark.malformed_requests,
]
STEP_SECONDS = 60


@asynccontextmanager
async def real_agent(
    agent: RealAgent, folder: Path, simulator: Simulator, session: SessionId | None = None
) -> AsyncGenerator[AgentWorkspace]:
    """A host with one real agent, and a conversation with it."""
    program = put_on_path(agent.program)
    root, home = folder / "root", folder / "home"
    if not home.exists():
        root.mkdir()
        home.mkdir()
        (root / "data.txt").write_text("one\ntwo\nthree\n")
    env = agent.prepare(home, simulator)
    settings = HostSettings(
        workspace=root,
        state_dir=root / ".shoulders",
        home=home,
        acp_agents={agent.name: {"command": [program, *agent.arguments], "env": env}},
    )
    environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
    host = build_host(settings, HostPorts(kernels=NoKernels(), pages=NoPages(), environ=environ))
    try:
        await host.ready()
        model = ModelId(f"agent:{agent.name}")
        made = session or host.session_service.create(CreateSession(model=model), None).id
        yield AgentWorkspace(host, made, root)
    finally:
        await host.aclose()


async def turn(here: AgentWorkspace, text: str) -> str:
    """Run a turn and allow everything that is asked; return what the agent said."""
    before = after = here.host.log.last_seq(here.session)
    await here.send(text=text)
    while True:
        async with asyncio.timeout(STEP_SECONDS):
            event = await here.until(
                lambda found: isinstance(found, (TurnEnd, ApprovalRequest)), after
            )
        after = event.seq
        if isinstance(event, TurnEnd):
            assert event.error is None, event.error
            return here.said(before)
        await answer(here, event)


def activities(here: AgentWorkspace) -> list[ActivityView]:
    """What the agent reported, in its last state."""
    messages = [each for each in here.view().messages if isinstance(each, AgentView)]
    return [part for each in messages for part in each.parts if isinstance(part, ActivityView)]


def pids(program: str) -> list[int]:
    """The running processes of an agent that this test started."""
    found: list[int] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            line = _command(entry)
            if program in line and _is_below(int(entry.name), os.getpid()):
                found.append(int(entry.name))
    return found


def _command(entry: Path) -> str:
    try:
        return (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_a_real_agent_works_in_a_conversation(agent: RealAgent, tmp_path: Path) -> None:
    async with Simulator() as simulator, real_agent(agent, tmp_path, simulator) as here:
        simulator.default(reply(Reasoning(text="I think."), "Hello from the model."))
        assert "Hello from the model." in await turn(here, "Hello")
        state = here.view().agent
        assert state is not None
        assert agent.mode in {None, state.mode}  # ours is Ask

        uses = [*([agent.plan] if agent.plan else []), agent.run, agent.edit(here.root)]
        uses += [agent.create(here.root)] if agent.create else []
        simulator.default(work_through(*uses))
        said = await turn(here, "Do the work")

        assert "All is done." in said
        assert (here.root / "data.txt").read_text() == "one\nTWO\nthree\n"
        shown = activities(here)
        diffs = [piece for each in shown for piece in each.content if piece.type == "diff"]
        assert any("TWO" in diff.new for diff in diffs)
        assert {each.status for each in shown} == {"completed"}
        if agent.plan is not None:
            assert [item.done for item in here.view().todo] == [True, False]
        if agent.writes_here:
            assert [change.document for change in here.view().changes] == ["data.txt", "new.txt"]
            assert (here.root / "new.txt").read_text() == "new\n"
        asked = [
            event.preview or "" for event in here.events() if isinstance(event, ApprovalRequest)
        ]
        assert len([preview for preview in asked if "+TWO" in preview]) == 1
        kinds = {event.type for event in here.events()}
        report: dict[str, Any] = {
            "agent": agent.name,
            "activities": [(each.kind, each.title, each.status) for each in shown],
            "thoughts": "reasoning-delta" in kinds,
            "asked": asked,
            "changes": [change.document for change in here.view().changes],
        }
        print(json.dumps(report, indent=1))  # noqa: T201 the report of a run by hand


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_a_real_agent_stops(agent: RealAgent, tmp_path: Path) -> None:
    async with Simulator() as simulator, real_agent(agent, tmp_path, simulator) as here:
        words = " ".join(f"word{number}" for number in range(400))
        slow = Delivery(tokens_per_second=20)
        simulator.default(reply(Reasoning(text="I think."), words, delivery=slow))
        await here.send(text="Write much")
        await here.until(lambda event: event.type == "text-delta" and "word1" in event.text)
        await here.host.engine.cancel(here.session)
        end = await here.until(lambda event: isinstance(event, TurnEnd))
        assert isinstance(end, TurnEnd)
        assert end.exit == "cancelled"


@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
async def test_a_real_agent_continues_after_kills(agent: RealAgent, tmp_path: Path) -> None:
    async with Simulator() as simulator:
        simulator.default(reply(Reasoning(text="I think."), "Hello from the model."))
        async with real_agent(agent, tmp_path, simulator) as here:
            await turn(here, "Remember the word marmot")
            for pid in pids(agent.program):
                os.kill(pid, signal.SIGKILL)
            async with asyncio.timeout(STEP_SECONDS):
                await asyncio.gather(*here.host.protocols.agent_models.ending)
            await turn(here, "After the kill of the agent")
            assert not agent.remembers or "marmot" in json.dumps(simulator.requests[-1].body)
            session = here.session
        async with real_agent(agent, tmp_path, simulator, session) as again:
            again.messages = 9
            await turn(again, "After the restart of the server")
            assert not agent.remembers or "marmot" in json.dumps(simulator.requests[-1].body)
            notices = [event.code for event in again.events() if event.type == "notice"]
            assert ("agent_memory_lost" in notices) is not agent.remembers

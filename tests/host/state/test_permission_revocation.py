"""Conversations that came with a folder keep their messages and lose their permissions."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_ai_shoulders.engine.loop.event_reducer import FOREIGN, rebuild_state
from jupyter_ai_shoulders.engine.loop.state import SessionState, policy_for
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, ModelId, ProviderId, SessionId, TurnId
from tests.host.test_build import opened


def prepare(host: Host) -> SessionId:
    """A conversation in which commands were allowed, with a turn about to run one."""
    session = host.session_service.create(CreateSession(mode="auto_edit"), owner=None)
    turn, call = TurnId("t"), CallId("c")
    for event in (
        ev.TurnStart(
            turn_id=turn,
            message_id=MessageId("m"),
            model=ModelId("demo"),
            provider=ProviderId("demo"),
            mode="auto_edit",
            step_limit=5,
        ),
        ev.StepStart(turn_id=turn, step=1, limit=5, tokens_used=1, window=1_000),
        ev.ToolCall(
            turn_id=turn,
            call_id=call,
            tool="run_command",
            arguments={"command": "touch ran"},
            raw="",
            invalid=None,
            target=None,
            risk="execute",
            title="Run",
            external=False,
        ),
        ev.ApprovalAnswer(
            turn_id=turn, call_id=call, decision="allow", scope="session", by="user", feedback=None
        ),
    ):
        host.log.append(session.id, event)
    return session.id


def state_of(host: Host, session: SessionId) -> SessionState:
    events = (logged.event for logged in host.log.read(session))
    return rebuild_state(policy_for("chat", interactive=True), events)


@pytest.mark.parametrize("home", ["own", "another"])
async def test_powers_hold_for_the_person_who_gave_them(tmp_path: Path, home: str) -> None:
    root = tmp_path / "folder"
    root.mkdir()
    async with opened(root, tmp_path / "own") as host:
        session = prepare(host)

    async with opened(root, tmp_path / home) as host:
        state = state_of(host, session)
        notices = [e.event for e in host.log.read(session) if isinstance(e.event, ev.Notice)]
        mode = host.sessions.get(session).mode
    async with opened(root, tmp_path / home) as host:
        again = [e.event for e in host.log.read(session) if isinstance(e.event, ev.Notice)]

    foreign = home == "another"
    assert (state.grants == (), state.turn is None) == (foreign, foreign)
    assert mode == ("ask" if foreign else "auto_edit")
    assert (FOREIGN in {notice.code for notice in notices}) is foreign
    assert [n.code for n in again].count(FOREIGN) == int(foreign)


async def test_a_name_that_is_not_known_at_home_is_not_believed(tmp_path: Path) -> None:
    root, home = tmp_path / "folder", tmp_path / "home"
    root.mkdir()
    async with opened(root, tmp_path / "other") as host:
        session = prepare(host)
    for name in ("0" * 32, "../../x", ""):
        (root / ".shoulders" / "origin").write_text(name)
        async with opened(root, home) as host:
            assert state_of(host, session).grants == ()
            assert host.services.store.origin.is_own()

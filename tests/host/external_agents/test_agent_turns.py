"""Turns that an agent of others leads, with an agent that does what its prompt says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest
from jupyter_ai_shoulders.wire.api.agents import PatchAgent
from jupyter_ai_shoulders.wire.api.commands import CreateSession
from jupyter_ai_shoulders.wire.events import ApprovalRequest, MessageUpdate, TurnEnd
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.host.external_agents.agent_workspace import (
    SERVER,
    agent_workspace,
    answer,
)


async def test_text_thoughts_plan_and_activities_are_recorded(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        diff = {"type": "diff", "path": str(here.root / "a.py"), "oldText": "1", "newText": "2"}
        said = await here.turn(
            ("think", "Hm."),
            ("plan", [["Look", True], ["Act", False]]),
            ("tool", {"toolCallId": "t", "title": "Edit a.py", "kind": "edit", "content": [diff]}),
            ("tool", {"toolCallId": "t", "status": "completed"}),
            ("say", "Done."),
        )

        view = here.view()
        [reply] = [message for message in view.messages if message.role == "agent"]
        assert said == "Done."
        assert [(item.text, item.done) for item in view.todo] == [("Look", True), ("Act", False)]
        assert [part.type for part in reply.parts] == ["reasoning", "activity", "text", "end"]
        activity = reply.parts[1]
        assert activity.type == "activity"
        assert (activity.status, activity.kind) == ("completed", "edit")
        assert activity.content[0].model_dump() == {
            "type": "diff",
            "path": "a.py",
            "old": "1",
            "new": "2",
        }
        assert view.agent is not None
        assert (view.agent.agent, view.agent.mode) == ("scripted", "ask")


async def test_a_write_is_a_pending_edit_and_a_read_sees_it(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        path = str(here.root / "a.txt")
        said = await here.turn(("write", path, "one\ntwo\n"), ("read", path, 2))

        assert said == "[written][read: two\n]"
        assert (here.root / "a.txt").read_text() == "one\ntwo\n"
        assert [change.document for change in here.view().changes] == ["a.txt"]


async def test_a_refused_request_says_why(tmp_path: Path) -> None:
    refused = (
        (("write", "/etc/shoulders-test", "x"), "outside"),
        (("write", "../x", "x"), "outside"),
        (("write", "link/x", "x"), "outside"),
        (("read", "link/x"), "outside"),
        (("write", "a.ipynb", "{}"), "notebook"),
        (("read", "a.ipynb"), "notebook"),
        (("read", "missing.txt"), "-32002"),
    )
    async with agent_workspace(tmp_path) as here:
        (here.root / "link").symlink_to("/tmp")
        (here.root / "a.ipynb").write_text("{}")
        for step, told in refused:
            said = await here.turn(step)
            assert "failed" in said, step
            assert told in said, step


async def test_a_message_that_was_answered_without_text_is_not_sent_again(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("tool", {"toolCallId": "t", "title": "Try it"}))
        assert (await here.turn(text="hello")).startswith("You said: hello")


async def test_a_command_runs_and_its_output_reaches_the_agent(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, mode="bypass") as here:
        before = here.host.log.last_seq(here.session)
        await here.send(("run", "echo out; exit 3"))
        end = await here.until(lambda e: e.type in {"turn-end", "approval-request"}, before)
        if end.type == "approval-request":
            await answer(here, end)
            await here.until(lambda event: isinstance(event, TurnEnd), before)
        assert here.said(before) == "[exit 3: out]"


@pytest.mark.parametrize(("decision", "told"), [("allow", "allow_once"), ("deny", "reject_once")])
async def test_a_permission_is_asked_and_its_answer_goes_back(
    tmp_path: Path, decision: Literal["allow", "deny"], told: str
) -> None:
    async with agent_workspace(tmp_path) as here:
        tool = {
            "toolCallId": "t",
            "title": "Run make",
            "kind": "execute",
            "rawInput": {"command": "make all"},
        }
        await here.send(("ask", tool))
        request = await here.until(lambda event: event.type == "approval-request")
        assert request.type == "approval-request"
        assert request.preview == "make all"
        await answer(here, request, decision)
        await here.until(lambda event: isinstance(event, TurnEnd))

        assert here.said() == f"[{told}]"


async def test_an_agent_that_can_only_be_allowed_for_ever_is_not(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        tool = {"toolCallId": "t", "title": "Run make", "rawInput": {"command": "make all"}}
        await here.turn_with_answers(("ask_for_ever", tool))

        assert "cancelled" in here.said()
        [notice] = [event for event in here.events() if event.type == "notice"]
        assert "not allowed: Run make" in notice.text


async def test_plan_mode_refuses_all_but_reads(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, mode="plan") as here:
        (here.root / "a.txt").write_text("text")
        said = await here.turn(("write", "b.txt", "x"), ("run", "ls"), ("read", "a.txt"))

        assert said.count("plan mode") == 2
        assert "[read: text]" in said
        assert not (here.root / "b.txt").exists()


async def test_stop_cancels_the_prompt(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.send(("hang",))
        await here.until(lambda event: event.type == "text-delta")
        await here.host.engine.cancel(here.session)
        end = await here.until(lambda event: isinstance(event, TurnEnd))

        assert isinstance(end, TurnEnd)
        assert end.exit == "cancelled"
        assert await here.turn(("recall",)) == "2 messages"


async def test_a_message_sent_before_the_stop_reaches_the_agent_with_the_next(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        asked = {"toolCallId": "t", "title": "Try", "rawInput": {"command": "true"}}
        await here.send(("ask", asked), ("hang",))
        request = await here.until(lambda event: isinstance(event, ApprovalRequest))
        await here.send(text="mind the gap")
        await answer(here, request)
        await here.until(lambda e: e.type == "text-delta" and "waiting" in e.text)
        await here.host.engine.cancel(here.session)
        await here.until(lambda event: isinstance(event, TurnEnd))

        said = await here.turn(text="hello again")

        assert said.index("mind the gap") < said.index("hello again")


async def test_a_message_taken_up_directly_before_the_stop_reaches_the_agent_with_the_next(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        question = {"toolCallId": "t", "title": "Try", "rawInput": {"command": "true"}}
        await here.send(("ask", question), ("hang",))
        request = await here.until(lambda event: isinstance(event, ApprovalRequest))
        await here.send(text="mind the gap")
        await answer(here, request)
        await here.until(lambda e: isinstance(e, MessageUpdate) and e.status == "consumed")
        await here.host.engine.cancel(here.session)  # between two steps
        await here.until(lambda event: isinstance(event, TurnEnd))

        said = await here.turn(text="hello again")

        assert said.startswith("You said: mind the gap")
        assert said.index("mind the gap") < said.index("hello again")


async def test_a_crash_is_an_error_and_the_next_message_continues_the_session(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("crash",))
        end = here.events()[-1]
        while not isinstance(end, TurnEnd):
            end = await here.until(lambda event: isinstance(event, TurnEnd))
        assert end.error is not None
        assert "it broke" in end.error.message

        assert await here.turn(("recall",)) == "2 messages"


async def test_an_agent_that_cannot_load_says_that_its_memory_is_lost(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, ACP_NO_LOAD="1") as here:
        await here.turn(("crash",))
        assert await here.turn(("recall",)) == "1 messages"
        notices = [event.code for event in here.events() if event.type == "notice"]
        assert "agent_memory_lost" in notices


async def test_a_session_is_loaded_after_a_restart_of_the_server(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("say", "Hello."))
        session = here.session
    async with agent_workspace(tmp_path, session=session) as again:
        again.messages = 1
        assert await again.turn(("recall",)) == "2 messages"
        assert again.said().count("Hello.") == 1


async def test_a_mode_is_chosen_for_the_start_and_changed_in_a_running_agent(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        models = here.host.protocols.agent_models
        await models.change(here.session, PatchAgent(mode="code"))
        assert await here.turn(("which_mode",)) == "code"
        session = here.session

        await models.change(session, PatchAgent(mode="ask"))
        assert await here.turn(("which_mode",)) == "ask"
        await models.change(session, PatchAgent(mode="code"))
    async with agent_workspace(tmp_path, session=session) as again:
        again.messages = 2
        models = again.host.protocols.agent_models
        with pytest.raises(InvalidRequest, match="does not offer 'fast'"):
            await models.change(session, PatchAgent(mode="fast"))
        assert await again.turn(("which_mode",)) == "code"
        agent = again.view().agent
        assert agent is not None
        assert (agent.mode, len(agent.modes)) == ("code", 2)


@pytest.mark.parametrize(
    ("mode", "modes", "chosen"),
    [
        pytest.param("ask", "acceptEdits default plan", "default", id="Claude Code"),
        pytest.param("ask", "auto read-only full-access", "read-only", id="Codex"),
        pytest.param("ask", "build plan", "build", id="an agent without such a mode"),
        pytest.param("auto_edit", "acceptEdits default plan", "acceptEdits", id="our mode edits"),
    ],
)
async def test_an_agent_starts_in_the_mode_that_asks_when_ours_does(
    tmp_path: Path, mode: Mode, modes: str, chosen: str
) -> None:
    async with agent_workspace(tmp_path, mode=mode, ACP_MODES=modes) as here:
        assert await here.turn(("which_mode",)) == chosen
        state = here.view().agent
        assert state is not None
        assert state.mode == chosen


async def test_a_conversation_with_a_model_has_no_agent_to_change(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        session = here.host.session_service.create(CreateSession(), None).id

        with pytest.raises(Conflict, match="not with an agent"):
            await here.host.protocols.agent_models.change(session, PatchAgent(mode="code"))


async def test_an_agent_killed_between_messages_starts_again_without_an_error(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("say", "Hello."))
        await here.kill_agent()

        assert await here.turn(("recall",)) == "2 messages"
        assert [e.error for e in here.events() if isinstance(e, TurnEnd)] == [None, None]
        assert len(await here.host.protocols.access_tokens.list(None)) == 1


async def test_a_history_that_is_repeated_late_is_not_recorded_again(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, ACP_LATE_REPLAY="1") as here:
        for _ in range(3):
            await here.turn(("say", "Hello."))
        await here.kill_agent()
        before = here.host.log.last_seq(here.session)

        assert await here.turn(("say", "Hello again.")) == "Hello again."
        assert not [e for e in here.events(before) if e.type == "agent-activity"]


@pytest.mark.parametrize(
    ("program", "told"),
    [
        pytest.param("gemini-cli", "[read: ]", id="Gemini CLI"),
        pytest.param("other", "[read failed: -32002 ", id="another"),
    ],
)
async def test_a_missing_file_is_not_found_but_empty_for_gemini(
    tmp_path: Path, program: str, told: str
) -> None:
    async with agent_workspace(tmp_path, ACP_NAME=program) as here:
        assert (await here.turn(("read", "missing.txt"))).startswith(told)


EDIT = {"toolCallId": "t", "title": "Edit", "kind": "edit"}


def asked(path: str, old: str | None, new: str) -> dict[str, Any]:
    """The question about an edit."""
    return {**EDIT, "content": [{"type": "diff", "path": path, "oldText": old, "newText": new}]}


ASKED = asked("a", "1\n", "2\n")
EDITS: dict[str, tuple[list[Sequence[Any]], int]] = {
    "the same": ([("ask", ASKED), ("write", "a", "2\n")], 1),
    "not read by us": ([("ask", asked("c", "1\n", "2\n")), ("write", "c", "2\n")], 1),
    "a new file": ([("ask", asked("n", None, "2\n")), ("write", "n", "2\n")], 1),
    "another text": ([("ask", ASKED), ("write", "a", "3\n")], 2),
    "another path": ([("ask", ASKED), ("write", "b", "2\n")], 2),
    "a false old text": ([("ask", asked("a", "0\n", "2\n")), ("write", "a", "2\n")], 2),
    "after the tool call": (
        [
            ("ask", ASKED),
            ("tool", {"toolCallId": "t", "status": "completed"}),
            ("write", "a", "2\n"),
        ],
        2,
    ),
    "a second write": ([("ask", ASKED), ("write", "a", "2\n"), ("write", "b", "2\n")], 2),
}
"""What the agent does, and how often the user is asked."""


async def test_an_edit_that_was_asked_about_is_not_asked_again_when_it_is_written(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path, mode="ask") as first:
        for name, (steps, questions) in EDITS.items():
            (first.root / "n").unlink(missing_ok=True)
            for file in "abc":
                (first.root / file).write_text("1\n")
            here = first.another()

            await here.turn_with_answers(("read", "a"), ("read", "b"), *steps)

            asks = [event for event in here.events() if isinstance(event, ApprovalRequest)]
            assert len(asks) == questions, name
            assert (here.root / str(steps[-1][1])).read_text() == steps[-1][2], name


async def test_a_permission_ends_with_the_prompt(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, mode="ask") as here:
        (here.root / "a").write_text("1\n")
        await here.turn_with_answers(("read", "a"), ("ask", asked("a", "1\n", "2\n")))
        await here.turn_with_answers(("write", "a", "2\n"))

        asks = [event for event in here.events() if isinstance(event, ApprovalRequest)]
        assert len(asks) == 2


async def test_an_agent_gets_our_mcp_server_with_a_token_that_ends_with_it(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        assert await here.turn(("servers_given",)) == f"jupyter {SERVER} Bearer"
        tokens = here.host.protocols.access_tokens
        [token] = await tokens.list(None)
        assert token.scopes == ("read", "edit", "run")
    assert await tokens.list(None) == ()


async def test_an_agent_may_be_pointed_at_the_model_proxy_while_it_runs(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path, proxy="http://127.0.0.1:9/shoulders/proxy/") as here:
        access = here.host.protocols.proxy_access
        secret = await here.turn(("variable", "ANTHROPIC_API_KEY"))
        assert await here.turn(("variable", "OPENAI_BASE_URL")) == (
            "http://127.0.0.1:9/shoulders/proxy/v1"
        )
        grant = access.find(secret)
        assert grant is not None
        assert grant.session_id == here.session
        await here.kill_agent()
        assert access.find(secret) is None


async def test_an_agent_that_is_to_use_a_proxy_that_is_not_there_does_not_start(
    tmp_path: Path,
) -> None:
    async with agent_workspace(tmp_path, proxy="") as here:
        end = await here.turn_with_answers(("say", "Hello."))
        assert end.error is not None
        assert "which this server does not have" in end.error.message

"""Our agent as an editor uses it: driven by the SDK's client, with a server and without one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from acp import RequestError, schema

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval
from tests.cli.acp.editor import FakeEditor, choose, connected
from tests.cli.conftest import Terminal
from tests.simulator_process import notebook, says, texts


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"parts": [{"kind": "tool", "name": name, "arguments": arguments}]}


def dismiss(options: list[schema.PermissionOption]) -> None:
    """Answer a request by closing it."""
    del options


async def test_an_answer_streams_and_the_conversation_is_in_the_log(terminal: Terminal) -> None:
    terminal.plays(says("Hello from the agent."))
    async with connected(terminal.root) as run:
        made = await run.new()
        assert await run.prompt(made.session_id, "Hi.") == "end_turn"
        assert run.editor.text == "Hello from the agent."
        assert [each.title for each in run.editor.of("session_info_update")][-1:] == ["Hi."]
        listed = await run.agent.list_sessions(cwd=str(terminal.root))
        assert made.session_id in {each.session_id for each in listed.sessions}
    listing = await asyncio.to_thread(terminal.says, "sessions", "--json")
    assert listing.json["sessions"][0]["source"] == "acp"


@pytest.mark.parametrize(
    ("answer", "ran"),
    [(choose("once"), True), (choose("deny"), False), (dismiss, False)],
    ids=["allow", "deny", "dismiss"],
)
async def test_a_cell_runs_only_if_the_editor_allows_it(
    terminal: Terminal, answer: Any, ran: bool
) -> None:
    path = terminal.root / f"cells-{ran}.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    terminal.plays(tool("run_cell", path=path.name, cell_id="a"), says("Done."))
    async with connected(terminal.root, FakeEditor(choose=answer)) as run:
        made = await run.new()
        assert await run.prompt(made.session_id, "Run it.") == "end_turn"
        ((asked, options),) = run.editor.asked
        started = run.editor.of("tool_call")[0]
        ended = run.editor.of("tool_call_update")[-1]
    assert asked.tool_call_id == started.tool_call_id
    assert "print(6 * 7)" in str(asked.content)
    assert {each.kind for each in options} == {"allow_once", "allow_always", "reject_once"}
    assert started.kind == "execute"
    assert started.locations[0].path == str(path)
    assert ended.status == ("completed" if ran else "failed")
    assert texts(json.loads(path.read_text())["cells"], "a") == ("42\n" if ran else "")


async def test_an_answer_in_jupyterlab_counts_and_the_editor_is_no_longer_asked(
    attached: Terminal, client: Client
) -> None:
    path = attached.root / "elsewhere.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")))
    attached.plays(tool("run_cell", path=path.name, cell_id="a"), says("Done."))
    async with connected(attached.root, FakeEditor(holds=True)) as run:
        made = await run.new()
        turn = asyncio.create_task(run.prompt(made.session_id, "Run it."))
        await run.editor.seen.wait()
        call_id = run.editor.asked[0][0].tool_call_id
        await asyncio.to_thread(
            client.connection.send,
            "POST",
            f"sessions/{made.session_id}/approvals/{call_id}",
            AnswerApproval(decision="allow"),
        )
        assert await turn == "end_turn"
    assert texts(json.loads(path.read_text())["cells"], "a") == "42\n"


async def test_cancel_ends_the_turn_and_the_next_prompt_works(terminal: Terminal) -> None:
    path = terminal.root / "long.ipynb"
    path.write_text(notebook(("a", "print(1)")))
    terminal.plays(tool("run_cell", path=path.name, cell_id="a"), says("Go on."))
    async with connected(terminal.root, FakeEditor(holds=True)) as run:
        made = await run.new()
        turn = asyncio.create_task(run.prompt(made.session_id, "Run it."))
        await run.editor.seen.wait()
        with pytest.raises(RequestError, match="is being answered"):
            await run.prompt(made.session_id, "At the same time.")
        await run.agent.cancel(session_id=made.session_id)
        assert await turn == "cancelled"
        assert await run.prompt(made.session_id, "Go on.") == "end_turn"
        assert "Go on." in run.editor.text


async def test_a_turn_led_in_jupyterlab_is_shown_when_it_happens(
    attached: Terminal, client: Client
) -> None:
    attached.plays(says("For JupyterLab."), says("For the editor."))
    async with connected(attached.root) as run:
        made = await run.new()
        await asyncio.to_thread(lambda: list(client.stream("From JupyterLab.", made.session_id)))
        await run.editor.until(lambda: "For JupyterLab." in run.editor.text)
        shown = [each.content.text for each in run.editor.of("user_message_chunk")]
        assert shown == ["From JupyterLab."]
        assert await run.prompt(made.session_id, "From the editor.") == "end_turn"
        assert run.editor.text == "For JupyterLab.For the editor."
        assert len(run.editor.of("user_message_chunk")) == 1, "the editor shows its own"


async def test_a_message_queued_behind_another_turn_is_not_lost_when_it_is_stopped(
    attached: Terminal, client: Client
) -> None:
    path = attached.root / "queued.ipynb"
    path.write_text(notebook(("a", "print(1)")))
    attached.plays(tool("run_cell", path=path.name, cell_id="a"), says("Both."))
    async with connected(attached.root, FakeEditor(holds=True)) as run:
        made = await run.new()
        lab = asyncio.create_task(
            asyncio.to_thread(lambda: list(client.stream("Run it.", made.session_id)))
        )
        await run.editor.until(lambda: bool(run.editor.of("tool_call")))
        assert not run.editor.asked, "JupyterLab asks"
        turn = asyncio.create_task(run.prompt(made.session_id, "Mind the gap."))
        await run.editor.seen.wait()  # while it waits, the editor asks too
        await run.agent.cancel(session_id=made.session_id)
        assert await turn == "cancelled"
        await lab
        assert await run.prompt(made.session_id, "Next.") == "end_turn"
    sent = json.dumps(attached.upstream.requests()[-1]["body"])
    assert sent.index("Mind the gap.") < sent.index("Next.")


async def test_skills_are_commands(terminal: Terminal) -> None:
    folder = terminal.root / ".shoulders" / "skills" / "tidy"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text("---\ndescription: Tidies tables\n---\nUse long form.\n")
    terminal.plays(says("Tidied."))
    async with connected(terminal.root) as run:
        made = await run.new()
        await run.editor.until(lambda: bool(run.editor.of("available_commands_update")))
        (offered,) = run.editor.of("available_commands_update")
        assert "Tidies tables" in {each.description for each in offered.available_commands}
        await run.prompt(made.session_id, "/tidy the table")
    assert "Use long form." in json.dumps(terminal.upstream.requests()[-1]["body"])


async def test_a_conversation_is_loaded_by_another_process(terminal: Terminal) -> None:
    terminal.plays(says("First."), says("Second."))
    async with connected(terminal.root) as run:
        made = await run.new()
        await run.prompt(made.session_id, "One.")
    async with connected(terminal.root) as run:
        await run.agent.load_session(
            cwd=str(terminal.root), session_id=made.session_id, mcp_servers=[]
        )
        assert [each.content.text for each in run.editor.of("user_message_chunk")] == ["One."]
        assert run.editor.text == "First."
        await run.prompt(made.session_id, "Two.")
        assert run.editor.text == "First.Second."
        with pytest.raises(RequestError):
            await run.agent.load_session(
                cwd=str(terminal.root), session_id="ses_unknown", mcp_servers=[]
            )


async def test_modes_and_models_are_chosen_in_the_editor(terminal: Terminal) -> None:
    path = terminal.root / "plan.ipynb"
    path.write_text(notebook(("a", "print(1)")))
    terminal.plays(tool("run_cell", path=path.name, cell_id="a"), says("I may only read."))
    async with connected(terminal.root) as run:
        made = await run.new()
        assert made.modes is not None
        assert made.modes.current_mode_id == "ask"
        assert made.config_options is not None
        (option,) = made.config_options
        assert option.id == "model"
        await run.agent.set_session_mode(session_id=made.session_id, mode_id="plan")
        await run.prompt(made.session_id, "Run it.")
        assert run.editor.asked == []
        assert run.editor.of("tool_call_update")[-1].status == "failed"
        other = option.options[-1].value
        changed = await run.agent.set_config_option(
            config_id="model", session_id=made.session_id, value=other
        )
        assert changed is not None
        assert changed.config_options[0].current_value == other
        await run.agent.set_config_option(  # the last choice is the default of later tests
            config_id="model", session_id=made.session_id, value=option.current_value
        )
        for wrong in ("no-such-mode", ""):
            with pytest.raises(RequestError):
                await run.agent.set_session_mode(session_id=made.session_id, mode_id=wrong)


@pytest.mark.parametrize("options", [("red", "blue"), ()], ids=["options", "words"])
async def test_a_question_of_the_agent_is_answered(
    terminal: Terminal, options: tuple[str, ...]
) -> None:
    terminal.plays(tool("clarify", question="Which colour?", options=list(options)), says("Noted."))
    editor = FakeEditor(choose=lambda found: found[1])
    async with connected(terminal.root, editor) as run:
        made = await run.new()
        assert await run.prompt(made.session_id, "Paint.") == "end_turn"
        if not options:
            assert "Which colour?" in run.editor.text
            assert await run.prompt(made.session_id, "blue") == "end_turn"
        assert "Noted." in run.editor.text
    assert "blue" in json.dumps(terminal.upstream.requests()[-1]["body"])


async def test_files_and_pictures_of_a_prompt_reach_the_model(terminal: Terminal) -> None:
    (terminal.root / "data.csv").write_text("city,people\nUlm,126000\n")
    terminal.plays(says("Seen."))
    async with connected(terminal.root) as run:
        made = await run.new()
        await run.prompt(
            made.session_id,
            "Look at",
            schema.ResourceContentBlock(
                type="resource_link",
                name="data.csv",
                uri=(terminal.root / "data.csv").as_uri(),
            ),
            schema.EmbeddedResourceContentBlock(
                type="resource",
                resource=schema.TextResourceContents(
                    uri=(terminal.root / "notes.md").as_uri(), text="unsaved words"
                ),
            ),
        )
    sent = json.dumps(terminal.upstream.requests()[-1]["body"])
    assert "Ulm,126000" in sent
    assert "unsaved words" in sent
    assert "notes.md" in sent


async def test_an_unknown_folder_and_servers_of_the_editor_are_named(
    terminal: Terminal, tmp_path: Path
) -> None:
    async with connected(terminal.root) as run:
        with pytest.raises(RequestError, match="There is no folder"):
            await run.agent.new_session(cwd=str(tmp_path / "missing"), mcp_servers=[])
        server: Any = schema.McpServerStdio(name="weather", command="x", args=[], env=[])
        await run.agent.new_session(cwd=str(terminal.root), mcp_servers=[server])
        await run.editor.until(lambda: "weather" in run.editor.text)


async def test_garbage_is_survived(alone: Terminal) -> None:
    async with connected(alone.root) as run:
        assert run.process.stdin is not None
        run.process.stdin.write(b'no json\n{"jsonrpc":"2.0","id":99}\n\xff\xfe\n[]\n')
        made = await run.new()
        assert made.session_id

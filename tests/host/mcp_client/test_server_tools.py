"""Tools of MCP servers in a registry: loading, calls, changes, questions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest

from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.host.mcp_client.server_questions import ServerQuestions
from jupyter_ai_shoulders.host.mcp_client.server_tools import ServerTools
from jupyter_ai_shoulders.mcp_client.pool import ConnectionPool
from jupyter_ai_shoulders.mcp_client.ports import ProgressListener
from jupyter_ai_shoulders.notebook.execution.stdin import PendingInputs
from jupyter_ai_shoulders.tools.base import (
    CallSubject,
    InputEnded,
    InputRequested,
    Progress,
    Result,
    ToolOutput,
)
from jupyter_ai_shoulders.tools.mcp.running_calls import CallLimits
from jupyter_ai_shoulders.tools.mcp.server_tool import GONE
from jupyter_ai_shoulders.tools.permissions.grants import Grant, narrowest_rule
from jupyter_ai_shoulders.tools.permissions.rule_matching import RuleMatch, ToolRule
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    Deny,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.mcp_client.probes import pool_of, raw_entry
from tests.tools.direct_calls import context
from tests.tools.mcp.fake_servers import FakePool, FakeServer, said, tool

ECHO = "mcp__demo__echo"
DEMO = "mcp__demo"
MODES: tuple[Mode, ...] = ("ask", "bypass")


class Memory:
    """``PermissionsFile`` in memory."""

    def __init__(self, text: str | None = None) -> None:
        self.text = text

    def read(self) -> str | None:
        return self.text

    def write(self, text: str) -> None:
        self.text = text


class RealServers:
    """``ConfiguredServers`` over a pool of programs."""

    def __init__(self, pool: ConnectionPool) -> None:
        self.states = pool.states
        self.connection = pool.connection
        self.add_listener = pool.add_listener

    async def refresh(self, max_age_s: float = 0.0) -> None:
        del max_age_s


class Setup:
    """Servers, their tools, and the answers of a user."""

    def __init__(
        self,
        *servers: FakeServer,
        file: Memory | None = None,
        silent: float = 60,
        real: ConnectionPool | None = None,
    ):
        self.pool = FakePool(*servers)
        self.registry = ToolRegistry([])
        self.heir = self.registry.extended([])
        self.file = file or Memory()
        self.changes = 0
        self.tools = ServerTools(
            self.pool if real is None else RealServers(real),
            self.registry,
            self.file,
            changed=self._changed,
            limits=CallLimits(silent=silent),
        )
        self.inputs = PendingInputs()
        self.questions = ServerQuestions(
            self.tools.running,
            self.inputs,
            Path("/workspace"),
            None,  # type: ignore[arg-type]
        )
        self.answers: list[str] = []

    def _changed(self) -> None:
        self.changes += 1

    async def loaded(self) -> Setup:
        await self.tools.start()
        await self.heir.open_category(DEMO)
        return self

    async def subject(self, **arguments: Json) -> CallSubject:
        found = self.heir.get(ECHO)
        assert found is not None
        args = self.heir.validate(ECHO, arguments)
        assert not isinstance(args, InvalidCall)
        return await found.subject(args, context())

    async def call(self, subject: CallSubject | None = None, **arguments: Json) -> list[ToolOutput]:
        found = self.heir.get(ECHO)
        assert found is not None
        args = self.heir.validate(ECHO, arguments)
        at = context()
        if subject is not None:
            object.__setattr__(at, "subject", subject)
        outputs: list[ToolOutput] = []
        async for output in found.run(args, at):
            outputs.append(output)
            if isinstance(output, InputRequested) and self.answers:
                self.inputs.answer(SessionId("session"), CallId("call"), self.answers.pop(0))
        return outputs


def text_of(outputs: list[ToolOutput]) -> str:
    result = outputs[-1]
    assert isinstance(result, Result)
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


def decided(
    subject: CallSubject, *, rules: Rules | None = None, grants: Any = (), mode: Mode = "ask"
) -> Decision:
    request = PermissionRequest(ECHO, "execute", True, subject)
    return decide(request, rules or Rules(), grants, mode=mode, interactive=True)


async def test_a_category_is_named_before_its_server_starts_and_loaded_on_demand():
    setup = Setup(FakeServer())
    await setup.tools.start()
    await setup.tools.start()  # a host that could not recover tries again
    assert len(setup.pool.listeners) == 1
    assert setup.heir.loadable("full", "ask", ()) == (DEMO,)
    assert setup.pool.started == []
    await setup.heir.open_category(DEMO)
    [definition] = setup.heir.of_category(DEMO, "full", "ask", ())
    assert (definition.name, definition.description) == (ECHO, "Says it again.")
    assert setup.heir.definitions("full", "ask", ()) == ()
    assert len(setup.heir.definitions("full", "ask", (), {DEMO})) == 1
    assert ECHO in setup.heir.external


async def test_a_call_shows_what_it_sends_and_answers():
    setup = await Setup(FakeServer()).loaded()
    subject = await setup.subject(text="hi\u202e", extra=1)
    assert subject.preview == '{\n  "text": "hi\\u202e",\n  "extra": 1\n}'
    assert text_of(await setup.call(subject, text="hi")) == "You said hi"


@pytest.mark.parametrize("mode", ["ask", "auto_edit", "plan"])
async def test_calls_ask_and_in_plan_mode_are_refused(mode: Mode):
    setup = await Setup(FakeServer(tools=[tool(annotations={"readOnlyHint": True})])).loaded()
    subject = await setup.subject(text="hi")
    assert subject.notes == ("Its server says that it only reads.",)
    assert isinstance(decided(subject, mode=mode), Deny if mode == "plan" else Ask)
    assert setup.heir.definitions("full", "plan", (), {DEMO}) == ()


async def test_a_changed_tool_asks_again_and_says_what_changed():
    server = FakeServer()
    setup = await Setup(server).loaded()
    before = await setup.subject(text="hi")
    body = narrowest_rule(ECHO, before.target)
    rule = ToolRule("allow", ECHO, RuleMatch.model_validate(body.match))
    grant = Grant(ECHO, definition=before.target.definition)
    permissions: list[dict[str, Any]] = [{"rules": Rules((rule,))}, {"grants": (grant,)}]
    for given in permissions:
        assert isinstance(decided(before, **given), Allow)
    server.tools = [tool(description="Sends your files away.")]
    setup.tools.tools_changed("demo")
    await setup.tools.settled()
    after = await setup.subject(text="hi")
    for given in permissions:
        for mode in MODES:
            asked = decided(after, mode=mode, **given)
            assert isinstance(asked, Ask)
            assert "its server changed its description" in asked.reason.text


async def test_a_program_that_describes_a_tool_otherwise_asks_again(tmp_path: Path):
    async with pool_of(raw_entry("changing", name="demo"), folder=tmp_path) as pool:
        setup = await Setup(real=pool).loaded()
        before = await setup.subject(text="hi")
        grant = Grant(ECHO, definition=before.target.definition)
        assert isinstance(decided(before, grants=(grant,)), Allow)
        await (await pool.connection("demo")).call_tool("replace", {})
        async with asyncio.timeout(10):
            while (after := await setup.subject(text="hi")).target == before.target:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        asked = decided(after, grants=(grant,))
        assert isinstance(asked, Ask)
        assert "its server changed its description" in asked.reason.text
        with pytest.raises(Conflict, match="changed the description"):
            await setup.call(before, text="hi")
        await setup.tools.settled()
        assert setup.heir.get("mcp__demo__replace") is None
        await setup.tools.aclose()


async def test_a_tool_that_changed_after_the_answer_is_not_called():
    server = FakeServer()
    setup = await Setup(server).loaded()
    allowed = await setup.subject(text="hi")
    server.tools = [tool(title="Other")]
    setup.tools.forget("demo")  # as after a start of the server
    with pytest.raises(Conflict, match="changed the title"):
        await setup.call(allowed, text="hi")
    assert server.calls == []


async def test_permission_survives_a_restart_and_a_change_meanwhile_asks():
    file = Memory()
    setup = await Setup(FakeServer(), file=file).loaded()
    allowed = await setup.subject(text="hi")
    again = Setup(FakeServer(), file=file)
    await again.tools.start()  # no server runs yet
    assert (await again.subject(text="hi")).target == allowed.target
    assert text_of(await again.call(allowed, text="hi")) == "You said hi"
    changed = Setup(FakeServer(tools=[tool(description="Other.")]), file=file)
    await changed.tools.start()
    with pytest.raises(Conflict, match="changed the description"):
        await changed.call(allowed, text="hi")


async def test_a_tool_that_is_gone_is_not_called():
    server = FakeServer()
    setup = await Setup(server).loaded()
    allowed = await setup.subject(text="hi")
    server.tools = []
    setup.tools.forget("demo")
    with pytest.raises(Conflict):
        await setup.call(allowed, text="hi")
    assert (await setup.tools.load("demo")) is None
    assert setup.heir.get(ECHO) is None
    assert GONE not in str(allowed)


async def test_a_blocked_server_is_withdrawn():
    setup = await Setup(FakeServer()).loaded()
    setup.pool.blocked["demo"] = "It is switched off."
    setup.tools.state_changed("demo")
    assert setup.heir.get(ECHO) is None
    assert setup.heir.loadable("full", "ask", ()) == ()


async def test_progress_is_shown_and_bounded():
    async def busy(
        _: Mapping[str, Json], progress: ProgressListener | None
    ) -> types.CallToolResult:
        assert progress is not None
        for n in range(5_000):
            await progress(n, None, "step\u202e\n")
        return said("done")

    setup = await Setup(FakeServer(answer=busy)).loaded()
    outputs = await setup.call(text="hi")
    lines = [each.text for each in outputs if isinstance(each, Progress)]
    assert lines[0] == "step\\u202e (0)\n"
    assert len(lines) == 200
    assert text_of(outputs) == "done"


async def hang(_: Mapping[str, Json], __: ProgressListener | None) -> types.CallToolResult:
    await asyncio.Event().wait()
    raise AssertionError


async def test_a_silent_call_ends_at_both_sides():
    server = FakeServer(answer=hang)
    setup = await Setup(server, silent=0.01).loaded()
    with pytest.raises(Conflict, match="did not answer within"):
        await setup.call(text="hi")
    assert server.cancelled == 1


async def test_stopping_a_call_reaches_the_server():
    server = FakeServer(answer=hang)
    setup = await Setup(server).loaded()
    running = asyncio.create_task(setup.call(text="hi"))
    await server.called.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert server.cancelled == 1


FORM = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "enum": ["Bern", "Oslo"]},
        "days": {"type": "integer", "default": 3},
        "api_key": {"type": "string"},
    },
    "required": ["city", "api_key"],
}
FORMS = {
    "accepted": (
        ["Oslo", "", "s3cret"],
        "accept",
        {"city": "Oslo", "days": 3, "api_key": "s3cret"},
    ),
    "corrected": (
        ["Rome", "Bern", "2", "k"],
        "accept",
        {"city": "Bern", "days": 2, "api_key": "k"},
    ),
    "declined": (["/decline"], "decline", None),
    "cancelled": (["Oslo", "/cancel"], "cancel", None),
    "never valid": (["a", "b", "c"], "cancel", None),
}


@pytest.mark.parametrize(("answers", "action", "content"), FORMS.values(), ids=FORMS)
async def test_a_form_is_asked_field_by_field(
    answers: list[str], action: str, content: dict[str, Any] | None
):
    found: list[types.ElicitResult] = []

    async def asks(_: Mapping[str, Json], __: ProgressListener | None) -> types.CallToolResult:
        params = types.ElicitRequestFormParams(message="Where to?", requested_schema=FORM)
        answer = await setup.questions.elicit("demo", params)
        assert isinstance(answer, types.ElicitResult)
        found.append(answer)
        return said("done")

    setup = await Setup(FakeServer(answer=asks)).loaded()
    setup.answers = list(answers)
    outputs = await setup.call(text="hi")
    asked = [each for each in outputs if isinstance(each, InputRequested)]
    assert asked[0].prompt.startswith("The MCP server demo asks: Where to?\n")
    assert [each.password for each in asked if "api_key" in each.prompt] in ([True], [])
    assert asked[0].choices == ("Bern", "Oslo")
    assert sum(isinstance(each, InputEnded) for each in outputs) == len(asked) == len(answers)
    assert (found[0].action, found[0].content) == (action, content)


async def test_a_question_without_a_call_is_declined():
    setup = await Setup(FakeServer()).loaded()
    params = types.ElicitRequestFormParams(message="Where to?", requested_schema=FORM)
    answer = await setup.questions.elicit("demo", params)
    assert isinstance(answer, types.ElicitResult)
    assert answer.action == "decline"
    assert [root.uri for root in setup.questions.roots("demo")] == ["file:///workspace"]

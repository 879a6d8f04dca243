"""Model calls that servers ask for: allowed by entry and user, bounded, counted, cancelled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import mcp_types as types
import pytest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.host.mcp_client.sampling import MAX_MESSAGES, MAX_PROMPT, Sampling
from jupyter_ai_shoulders.host.mcp_client.server_questions import MAX_SAMPLES, ServerQuestions
from jupyter_ai_shoulders.mcp_client.ports import ProgressListener
from jupyter_ai_shoulders.notebook.execution.stdin import PendingInputs
from jupyter_ai_shoulders.storage.base import Sessions
from jupyter_ai_shoulders.testing.scripted_provider import (
    Fail,
    Gate,
    Say,
    ScriptedProvider,
    turn,
)
from jupyter_ai_shoulders.tools.base import InputRequested, Progress
from jupyter_ai_shoulders.tools.mcp.running_calls import RunningCall, RunningCalls
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.ids import CallId, SessionId, TurnId
from tests.engine.engine_harness import FakeModels, model_spec
from tests.host.mcp_client.test_server_tools import Setup, text_of
from tests.tools.direct_calls import context
from tests.tools.mcp.fake_servers import FakeServer, said

SECRET = "sk-canary-0123456789"


QUESTION = (
    "The MCP server demo wants to send this text to M1, at your expense. It gets the answer. "
    "Answer yes to allow it once.\n"
    "> system: Be short.\n> \n> user: One\\u202e [key]\n> \n> more\n> \n> assistant: Fine\n> \n"
    "> user: Two\n> lines"
)


class OneSession:
    """The sessions of the tests: one, without a model of its own."""

    model = None
    id = SessionId("session")
    owner = "ada"

    def get(self, session_id: SessionId) -> OneSession:
        assert session_id == self.id
        return self


def message(text: str, role: Any = "user") -> types.SamplingMessage:
    return types.SamplingMessage(role=role, content=types.TextContent(text=text))


def request(*messages: types.SamplingMessage, **more: Any) -> types.CreateMessageRequestParams:
    given = list(messages or [message("Hello")])
    values: dict[str, Any] = {"messages": given, "max_tokens": 100, **more}
    return types.CreateMessageRequestParams(**values)


class Asked:
    """A call during which a server asks a model, and a user who answers."""

    def __init__(self, *script: Any, answer: str = "yes", allowed: bool = True) -> None:
        self.provider = ScriptedProvider(*script)
        self.inputs = PendingInputs()
        self.running = RunningCalls()
        self.answer = answer
        self.shown: list[str] = []
        self.lines: list[str] = []
        sampling = Sampling(
            FakeModels(self.provider, model_spec()),
            ModelPreferences,
            cast("Sessions", OneSession()),
            allows=lambda server: allowed and server == "demo",
            redact=lambda text: text.replace(SECRET, "[key]"),
        )
        self.questions = ServerQuestions(self.running, self.inputs, Path("/workspace"), sampling)

    async def sample(self, *asked: types.CreateMessageRequestParams) -> list[Any]:
        """Ask during one call; return the answers."""
        with self.running.running("demo", context()) as call:
            user = asyncio.create_task(self._use(call))
            answers = [await self.questions.sample("demo", params) for params in asked]
            call.outputs.put_nowait(None)
            await user
        return answers

    async def _use(self, call: RunningCall) -> None:
        while (output := await call.outputs.get()) is not None:
            if isinstance(output, InputRequested):
                self.shown.append(output.prompt)
                assert not output.password
                assert self.inputs.answer(SessionId("session"), CallId("call"), self.answer)
            elif isinstance(output, Progress):
                self.lines.append(output.text)


async def test_a_model_answers_exactly_what_the_user_saw() -> None:
    asked = Asked("Short.")
    [answer] = await asked.sample(
        request(
            message(f"One\u202e {SECRET}"),
            message("more"),
            message("Fine", "assistant"),
            message("Two\nlines"),
            system_prompt="Be short.",
            max_tokens=1_000_000,
        )
    )
    assert asked.shown == [QUESTION]
    [sent] = asked.provider.requests
    texts = [[part.text for part in each.parts if part.type == "text"] for each in sent.messages]
    assert texts == [["One\\u202e [key]\n\nmore"], ["Fine"], ["Two\nlines"]]
    assert (sent.system, sent.max_output, sent.tools) == ("Be short.", 2_000, ())
    assert sent.account == UsageAccount("other", SessionId("session"), TurnId("turn"), "ada")
    assert answer == types.CreateMessageResult(
        role="assistant",
        content=types.TextContent(text="Short."),
        model="m1",
        stop_reason="endTurn",
    )
    assert asked.lines == ["M1 answered the server (120 tokens): Short.\n"]


PICTURE = types.SamplingMessage(
    role="user", content=types.ImageContent(data="AAAA", mime_type="image/png")
)
TOOL = types.Tool(name="t", input_schema={"type": "object"})
UNUSABLE: dict[str, tuple[types.CreateMessageRequestParams, str]] = {
    "picture": (request(PICTURE), "Only texts"),
    "too long": (request(message("x" * MAX_PROMPT)), "At most 20,000 characters"),
    "long system": (request(system_prompt="x" * MAX_PROMPT), "At most 20,000 characters"),
    "many": (request(*[message("x")] * (MAX_MESSAGES + 1)), "At most 50 messages"),
    "begun answer": (request(message("a"), message("b", "assistant")), "must have the role user"),
    "nothing": (types.CreateMessageRequestParams(messages=[], max_tokens=1), "role user"),
    "tools": (request(tools=[TOOL]), "Tools are not offered"),
}


@pytest.mark.parametrize(("params", "why"), UNUSABLE.values(), ids=UNUSABLE)
async def test_what_cannot_be_shown_whole_is_refused_without_a_question(
    params: types.CreateMessageRequestParams, why: str
) -> None:
    asked = Asked()
    [answer] = await asked.sample(params)
    assert isinstance(answer, types.ErrorData)
    assert why in answer.message
    assert (asked.shown, asked.provider.requests) == ([], [])


OVER = PolicyRefusal("The budget of $5 is spent.", code="budget_exhausted")
NOTHING = "Nothing was sent to a model.\n"
FAILURES: dict[str, tuple[Any, dict[str, Any], str, list[str]]] = {
    "not allowed": (turn(), {"allowed": False}, "not allowed", []),
    "declined": (turn(), {"answer": "/decline"}, "did not allow", [NOTHING]),
    "other words": (turn(), {"answer": "ok"}, "did not allow", [NOTHING]),
    "budget": (
        turn(Fail(OVER)),
        {},
        "could not be asked",
        ["No model answered: The budget of $5 is spent.\n"],
    ),
    "empty": (
        turn(),
        {},
        "could not be asked",
        ["No model answered: M1: the model gave no answer.\n"],
    ),
}


@pytest.mark.parametrize(("script", "user", "why", "lines"), FAILURES.values(), ids=FAILURES)
async def test_the_server_learns_that_it_failed_and_the_user_why(
    script: Any, user: dict[str, Any], why: str, lines: list[str]
) -> None:
    asked = Asked(script, **user)
    [answer] = await asked.sample(request())
    assert isinstance(answer, types.ErrorData)
    assert why in answer.message
    assert "$" not in answer.message
    assert asked.lines == lines


async def test_a_call_asks_a_limited_number_of_times_and_a_cut_answer_says_so() -> None:
    cut = turn(Say("And so"), stop="max_tokens")
    asked = Asked(cut, *["fine"] * MAX_SAMPLES)
    answers = await asked.sample(*[request()] * (MAX_SAMPLES + 1))
    assert answers[0].stop_reason == "maxTokens"
    assert isinstance(answers[-1], types.ErrorData)
    assert len(asked.provider.requests) == len(asked.shown) == MAX_SAMPLES


async def test_nothing_is_asked_without_a_call_or_for_another_server() -> None:
    asked = Asked()
    assert isinstance(await asked.questions.sample("demo", request()), types.ErrorData)
    assert not asked.questions.allows_sampling("other")


async def test_a_model_call_ends_with_the_call_of_the_tool() -> None:
    gate = Gate()
    asked = Asked(turn(gate, Say("late")))
    with asked.running.running("demo", context()) as call:
        sampling = asyncio.create_task(asked.questions.sample("demo", request()))
        assert isinstance(await call.outputs.get(), InputRequested)
        asked.inputs.answer(SessionId("session"), CallId("call"), "yes")
        await gate.reached.wait()
    answer = await sampling
    assert isinstance(answer, types.ErrorData)
    assert answer.message == "The model could not be asked."
    assert asked.provider.closed_early == 1


async def test_a_question_does_not_outlive_its_call() -> None:
    asking: list[asyncio.Task[Any]] = []

    async def answers_at_once(
        _: Mapping[str, Json], __: ProgressListener | None
    ) -> types.CallToolResult:
        form = types.ElicitRequestFormParams(message="Well?", requested_schema={})
        asking.append(asyncio.create_task(setup.questions.elicit("demo", form)))
        await asyncio.sleep(0)
        return said("done")

    setup = await Setup(FakeServer(answer=answers_at_once)).loaded()
    assert text_of(await setup.call(text="hi")) == "done"
    assert (await asking[0]).action == "cancel"

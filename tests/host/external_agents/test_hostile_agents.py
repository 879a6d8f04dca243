"""Agents that flood, lie, hang, crash and print nonsense: bounded, shown, and over with the turn.

Each row is a process of its own. After each, the log keeps its invariants, and the conversation
works: with the same agent, with one that was started again, or by saying why not.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.acp_client.connection import AgentTimeouts
from jupyter_ai_shoulders.guard.process import stdio_launcher
from jupyter_ai_shoulders.host.external_agents import agent_conversation, relay_queue
from jupyter_ai_shoulders.wire.conversation.views import ActivityView, AgentView
from jupyter_ai_shoulders.wire.events import TurnEnd
from tests.engine.log_invariants import check_contexts, check_log
from tests.host.external_agents.agent_workspace import AgentWorkspace, agent_workspace

SHORT = 0.8
"""Seconds that each stage may take here."""
BOUND = 15.0
"""Seconds in which each row is over."""
EVENTS = 300
"""The limit of events of a prompt here."""
NESTED = "{" + '"a":[' * 100_000
HIDDEN = "Read \u202egpj.exe\u200b \x1b[31m"
TOOL = {"toolCallId": "t", "title": "Try it", "kind": "execute", "rawInput": {"command": "true"}}


@dataclass(frozen=True)
class Hostile:
    """What an agent does, and what must be seen of it."""

    name: str
    steps: Sequence[Sequence[Any]] = (("say", "fine"),)
    env: dict[str, str] = field(default_factory=dict[str, str])
    said: str | None = None
    """In the agent's text."""
    error: str | None = None
    """In the error of the turn."""
    code: str | None = None
    """Of that error."""
    notice: str | None = None
    """The code of a notice."""
    title: str | None = None
    """Of the last activity."""
    works_again: bool = True
    """Whether the next message is answered."""


HOSTILE = (
    Hostile(
        "flood of updates", [("flood", 3_000), ("say", "fine")], said="fine", title="Step 2999"
    ),
    Hostile(
        "flood of tool calls", [("flood_of_calls", 2_000)], notice="output_limit", title="Step 0"
    ),
    Hostile("50 MB of text in pieces", [("big", 50, 500)], notice="output_limit"),
    Hostile("50 MB of text at once", [("big", 50, 1)], error="too long", code="stream_truncated"),
    Hostile("another session", [("to", "other", "psst"), ("say", "fine")], said="fine"),
    Hostile(
        "the same tool call twice",
        [("tool", TOOL), ("tool", {**TOOL, "title": "Again"}), ("say", "fine")],
        said="fine",
        title="Again",
    ),
    Hostile("hidden characters", [("tool", {**TOOL, "title": HIDDEN})], title="\\u202e"),
    Hostile("half a character", [("say", "\ud800"), ("tool", {**TOOL, "title": "\ud800"})]),
    Hostile("a question without a no", [("ask_for_ever", TOOL)], said="cancelled"),
    Hostile("a question left open", [("ask_and_end", TOOL)]),
    Hostile(
        "10 000 terminals", [("flood_of_terminals", 10_000)], said="Too many requests are open"
    ),
    Hostile(
        "nonsense",
        [
            *(("raw", line) for line in ("no json", "[]", "1", "null", "{", '{"jsonrpc": "2.0"}')),
            ("raw", NESTED),
            ("say", "fine"),
        ],
        said="fine",
    ),
    Hostile(
        "wrong ids",
        [
            ("raw", '{"jsonrpc": "2.0", "id": 999, "result": {}}'),
            ("raw", '{"jsonrpc": "2.0", "id": "x", "error": {"code": 1, "message": "no"}}'),
            ("raw", '{"jsonrpc": "2.0", "id": null, "result": {}}'),
            ("say", "fine"),
        ],
        said="fine",
    ),
    Hostile(
        "unknown requests and updates",
        [
            ("raw", '{"jsonrpc": "2.0", "id": 7, "method": "fs/delete", "params": {}}'),
            ("raw", '{"jsonrpc": "2.0", "method": "session/update", "params": {"update": 1}}'),
            ("say", "fine"),
        ],
        said="fine",
    ),
    Hostile("end without its child", [("leave_a_child",)], error="ended", code="stream_truncated"),
    Hostile("crash in a prompt", [("crash",)], error="it broke", code="stream_truncated"),
    *(
        Hostile(
            f"no answer to {stage}",
            env={"ACP_HANG": stage},
            error="within",
            code="provider_timeout",
            works_again=False,
        )
        for stage in ("initialize", "session/new")
    ),
    *(
        Hostile(
            f"crash at {stage}",
            env={"ACP_CRASH": stage},
            error="ended before it could",
            code="stream_truncated",
            works_again=False,
        )
        for stage in ("initialize", "session/new", "session/prompt")
    ),
    Hostile(
        "another version", env={"ACP_VERSION": "99"}, error="speaks version 99", works_again=False
    ),
)


@pytest.fixture(autouse=True)
def short_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten what we wait for at each stage, and what we keep."""
    short = partial(AgentTimeouts, SHORT, SHORT, SHORT, SHORT, SHORT)
    monkeypatch.setattr("jupyter_ai_shoulders.acp_client.connection.AgentTimeouts", short)
    monkeypatch.setattr(agent_conversation, "CANCEL_SECONDS", SHORT)
    monkeypatch.setattr(stdio_launcher, "EXIT_SECONDS", SHORT / 2)
    monkeypatch.setattr(relay_queue, "EVENT_LIMIT", EVENTS)


async def test_a_hostile_agent_is_bounded_and_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    variants = {f"h{number}": row.env for number, row in enumerate(HOSTILE)}
    problems: list[str] = []
    async with agent_workspace(tmp_path, variants=variants) as here:
        rows = [(row, here.another(f"h{number}")) for number, row in enumerate(HOSTILE)]
        for row, conversation in rows:
            if not row.env:
                problems += await _problems(row, conversation)
        waiting = (_problems(row, conversation) for row, conversation in rows if row.env)
        problems += [problem for found in await asyncio.gather(*waiting) for problem in found]

    assert problems == []
    assert "Error parsing JSON-RPC message" not in caplog.text


async def _problems(row: Hostile, here: AgentWorkspace) -> list[str]:
    """Play a row; return what is wrong."""
    since = time.monotonic()
    try:
        async with asyncio.timeout(BOUND):
            end = await here.turn_with_answers(*row.steps, decision="deny")
            found = _unexpected(row, here, end)
            again = await here.turn(("recall",))
    except TimeoutError:
        return [f"{row.name}: not over within {BOUND:g} s"]
    if row.works_again and "messages" not in again:
        found.append("the next message is not answered")
    try:
        check_log(here.events())
        if len(here.events()) < 2 * EVENTS:
            check_contexts(here.events(), here.host.blobs)
    except AssertionError as error:
        found.append(f"the log: {error}")
    took = time.monotonic() - since
    print(f"{row.name}: {took:.2f} s, {len(here.events())} events")  # noqa: T201 for a run by hand
    return [f"{row.name}: {problem}" for problem in found]


def _unexpected(row: Hostile, here: AgentWorkspace, end: TurnEnd) -> list[str]:
    events = here.events()
    message = end.error.message if end.error else ""
    notices = [event.code for event in events if event.type == "notice"]
    replies = [each for each in here.view().messages if isinstance(each, AgentView)]
    titles = [
        part.title for each in replies for part in each.parts if isinstance(part, ActivityView)
    ]
    last = [event.title for event in events if event.type == "agent-activity"][-1:]
    checks = {
        f"said {here.said()[:200]!r}": row.said is None or row.said in here.said(),
        f"the error is {end.error}": (row.error or "") in message
        and (row.error is None) == (end.error is None),
        "the code is another": row.code is None or (end.error and end.error.code) == row.code,
        f"the notices are {notices}": notices.count("output_limit") == (row.notice is not None),
        f"the titles are {titles[-3:]}": row.title is None or row.title in last[0],
        "it spoke for another": "psst" not in here.said(),
        f"{len(events)} events": len(events) < 2 * EVENTS,
        "too much text": len(here.said()) <= 4_000_000,
    }
    return [problem for problem, holds in checks.items() if not holds]


@pytest.mark.parametrize("stage", ["session/load", "session/set_mode"])
async def test_an_agent_that_does_not_continue_its_session_is_an_error(
    tmp_path: Path, stage: str
) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.turn(("say", "Hello."))
        session = here.session
    async with agent_workspace(tmp_path, session=session, ACP_HANG=stage) as again:
        again.messages = 1
        end = await again.turn_with_answers(("say", "Hello."))
        assert end.error is not None
        assert end.error.code == "provider_timeout"


async def test_an_agent_that_does_not_stop_is_ended(tmp_path: Path) -> None:
    async with agent_workspace(tmp_path) as here:
        await here.send(("deaf",))
        await here.until(lambda event: event.type == "text-delta")
        await here.host.engine.cancel(here.session)
        end = await here.until(lambda event: isinstance(event, TurnEnd))
        assert isinstance(end, TurnEnd)
        assert end.exit == "cancelled"
        async with asyncio.timeout(10):
            await asyncio.gather(*here.host.protocols.agent_models.ending)
        assert await here.host.protocols.access_tokens.list(None) == ()

        assert await here.turn(("recall",)) == "2 messages"

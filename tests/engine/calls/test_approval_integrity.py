"""A call runs exactly as the user approved it, or not at all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.engine.calls.approval_integrity import change_since_approval, fact_hashes
from jupyter_ai_shoulders.engine.loop.state import AllowCall, Confinement, ShownCall
from jupyter_ai_shoulders.engine.loop.state import CallState as StateCall
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.base import (
    CallContext,
    CallSubject,
    Category,
    Result,
    Target,
    ToolArguments,
    text_content,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.events import ApprovalScope, Risk, parse_event
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Toolset
from tests.engine.engine_harness import EngineHarness, make_engine, make_session, restart_engine
from tests.engine.fake_tools import ALL
from tests.engine.loop.test_turns import check

CLOSED = Confinement(sandboxed=True, read_only=False, network=False)
OPEN = replace(CLOSED, network=True)
READ_ONLY = replace(CLOSED, read_only=True)
FREE = Confinement(sandboxed=False)


class CommandArguments(ToolArguments):
    command: str


@dataclass
class Commands:
    """A tool like ``run_command`` with adjustable settings."""

    held: Confinement = CLOSED
    notes: tuple[str, ...] = ()
    asks: str | None = None
    last_ms: int | None = None
    off: bool = False
    ran: list[str] = field(default_factory=list[str])
    judged: list[CallSubject | None] = field(default_factory=list[CallSubject | None])

    name: ClassVar[str] = "commands"
    category: ClassVar[Category] = "workspace"
    risk: ClassVar[Risk] = "execute"
    external: ClassVar[bool] = False
    idempotent: ClassVar[bool] = False
    toolsets: ClassVar[frozenset[Toolset]] = ALL
    arguments = CommandArguments

    async def subject(self, args: CommandArguments, context: CallContext) -> CallSubject:
        if self.off:
            raise PolicyRefusal("Commands are switched off here.", code="disabled")
        return CallSubject(
            title="Run a command",
            target_label=None,
            target=Target(command=args.command),
            preview=args.command,
            language="bash",
            always_ask_reason=self.asks,
            last_duration_ms=self.last_ms,
            sandboxed=self.held.sandboxed,
            read_only=self.held.read_only,
            network=self.held.network,
            notes=self.notes,
        )

    async def run(self, args: CommandArguments, context: CallContext) -> AsyncIterator[Result]:
        self.ran.append(args.command)
        self.judged.append(context.subject)
        yield Result(ToolEnvelope(ok=True, kind="text", data=None), text_content("Done."))


def run(call_id: str, command: str = "make") -> Call:
    return Call("commands", {"command": command}, call_id)


def error(w: EngineHarness) -> str:
    found = w.of(ev.ToolResult)[-1].result.error
    assert found is not None
    assert found.code == "stale"
    return found.message


CHANGES: dict[str, tuple[Confinement, Confinement, str]] = {
    "sandbox switched off": (
        CLOSED,
        FREE,
        "in a sandbox without network access, not without a sandbox",
    ),
    "sandbox switched on": (
        FREE,
        CLOSED,
        "without a sandbox, not in a sandbox without network access",
    ),
    "network opened": (
        CLOSED,
        OPEN,
        "in a sandbox without network access, not in a sandbox with network access",
    ),
    "network closed": (
        OPEN,
        CLOSED,
        "in a sandbox with network access, not in a sandbox without network access",
    ),
    "made writable": (
        READ_ONLY,
        CLOSED,
        "in a read-only sandbox without network access, not in a sandbox without network access",
    ),
}


@pytest.mark.parametrize("restart", [False, True], ids=["running", "restarted"])
@pytest.mark.parametrize(("shown", "now", "said"), CHANGES.values(), ids=CHANGES.keys())
async def test_command_does_not_run_otherwise_than_the_card_said(
    shown: Confinement, now: Confinement, said: str, restart: bool
):
    tool = Commands(shown)
    script = (turn(run("c2")), "End.")
    w = make_engine(turn(run("c1")), *script, loop=[tool])
    await w.say()
    (asked,) = w.of(ev.ApprovalRequest)
    assert Confinement(asked.sandboxed, asked.read_only, asked.network) == shown
    if restart:
        w = await restart_engine(w, None, *script)
    tool.held = now
    await w.answer()

    assert tool.ran == []
    assert error(w) == f"Nothing ran: it was allowed to run {said}."
    # The model repeats the call, and the user sees its current form.
    again = w.of(ev.ApprovalRequest)[-1]
    assert again.call_id == "c2"
    assert Confinement(again.sandboxed, again.read_only, again.network) == now
    await w.answer()
    assert tool.ran == ["make"]
    check(w)


@pytest.mark.parametrize("scope", ["session", "always"])
async def test_answer_for_longer_is_bound_to_the_sandbox_too(scope: ApprovalScope):
    tool = Commands(CLOSED)
    w = make_engine(turn(run("c1")), turn(run("c2")), "End.", loop=[tool])
    await w.say()
    tool.held = FREE
    await w.answer(scope=scope)

    assert tool.ran == []
    assert "not without a sandbox" in error(w)
    assert w.of(ev.ApprovalRequest)[-1].reason.kind == "sandbox"


async def test_grant_for_a_sandboxed_command_does_not_cover_one_without_a_sandbox():
    tool = Commands(CLOSED)
    w = make_engine(turn(run("c1")), turn(run("c2")), "End.", loop=[tool])

    def leave(event: ev.Event) -> None:
        if isinstance(event, ev.ToolResult):
            tool.held = FREE

    w.store.before_append = leave
    await w.say()
    await w.answer(scope="session")

    assert tool.ran == ["make"]
    second = w.of(ev.ApprovalRequest)[-1]
    assert (second.call_id, second.reason.kind, second.scopes) == ("c2", "sandbox", ("once",))


async def test_command_that_the_mode_allowed_does_not_run_without_a_sandbox():
    """The settings change while another call of the step waits for its answer."""
    tool = Commands(CLOSED)
    asked = Call("run_it", {"path": "a.ipynb"}, "c2")
    rules = '{"version": 1, "rules": [{"action": "ask", "tool": "run_it"}]}'
    script = turn(run("c1"), asked)
    w = make_engine(script, "End.", given=make_session(mode="bypass"), rules=rules, loop=[tool])
    await w.say()
    assert w.pending() == "c2"
    tool.held = FREE
    await w.answer()

    assert tool.ran == []
    assert w.results() == [("c1", "error"), ("c2", "ok")]
    check(w)


async def test_what_does_not_matter_may_change():
    tool = Commands(CLOSED, notes=("Not covered by undo: it has a pipe.",))
    w = make_engine(turn(run("c1")), "End.", loop=[tool])
    await w.say()
    tool.notes, tool.last_ms = (), 60_000
    await w.answer()

    assert w.results() == [("c1", "ok")]
    (judged,) = tool.judged
    assert judged is not None
    assert judged.sandboxed is True


async def test_protection_that_was_shown_holds():
    tool = Commands(CLOSED, asks="The sandbox cannot keep it from .env.")
    w = make_engine(turn(run("c1")), "End.", loop=[tool])
    await w.say()
    tool.asks = "The sandbox cannot keep it from .env, credentials."
    await w.answer()

    assert tool.ran == []
    assert error(w).startswith("Nothing ran: the protection of this call")


async def test_command_that_cannot_be_looked_at_does_not_run():
    tool = Commands(CLOSED)
    w = make_engine(turn(run("c1")), "End.", loop=[tool])
    await w.say()
    tool.off = True
    await w.answer()

    assert tool.ran == []
    found = w.of(ev.ToolResult)[0].result.error
    assert found is not None
    assert found.code == "disabled"


@pytest.mark.parametrize(
    ("command", "scopes", "reach"),
    [
        ("git diff HEAD", ("once", "session", "always"), ("git diff", False)),
        ("python3 x.py", ("once", "session", "always"), ("python3 x.py", True)),
        ("ls | head", ("once",), None),
    ],
)
async def test_card_names_what_an_answer_for_longer_allows(
    command: str, scopes: tuple[ApprovalScope, ...], reach: tuple[str, bool] | None
):
    w = make_engine(turn(run("c1", command)), "End.", loop=[Commands()])
    await w.say()
    (asked,) = w.of(ev.ApprovalRequest)

    assert asked.scopes == scopes
    assert (asked.reach and (asked.reach.command, asked.reach.exact)) == reach


# logs of earlier versions, and single facts

SUBJECT = CallSubject("", None, Target(command="make"), "make", "bash", sandboxed=True)
CALL = StateCall(CallId("c1"), "commands", {"command": "make"}, None, "execute", "Run a command")


def approved(shown: ShownCall) -> StateCall:
    return replace(CALL, shown=shown, verdict=AllowCall(shown.confinement))


def test_question_of_an_earlier_version_can_be_read():
    text = (
        '{"seq": 1, "session_id": "s", "turn_id": "t", "at": "2026-11-21T10:00:00Z",'
        ' "type": "approval-request", "call_id": "c1", "tool": "commands",'
        ' "arguments": {"command": "make"}, "arguments_hash": "", "preview": "make",'
        ' "language": "bash", "reason": {"kind": "mode", "text": ""}, "scopes": ["once"],'
        ' "sandboxed": true}'
    )
    event = parse_event(text)

    assert isinstance(event, ev.ApprovalRequest)
    assert (event.network, event.read_only, event.reach) == (None, None, None)
    assert event.fact_hashes == {}


OLD = ShownCall(Confinement(sandboxed=True), preview="make")
HASHED = ShownCall(
    Confinement(sandboxed=True),
    "make",
    fact_hashes(SUBJECT, arguments={"command": "make"}, external=False, risk="execute"),
)
COMPARED: dict[str, tuple[ShownCall, CallSubject, bool, str | None]] = {
    "earlier version": (OLD, replace(SUBJECT, network=True), False, None),
    "earlier version, other code": (OLD, replace(SUBJECT, preview="make x"), False, "the preview"),
    "earlier version, no sandbox": (OLD, replace(SUBJECT, sandboxed=False), False, "sandbox"),
    "the same": (HASHED, SUBJECT, False, None),
    "other title": (HASHED, replace(SUBJECT, title="Other", undoable=True), False, None),
    "other code": (HASHED, replace(SUBJECT, preview="make x"), False, "the preview"),
    "other language": (HASHED, replace(SUBJECT, language="sh"), False, "the preview"),
    "other target": (HASHED, replace(SUBJECT, target=Target(command="x")), False, "target"),
    "external": (HASHED, SUBJECT, True, "sends data outside"),
    "secret": (HASHED, replace(SUBJECT, reads_secret=True), False, "the protection"),
}


@pytest.mark.parametrize(
    ("shown", "now", "external", "said"), COMPARED.values(), ids=COMPARED.keys()
)
def test_difference_from_what_was_shown_is_named(
    shown: ShownCall, now: CallSubject, external: bool, said: str | None
):
    found = change_since_approval(approved(shown), now, external=external)

    assert (found is None) is (said is None)
    if found is not None and said is not None:
        assert said in found.message


def test_other_arguments_are_another_call():
    call = replace(approved(HASHED), arguments={"command": "make", "timeout": 9})
    found = change_since_approval(call, SUBJECT, external=False)

    assert found is not None
    assert "arguments" in found.message


def test_allowance_that_does_not_say_how_is_none_without_a_sandbox():
    call = replace(CALL, verdict=AllowCall())

    assert change_since_approval(call, SUBJECT, external=False) is None
    assert change_since_approval(call, replace(SUBJECT, sandboxed=None), external=False) is None
    assert (
        change_since_approval(call, replace(SUBJECT, sandboxed=False), external=False) is not None
    )

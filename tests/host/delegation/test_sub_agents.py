"""Sub-agents through a real host: their work, limits, questions, cancellation and traces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.storage.sessions.table import SUB_AGENT, SessionFilter
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Gate,
    Say,
    ScriptedTurn,
    ScriptEntry,
    turn,
)
from jupyter_ai_shoulders.tools.agent.delegate import SUMMARY_LIMIT
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerQuestion,
    CreateSession,
    ForkSession,
    PatchSession,
    ResumeTurn,
    RuleBody,
    SendMessage,
)
from jupyter_ai_shoulders.wire.ids import CallId, MessageId
from jupyter_ai_shoulders.wire.sessions import Session
from jupyter_ai_shoulders.wire.usage import TokenUsage
from tests.host.delegation.delegating_host import (
    PARENT,
    Delegating,
    Scripts,
    delegating,
    delegating_host,
)

TASK = "Read the log and name its last line."
READ = Call("read_file", {"path": "app.log"}, "r1")
LOAD = Call("load_tools", {"category": "workspace"}, "l1")
WRITE = Call("create_file", {"path": "made.txt", "content": "x\n"}, "w1")
FOUND = "The last line is line 20 [app.log:20]; see also [app.log:90-91] and [gone.py:1]."


def scripts(*child: ScriptEntry, then: ScriptEntry = "All done.") -> Scripts:
    """One delegation; ``child`` is its script."""
    return {PARENT: [turn(delegating(TASK)), then], "Read the log": list(child)}


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition of the log."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 a condition of the log
            await asyncio.sleep(0.01)


async def test_a_summary_comes_back_with_its_places_checked(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts(turn(READ), FOUND)) as at:
        await at.send()

        result, (child,) = at.result(), at.children()
        assert result.status == "ok"
        assert "[app.log:20]" in at.told()
        assert "[app.log:90-91 – not found]" in at.told()
        assert "[gone.py:1 – not found]" in at.told()
        assert "2 of 3 places that it cites do not exist" in at.told()
        assert child.parent is not None
        assert (child.parent.session_id, child.parent.call_id) == (at.parent.id, "d1")
        assert (child.kind, child.source, child.mode, child.title) == (
            *("run", "delegate", "plan"),
            TASK,
        )
        assert isinstance(result.result.data, dict)
        assert result.result.data["conversation"] == child.id
        assert child.cost_micro_usd
        assert at.events(ev.TurnEnd)[-1].exit == "final_response"


async def test_the_parents_context_grows_by_the_summary_only(tmp_path: Path) -> None:
    secret = "what only the sub-agent read"
    async with delegating_host(tmp_path, scripts(turn(READ), "Short [app.log:1].")) as at:
        (Path(tmp_path) / "workspace" / "app.log").write_text(f"{secret}\n" * 500)
        await at.send()

        requests = at.model.of(PARENT)
        assert len(requests) == 2
        assert all(secret not in repr(each.messages) for each in requests)
        assert "Short [app.log:1]." in repr(requests[-1].messages[-1])
        assert any(secret in repr(each.messages) for each in at.model.of("Read the log"))


async def test_a_long_summary_is_cut(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("long " * 5_000)) as at:
        await at.send()

        assert len(at.told()) < SUMMARY_LIMIT + 500


async def test_three_work_at_once_and_the_fourth_waits(tmp_path: Path) -> None:
    gates = [Gate() for _ in range(4)]
    calls = [delegating(f"Survey part number {n}.", f"d{n}") for n in range(4)]
    children = {f"part number {n}": [turn(gate, Say(f"Part {n}."))] for n, gate in enumerate(gates)}
    async with delegating_host(tmp_path, {PARENT: [turn(*calls), "Done."], **children}) as at:
        await at.begin()
        await until(lambda: len(at.children()) == 3)
        await asyncio.gather(*(gate.reached.wait() for gate in gates[:3]))
        await asyncio.sleep(0.05)
        assert not gates[3].reached.is_set()
        waiting = [each.text for each in at.events(ev.ToolProgress) if each.call_id == "d3"]
        assert waiting == ["Waiting: 3 sub-agents work already\n"]

        gates[1].open.set()
        await gates[3].reached.wait()
        for gate in gates:
            gate.open.set()
        await at.host.engine.settled(at.parent.id)

        assert [at.result(f"d{n}").status for n in range(4)] == ["ok"] * 4


async def test_a_sub_agent_loads_no_sub_agents(tmp_path: Path) -> None:
    loading = turn(Call("load_tools", {"category": "agent"}))
    scripted: Scripts = {
        PARENT: [turn(delegating(TASK, toolset="workspace")), "All done."],
        "Read the log": [loading, "I had to do it myself."],
    }
    async with delegating_host(tmp_path, scripted) as at:
        await at.send()

        (child,) = at.children()
        (result,) = at.events(ev.ToolResult, child)
        assert isinstance(result.result.data, dict)
        assert result.result.data["tools"] == ["forget", "remember"]


async def test_a_sub_agent_is_not_offered_sub_agents_and_gets_none(tmp_path: Path) -> None:
    nested = turn(delegating("Do it for me, please.", "n1"))
    async with delegating_host(tmp_path, scripts(nested, "I had to do it myself.")) as at:
        await at.send()

        (child,) = at.children()
        assert [each.status for each in at.events(ev.ToolResult, child)] == ["error"]
        assert at.host.sessions.children(child.id) == []
        offered = {tool.name for each in at.model.of("Read the log") for tool in each.tools}
        assert "delegate" not in offered
        assert "run_in_own_kernel" not in offered  # it only reads
        parents = {tool.name for each in at.model.of(PARENT) for tool in each.tools}
        assert all("agent (" in each.system for each in at.model.of(PARENT))  # it can load it
        assert "run_in_own_kernel" not in parents


async def test_lists_hide_it_except_under_its_source(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Nothing found.")) as at:
        await at.send()

        (child,) = at.children()
        assert [each.id for each in at.listed()] == [at.parent.id]
        under = at.host.sessions.page(SessionFilter(source=SUB_AGENT), None, 9).sessions
        assert [each.id for each in under] == [child.id]


async def test_it_goes_and_comes_back_with_its_parent(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Nothing found.")) as at:
        await at.send()
        (child,) = at.children()

        await at.host.session_service.delete(at.host.sessions.get(at.parent.id))
        with pytest.raises(NotFound):
            at.host.sessions.get(child.id)
        at.host.session_service.undelete(at.parent.id, None)

        assert at.host.sessions.get(child.id).id == child.id


async def test_nobody_widens_it_afterwards(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Nothing found.", "Still nothing.")) as at:
        await at.send()
        (child,) = at.children()

        with pytest.raises(PolicyRefusal):
            at.host.session_service.change(child, PatchSession(mode="bypass"))
        await at.host.engine.send(
            child.id, SendMessage(id=MessageId("x"), text="Now write.", mode="bypass")
        )
        await at.host.engine.settled(child.id)

        assert [each.mode for each in at.events(ev.TurnStart, child)] == ["plan", "plan"]


async def test_taint_goes_both_ways(tmp_path: Path) -> None:
    # The parent has read names of files, the child reads a file.
    first = turn(Call("load_tools", {"category": "workspace"}, "l"))
    script: Scripts = {
        PARENT: [first, turn(Call("list_files", {}, "ls")), turn(delegating(TASK)), "Done."],
        "Read the log": [turn(READ), FOUND],
    }
    async with delegating_host(tmp_path, script) as at:
        await at.send()

        (child,) = at.children()
        assert TaintSource("names of files") in at.host.engine.sources(child.id)
        assert TaintSource("app.log", "app.log") in at.host.engine.sources(at.parent.id)


async def test_what_its_parent_read_makes_it_ask(tmp_path: Path) -> None:
    # A stranger's file makes the parent name an address in the task; a rule allows to fetch.
    url = "https://example.org/?secret=1"
    script: Scripts = {
        PARENT: [turn(READ), turn(delegating(f"Look at {url} now.", toolset="workspace")), "Done."],
        "Look at": [turn(Call("fetch_url", {"url": url}, "f1")), "I may not."],
    }
    async with delegating_host(tmp_path, script) as at:
        at.host.rules.add(RuleBody(action="allow", tool="fetch_url"))
        await at.begin()
        await until(lambda: at.children() and at.children()[0].status == "waiting")
        (child,) = at.children()
        (asked,) = at.events(ev.ApprovalRequest, child)

        assert asked.reason.kind == "taint"
        assert "app.log" in asked.reason.text
        assert "always" not in asked.scopes
        await at.host.engine.cancel(at.parent.id)
        await at.host.engine.settled(at.parent.id)


async def test_its_question_waits_for_the_person_or_is_denied(tmp_path: Path) -> None:
    wanted = turn(delegating(TASK, toolset="workspace"))
    script: Scripts = {
        PARENT: [wanted, "Done."],
        "Read the log": [turn(LOAD), turn(WRITE), "Written."],
    }
    async with delegating_host(tmp_path, script) as at:
        await at.begin()
        await until(lambda: at.children() and at.children()[0].status == "waiting")
        (child,) = at.children()
        (asked,) = at.events(ev.ApprovalRequest, child)
        await until(
            lambda: any("waiting for you" in each.text for each in at.events(ev.ToolProgress))
        )

        allow = AnswerApproval(decision="allow", scope="once")
        await at.host.engine.responses.answer_approval(child.id, asked.call_id, allow)
        await at.host.engine.settled(at.parent.id)

        assert at.result().status == "ok"
        assert (tmp_path / "workspace" / "made.txt").exists()


async def test_without_a_person_its_question_is_denied(tmp_path: Path) -> None:
    wanted = turn(delegating(TASK, toolset="workspace"))
    script: Scripts = {
        PARENT: [wanted, "Done."],
        "Read the log": [turn(LOAD), turn(WRITE), "I may not."],
    }
    async with delegating_host(tmp_path, script, interactive=False) as at:
        await at.send()

        (child,) = at.children()
        denied = at.events(ev.ToolResult, child)[-1]
        assert denied.status == "denied"
        assert denied.result.error is not None
        assert denied.result.error.code == "approval_required"
        assert not (tmp_path / "workspace" / "made.txt").exists()


async def test_clarify_is_answered_in_its_conversation(tmp_path: Path) -> None:
    asks = Call("clarify", {"question": "Which one?", "options": ["A", "B"]}, "q1")
    async with delegating_host(tmp_path, scripts(turn(asks), "It was B.")) as at:
        await at.begin()
        await until(lambda: at.children() and at.children()[0].status == "waiting")
        (child,) = at.children()

        answer = AnswerQuestion(answer=("B",))
        await at.host.engine.responses.answer_question(child.id, CallId("q1"), answer)
        await at.host.engine.settled(at.parent.id)

        assert "It was B." in at.told()


async def running(at: Delegating, gate: Gate) -> Session:
    """Begin and return the sub-agent once it speaks."""
    await at.begin()
    await gate.reached.wait()
    (child,) = at.children()
    return child


async def test_cancelling_the_parent_cancels_it(tmp_path: Path) -> None:
    gate = Gate()
    async with delegating_host(tmp_path, scripts(turn(gate, Say("Late.")))) as at:
        child = await running(at, gate)
        before = asyncio.get_running_loop().time()
        await at.host.engine.cancel(at.parent.id)
        await at.host.engine.settled(at.parent.id)
        await at.host.engine.settled(child.id)

        assert asyncio.get_running_loop().time() - before < 3
        assert at.result().status == "cancelled"
        assert [each.exit for each in at.events(ev.TurnEnd, child)] == ["cancelled"]
        assert at.events(ev.TurnEnd)[-1].exit == "cancelled"


async def test_cancelling_it_alone_lets_the_parent_go_on(tmp_path: Path) -> None:
    gate = Gate()
    async with delegating_host(tmp_path, scripts(turn(gate, Say("Late.")))) as at:
        child = await running(at, gate)
        await at.host.engine.cancel(child.id)
        await at.host.engine.settled(at.parent.id)

        assert at.result().status == "cancelled"
        assert "The user stopped this sub-agent." in at.told()
        assert at.events(ev.TurnEnd)[-1].exit == "final_response"


async def test_one_that_loops_is_stopped_and_says_so(tmp_path: Path) -> None:
    again = turn(Call("list_files", {"pattern": "*.nothing"}))
    first = turn(Call("load_tools", {"category": "workspace"}, "l"))
    async with delegating_host(tmp_path, scripts(first, again), interactive=False) as at:
        await at.send()

        (child,) = at.children()
        assert at.events(ev.TurnEnd, child)[-1].exit in {"error", "step_cap"}
        assert len(at.events(ev.StepStart, child)) <= 15
        assert at.events(ev.TurnEnd)[-1].exit == "final_response"


async def test_its_steps_are_limited(tmp_path: Path) -> None:
    count = iter(range(1000))

    def busy(_request: ModelRequest) -> ScriptedTurn:
        return turn(
            Say("Still at it [app.log:1]."),
            Call("todo", {"markdown": f"- [ ] {next(count)}"}),
        )

    async with delegating_host(tmp_path, scripts(busy)) as at:
        await at.send()

        (child,) = at.children()
        assert at.events(ev.TurnStart, child)[0].step_limit == 15
        assert at.events(ev.TurnEnd, child)[-1].exit == "step_cap"
        assert "stopped at a limit" in at.told()
        assert "Still at it [app.log:1]." in at.told()


async def test_its_money_counts_for_the_parents_turn(tmp_path: Path) -> None:
    dollar = TokenUsage(input_tokens=1_000_000, output_tokens=0)
    script = scripts(turn(READ, usage=dollar), FOUND)
    async with delegating_host(tmp_path, script) as at:
        await at.host.budgets.of(None).set_limits(SpendingLimits(turn=1_000_000))
        await at.send()

        (child,) = at.children()
        assert [each.exit for each in at.events(ev.TurnEnd, child)] == ["budget_exhausted"]
        error = at.result().result.error
        assert error is not None
        assert error.code == "budget_exhausted"
        assert child.cost_micro_usd == 1_000_000
        # The parent has spent next to nothing itself, and waits at its limit.
        assert at.host.sessions.get(at.parent.id).status == "waiting"
        assert not at.events(ev.TurnEnd)

        await at.host.engine.resume(
            at.parent.id, ResumeTurn(decision="resume", limit_micro_usd=2_000_000)
        )
        await at.host.engine.settled(at.parent.id)
        assert at.events(ev.TurnEnd)[-1].exit == "final_response"


async def test_owner_and_export(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts(turn(READ), FOUND)) as at:
        await at.send()
        (child,) = at.children()

        assert child.owner == at.parent.owner
        for form in ("md", "ipynb"):
            pieces = [piece async for piece in at.host.exporter.export(at.parent.id, form)]
            assert f"Conversation of the sub-agent: {child.id}" in "".join(pieces).replace("\\", "")


async def test_a_stopped_server_leaves_both_and_resuming_closes_it(tmp_path: Path) -> None:
    gate = Gate()
    async with delegating_host(tmp_path, scripts(turn(gate, Say("Late.")))) as at:
        child, parent = await running(at, gate), at.parent
    async with delegating_host(tmp_path, {PARENT: ["I go on without it."]}) as at:
        again = Delegating(at.host, at.model, parent)
        assert at.host.sessions.get(parent.id).status == "interrupted"

        await at.host.engine.resume(parent.id, ResumeTurn(decision="resume"))
        await at.host.engine.settled(parent.id)
        await until(lambda: at.host.sessions.get(child.id).status == "idle")

        assert again.result().status in {"cancelled", "unknown"}
        assert len(again.events(ev.MessageAdd, child)) == 1
        assert len(again.events(ev.StepStart, child)) == 1  # nothing ran again
        assert again.events(ev.TurnEnd)[-1].exit == "final_response"


async def test_it_belongs_to_the_owner_of_its_parent(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Nothing found."), has_owners=True) as at:
        created = CreateSession(model=at.parent.model, mode="ask")
        parent = at.host.session_service.create(created, owner="ada")
        owned = Delegating(at.host, at.model, parent)
        await owned.send()

        assert [each.owner for each in owned.children()] == ["ada"]
        for owner, count in (("ada", 1), ("bob", 0)):
            chosen = SessionFilter(source=SUB_AGENT, owner=owner)
            assert len(at.host.sessions.page(chosen, None, 9).sessions) == count


async def test_a_copy_of_its_conversation_is_the_users_own(tmp_path: Path) -> None:
    async with delegating_host(tmp_path, scripts("Nothing found.")) as at:
        await at.send()
        (child,) = at.children()

        copy = await at.host.forks.fork(child, ForkSession(seq=None))

        assert (copy.parent, copy.source) == (None, "chat")
        assert copy.id in {each.id for each in at.listed()}

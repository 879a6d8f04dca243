"""A sub-agent is never wider than its parent: modes, toolsets, rules and limits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import PlannedCall, SpendingLimits
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.engine_settings import EngineSettings
from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.engine.session.cache import turn_time_limit
from jupyter_ai_shoulders.engine.session.driver import turn_step_limit
from jupyter_ai_shoulders.host.delegation.terms import check_may_delegate, narrowed
from jupyter_ai_shoulders.host.usage.owner_budgets import OwnerBudgets
from jupyter_ai_shoulders.tools.agent.delegate import DelegateArguments, SubAgentToolset
from jupyter_ai_shoulders.tools.agent.withheld_tools import RUN_IN_OWN_KERNEL, withheld_tools
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Target
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    PermissionRequest,
    Rules,
    ToolRule,
    decide,
)
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.ids import CallId, ModelId, ProviderId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Mode, ParentCall, Session, Toolset
from tests.engine.engine_harness import make_session
from tests.host.delegation.delegating_host import delegating_host

MODES = cast("tuple[Mode, ...]", get_args(Mode))
WIDE = cast("tuple[Toolset, ...]", ("notebook", "workspace", "full"))
WANTED = cast("tuple[SubAgentToolset, ...]", get_args(SubAgentToolset))
PARENT = ParentCall(session_id=SessionId("p"), call_id=CallId("d"), turn_id=TurnId("t"))


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> ToolRegistry:
    async def made() -> ToolRegistry:
        async with delegating_host(tmp_path_factory.mktemp("host"), {}) as at:
            return at.host.tools

    return asyncio.run(made())


def child_of(mode: Mode, toolset: Toolset, wanted: SubAgentToolset) -> Session:
    narrow_mode, narrow_toolset = narrowed(mode, toolset, wanted)
    return make_session().model_copy(
        update={"mode": narrow_mode, "toolset": narrow_toolset, "parent": PARENT}
    )


def offered(tools: ToolRegistry, session: Session) -> set[str]:
    found = tools.definitions(
        session.toolset, session.mode, withheld_tools(session), tools.loadable("full", "ask", ())
    )
    return {each.name for each in found}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("toolset", WIDE)
@pytest.mark.parametrize("wanted", WANTED)
def test_no_tool_is_offered_that_the_parent_lacks(
    tools: ToolRegistry, mode: Mode, toolset: Toolset, wanted: SubAgentToolset
) -> None:
    parent = make_session().model_copy(update={"mode": mode, "toolset": toolset})
    child = child_of(mode, toolset, wanted)

    more = offered(tools, child) - offered(tools, parent)
    assert more <= {RUN_IN_OWN_KERNEL}
    assert not more or "run_code" in offered(tools, parent)
    assert "delegate" not in offered(tools, child)
    if wanted == "read":
        risks = {tool.risk for name in offered(tools, child) if (tool := tools.get(name))}
        assert risks == {"read"}


def rules() -> st.SearchStrategy[Rules]:
    tool = st.sampled_from(["*", "run_code", "edit_*", "read_file", "fetch_url"])
    rule = st.builds(
        ToolRule,
        action=st.sampled_from(["allow", "ask", "deny"]),
        tool=tool,
        source=st.just("rule 1"),
    )
    return st.builds(
        Rules,
        rules=st.lists(rule, max_size=3).map(tuple),
        locked=st.lists(rule.filter(lambda each: each.action != "allow"), max_size=1).map(tuple),
        no_external=st.booleans(),
    )


def requests(tools: ToolRegistry) -> Iterator[PermissionRequest]:
    for name in ("run_code", "edit_cell", "edit_file", "read_file", "fetch_url", "delete_file"):
        tool = tools.get(name)
        assert tool is not None
        subject = CallSubject(name, None, Target(path="a.ipynb"), undoable=name.startswith("edit"))
        yield PermissionRequest(name, tool.risk, tool.external, subject)


def strictness(decision: object) -> int:
    return 0 if isinstance(decision, Allow) else 1 if isinstance(decision, Ask) else 2


@given(
    ways=st.tuples(st.sampled_from(MODES), st.sampled_from(WIDE), st.sampled_from(WANTED)),
    current=rules(),
    is_tainted=st.booleans(),
    interactive=st.booleans(),
)
def test_nothing_is_allowed_that_the_parent_would_be_asked(
    tools: ToolRegistry,
    ways: tuple[Mode, Toolset, SubAgentToolset],
    current: Rules,
    *,
    is_tainted: bool,
    interactive: bool,
) -> None:
    mode, child = ways[0], child_of(*ways)
    taint = (TaintSource("a page"),) if is_tainted else ()  # the parent's, which the child gets
    for request in requests(tools):
        asked = replace(request, taint=taint)
        of_parent = decide(asked, current, (), mode=mode, interactive=interactive)
        of_child = decide(asked, current, (), mode=child.mode, interactive=interactive)
        assert strictness(of_child) >= strictness(of_parent)
        if isinstance(of_child, Ask) and isinstance(of_parent, Ask):
            assert set(of_child.scopes) <= set(of_parent.scopes)


@given(
    steps=st.integers(1, 60),
    own_steps=st.integers(1, 60),
    seconds=st.none() | st.floats(1, 1e5),
    own_seconds=st.floats(1, 1e5),
)
def test_its_limits_are_the_lower_ones(
    steps: int, own_steps: int, seconds: float | None, own_seconds: float
) -> None:
    settings = EngineSettings(
        step_limit=steps,
        sub_agent_step_limit=own_steps,
        turn_time_limit_s=seconds,
        sub_agent_time_limit_s=own_seconds,
    )
    child = child_of("ask", "full", "workspace")
    parent = make_session()

    model = ModelId("m")
    assert turn_step_limit(settings, child, model) <= turn_step_limit(settings, parent, model)
    limit = turn_time_limit(settings, child)
    assert limit is not None
    assert limit <= (own_seconds if seconds is None else min(seconds, own_seconds))


@pytest.mark.parametrize("toolset", ["document", "inline"])
def test_small_toolsets_have_no_sub_agents(toolset: Toolset) -> None:
    with pytest.raises(PolicyRefusal):
        check_may_delegate(make_session(), order("read"), context(toolset, "ask"))


def test_plan_mode_only_reads() -> None:
    check_may_delegate(make_session(), order("read"), context("full", "plan"))
    with pytest.raises(PolicyRefusal):
        check_may_delegate(make_session(), order("workspace"), context("full", "plan"))


def order(toolset: SubAgentToolset) -> DelegateArguments:
    return DelegateArguments(task="Look into it.", toolset=toolset)


def context(toolset: Toolset, mode: Mode) -> CallContext:
    return CallContext(
        SessionId("s"), TurnId("t"), CallId("c"), {}, None, toolset=toolset, mode=mode
    )


async def test_every_limit_counts_parent_and_child_together(tmp_path: Path) -> None:
    limits = SpendingLimits(turn=100, session=100, day=1_000, month=1_000)
    budgets = OwnerBudgets(
        tmp_path,
        SystemClock(),
        limits,
        parent_of=lambda session: PARENT if session == "sub_1" else None,
    )
    try:
        own = UsageAccount("turn", SessionId("sub_1"), TurnId("of the child"))
        await budgets.admit(planned(own, 120))
        with pytest.raises(PolicyRefusal):
            await budgets.admit(
                planned(UsageAccount("turn", PARENT.session_id, PARENT.turn_id), 60)
            )
        other = UsageAccount("turn", SessionId("other"), TurnId("other"))
        await budgets.admit(planned(other, 120))
    finally:
        await budgets.aclose()


def planned(account: UsageAccount, micro_usd: int) -> PlannedCall:
    return PlannedCall(account, ProviderId("p"), ModelId("m"), 10, 10, micro_usd)

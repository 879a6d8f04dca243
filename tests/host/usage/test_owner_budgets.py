"""The budget that a call is booked to where users are distinguished."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.budget.account import UsageAccount
from jupyter_ai_shoulders.core.budget.limits import CallSettlement, PlannedCall, SpendingLimits
from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal
from jupyter_ai_shoulders.host.usage.owner_budgets import OwnerBudgets, folder_name
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, SessionId
from jupyter_ai_shoulders.wire.usage import TokenUsage

OWNERS = {SessionId("anns"): "ann", SessionId("bobs"): "bob", SessionId("old"): None}


def session_owner(session_id: SessionId) -> str | None:
    if session_id not in OWNERS:
        raise NotFound("It is gone.")
    return OWNERS[session_id]


@asynccontextmanager
async def budgets(
    home: Path, limits: SpendingLimits, home_owner: str | None = None
) -> AsyncGenerator[OwnerBudgets]:
    made = OwnerBudgets(
        home, SystemClock(), limits, session_owner=session_owner, home_owner=home_owner
    )
    async with aclosing(made):
        yield made


async def spend(budgets: OwnerBudgets, account: UsageAccount, micro_usd: int) -> None:
    call = PlannedCall(account, ProviderId("p"), ModelId("m"), 1, 1, micro_usd)
    admitted = await budgets.admit(call)
    admitted.settle(CallSettlement(TokenUsage(), micro_usd, ok=True, duration_ms=1))


def account(session: str | None = None, owner: str | None = None) -> UsageAccount:
    return UsageAccount("other", None if session is None else SessionId(session), owner=owner)


async def test_the_cap_of_a_session_stops_its_calls_where_nothing_else_does(
    tmp_path: Path,
) -> None:
    async with budgets(tmp_path, SpendingLimits()) as all_of_them:
        all_of_them.caps[SessionId("anns")] = 100
        await spend(all_of_them, account("anns"), 60)
        await spend(all_of_them, account("anns"), 60)

        with pytest.raises(PolicyRefusal) as refused:
            await spend(all_of_them, account("anns"), 1)
        assert refused.value.info.code == "budget_exhausted"
        await spend(all_of_them, account("bobs"), 500)


@pytest.mark.parametrize(
    ("spender", "owner"),
    [
        pytest.param(account("anns"), "ann", id="a session's owner"),
        pytest.param(account(owner="bob"), "bob", id="the caller of the proxy"),
        pytest.param(account("old"), None, id="a session from before"),
        pytest.param(account("gone"), None, id="a deleted session"),
        pytest.param(account(), None, id="nobody"),
    ],
)
async def test_a_call_is_booked_to_one_person(
    tmp_path: Path, spender: UsageAccount, owner: str | None
) -> None:
    async with budgets(tmp_path, SpendingLimits(month=1_000)) as all_of_them:
        await spend(all_of_them, spender, 400)

        for person in ("ann", "bob", None):
            month = (await all_of_them.of(person).tallies())["month"]
            assert month.booked == (400 if person == owner else 0)


async def test_what_one_person_spends_is_not_missing_to_another(tmp_path: Path) -> None:
    async with budgets(tmp_path, SpendingLimits(month=1_000)) as all_of_them:
        await spend(all_of_them, account("anns"), 1_000)

        with pytest.raises(PolicyRefusal):
            await spend(all_of_them, account(owner="ann"), 1)
        await spend(all_of_them, account("bobs"), 1_000)


async def test_who_the_server_was_started_for_keeps_the_ledger_of_the_home(tmp_path: Path) -> None:
    async with budgets(tmp_path, SpendingLimits(month=1_000), home_owner="ann") as all_of_them:
        await spend(all_of_them, account("anns"), 400)

        assert all_of_them.of("ann") is all_of_them.of(None)
    assert (tmp_path / "usage.db").exists()


@pytest.mark.parametrize(
    "names", [("..", "."), ("a/b", "a-b"), ("Ann", "ann"), ("x" * 300, "x" * 301), ("", "\udc80")]
)
def test_folders_of_people_are_plain_and_their_own(names: tuple[str, str]) -> None:
    first, second = map(folder_name, names)

    assert first.lower() != second.lower()
    assert {Path(first).name, Path(second).name} == {first, second}
    assert max(len(first), len(second)) < 64

"""``usage`` and ``budget``: shapes, sums, limits, and null values."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.server.client import ENDED, Api
from tests.server.conftest import MODEL
from tests.simulator import Failure, Simulator, ToolUse, Usage, reply

UNKNOWN = "mystery"
NOTHING = {
    "key": None,
    "provider": None,
    "calls": 0,
    "ok": 0,
    "success_rate": None,
    "estimated": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_read_tokens": 0,
    "cache_write_tokens": 0,
    "reasoning_tokens": 0,
    "known_cost_micro_usd": 0,
    "unknown_cost_calls": 0,
}


@pytest.fixture
def jp_server_config(jp_server_config: Config, upstream: Simulator) -> Config:
    """A model with a known price, one with an unknown price, and an administrator's limit."""
    models = jp_server_config.Shoulders.models
    models["providers"]["lab"] = {
        "kind": "openai_chat",
        "url": upstream.openai_url,
        "api_key_env": "ANTHROPIC_API_KEY",
    }
    models["models"] = [
        {"id": MODEL, "prices": {"input": 1_000_000, "output": 5_000_000}},
        {"id": UNKNOWN, "provider": "lab", "model": "sim-local"},
    ]
    jp_server_config.Shoulders.budget_month_usd = 20.0
    return jp_server_config


def answer(text: str = "Yes.") -> Any:
    return reply(text, usage=Usage(input=100, output=20))


async def run(api: Api, session_id: str, text: str, message_id: str = "m1") -> list[dict[str, Any]]:
    """Send a message; return the whole log once its turn is over."""
    known = await api.events(session_id)
    async with api.stream(session_id, known[-1]["seq"]) as stream:
        assert (await api.send(session_id, text, message_id)).status == 202
        await stream.until(ENDED)
    return await api.events(session_id)


def calls_of(upstream: Simulator) -> int:
    """Number of model calls; discovery requests are not counted."""
    return sum(request.method == "POST" for request in upstream.requests)


async def used(api: Api, **query: object) -> dict[str, Any]:
    found = await api.get("usage", **query)
    assert found.status == 200, found
    return found.body


def today() -> str:
    return datetime.now(UTC).astimezone().strftime("%Y-%m-%d")


async def test_nothing_used_is_zero_and_makes_no_ledger(api: Api, jp_home_dir: Path) -> None:
    found = await used(api)

    assert found["total"] == NOTHING
    assert (found["rows"], found["tools"], found["steps"]) == ([], [], None)
    assert found["error"] is None
    assert (found["first_day"], found["last_day"]) == (f"{today()[:8]}01", today())
    limits = {each["scope"]: each for each in found["budget"]["limits"]}
    assert list(limits) == ["month", "day", "session", "turn"]
    assert limits["month"] == {
        "scope": "month",
        "limit_micro_usd": 20_000_000,
        "user_micro_usd": None,
        "administrator_micro_usd": 20_000_000,
        "spent_micro_usd": 0,
        "held_micro_usd": 0,
    }
    assert limits["turn"]["spent_micro_usd"] is None
    assert found["budget"]["error"] is None
    assert not (jp_home_dir / ".shoulders" / "usage.db").exists()


async def test_calls_are_summed_by_day_model_and_session(api: Api, upstream: Simulator) -> None:
    upstream.script(answer(), answer(), answer())
    first, second = await api.new_session(model=MODEL), await api.new_session(model=UNKNOWN)
    await run(api, first, "Hi")
    await run(api, first, "Again", "m2")
    await run(api, second, "Hi")

    by_day, by_model, by_session = [await used(api, by=by) for by in ("day", "model", "session")]

    total = by_day["total"]
    assert (total["calls"], total["ok"], total["success_rate"]) == (3, 3, 1.0)
    assert (total["input_tokens"], total["output_tokens"]) == (300, 60)
    assert (total["known_cost_micro_usd"], total["unknown_cost_calls"]) == (400, 1)
    assert by_day["rows"] == [{**total, "key": today()}]
    models = {row["key"]: row for row in by_model["rows"]}
    assert models[MODEL]["known_cost_micro_usd"] == 400
    assert models[MODEL]["provider"] == "anthropic"
    assert models[UNKNOWN]["known_cost_micro_usd"] is None
    assert models[UNKNOWN]["unknown_cost_calls"] == 1
    assert {row["key"]: row["calls"] for row in by_session["rows"]} == {first: 2, second: 1}


async def test_a_turn_shows_the_month_and_an_unknown_cost_stays_null(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(answer(), answer())
    known, unknown = await api.new_session(model=MODEL), await api.new_session(model=UNKNOWN)

    first = [e for e in await run(api, known, "Hi") if e["type"] == "usage-update"]
    log = await run(api, unknown, "Hi")
    second = [e for e in log if e["type"] == "usage-update"]

    names = ("cost_micro_usd", "month_micro_usd", "month_limit_micro_usd")
    assert [[event[name] for name in names] for event in first] == [[200, 200, 20_000_000]]
    assert [[event[name] for name in names] for event in second] == [[None, 200, 20_000_000]]
    assert [e["code"] for e in log if e["type"] == "notice"] == ["budget_unknown_price"]
    assert (await api.get(f"sessions/{unknown}")).body["cost_micro_usd"] is None


async def test_failed_calls_count_and_cost_nothing(api: Api, upstream: Simulator) -> None:
    upstream.script(reply(failure=Failure(status=400)), answer())
    session = await api.new_session(model=MODEL)
    await run(api, session, "Hi")
    await run(api, session, "Hi", "m2")

    total = (await used(api))["total"]

    assert (total["calls"], total["ok"], total["success_rate"]) == (2, 1, 0.5)
    assert total["known_cost_micro_usd"] == 200


async def test_tools_are_summed_from_the_log(api: Api, upstream: Simulator) -> None:
    todo = ToolUse(name="todo_write", arguments={"items": [{"text": "A", "status": "pending"}]})
    upstream.script(reply(todo), reply(ToolUse(name="no_such_tool")), answer())
    await run(api, await api.new_session(model=MODEL), "Hi")

    found = await used(api, by="tool")

    tools = {tool["tool"]: tool for tool in found["tools"]}
    assert "no_such_tool" in tools
    assert tools["no_such_tool"]["ok"] == 0
    assert tools["no_such_tool"]["success_rate"] == 0.0
    for tool in tools.values():
        assert tool["calls"] == 1
        assert tool["median_ms"] == tool["p95_ms"] >= 0
        assert tool["denied"] == 0
    assert found["turns"] == {
        "turns": 1,
        "answered": 1,
        "success_rate": 1.0,
        "exits": [{"exit": "final_response", "turns": 1}],
    }
    assert found["first_output"]["steps"] == found["steps"]["steps"] == 3
    assert 0 <= found["first_output"]["p50_ms"] <= found["first_output"]["p95_ms"]
    assert found["failures"] == [
        {"code": "unknown_tool", "tool": name, "count": 1}
        for name in ("no_such_tool", "todo_write")
    ]
    assert found["steps"] == {"turns": 1, "steps": 3, "per_turn": 3.0}
    assert found["rows"] == []
    assert (await used(api, by="tool", to="2026-01-02", **{"from": "2026-01-01"}))["tools"] == []


async def test_days_outside_the_query_are_left_out(api: Api, upstream: Simulator) -> None:
    upstream.script(answer())
    await run(api, await api.new_session(model=MODEL), "Hi")

    assert (await used(api, **{"from": "2020-01-01", "to": "2020-12-31"}))["total"] == NOTHING
    assert (await used(api, **{"from": "2020-01-01"}))["total"]["calls"] == 1


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"from": "yesterday"}, "from"),
        ({"by": "tools"}, "by"),
        ({"from": "2026-02-02", "to": "2026-02-01"}, "from"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused(
    api: Api, query: dict[str, str], names: str
) -> None:
    found = await api.get("usage", **query)

    assert (found.status, found.code) == (400, "invalid_request")
    assert found.error["message"].startswith(names)


async def test_limits_are_stored_and_shown(api: Api, jp_home_dir: Path) -> None:
    put = await api.put("budget", {"month_micro_usd": 5_000_000, "turn_micro_usd": 100_000})

    assert put.status == 200
    assert (await used(api))["budget"] == put.body
    limits = {each["scope"]: each["limit_micro_usd"] for each in put.body["limits"]}
    assert limits == {"month": 5_000_000, "day": None, "session": None, "turn": 100_000}
    stored = json.loads((jp_home_dir / ".shoulders" / "budget.json").read_text())
    assert stored["month_micro_usd"] == 5_000_000

    put = await api.put("budget", {"month_micro_usd": None})
    limits = {each["scope"]: each["limit_micro_usd"] for each in put.body["limits"]}
    assert limits == {"month": 20_000_000, "day": None, "session": None, "turn": None}


async def test_a_limit_above_the_administrators_is_refused_and_named(api: Api) -> None:
    put = await api.put("budget", {"month_micro_usd": 20_000_001})

    assert (put.status, put.code) == (422, "denied")
    assert "Your administrator allows $20.00 for this month" in put.error["message"]
    assert put.error["details"] == {"scope": "month", "administrator_micro_usd": 20_000_000}
    assert "Shoulders.budget_month_usd" in put.error["hint"]


@pytest.mark.parametrize("body", [{"month_micro_usd": -1}, {"month": 5}, {"day_micro_usd": 1.5}])
async def test_limits_that_make_no_sense_are_refused(api: Api, body: dict[str, Any]) -> None:
    put = await api.put("budget", body)

    assert (put.status, put.code) == (400, "invalid_request")
    assert next(iter(body)) in put.error["message"]


@pytest.mark.parametrize(
    "body", [None, {}, {"revision": "x"}], ids=["no body", "empty", "revision"]
)
async def test_a_body_without_any_limit_removes_none(api: Api, body: dict[str, Any] | None) -> None:
    await api.put("budget", {"turn_micro_usd": 100_000})

    put = await api.put("budget", body)

    assert (put.status, put.code) == (400, "invalid_request")
    assert "at least one limit" in put.error["message"]
    limits = {
        each["scope"]: each["limit_micro_usd"] for each in (await used(api))["budget"]["limits"]
    }
    assert limits["turn"] == 100_000


async def test_a_turn_ends_at_the_month_limit_and_nothing_is_sent(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(answer())
    await api.put("budget", {"month_micro_usd": 210})
    session = await api.new_session(model=MODEL)
    first = await run(api, session, "Hi")
    await api.put("budget", {"month_micro_usd": 150})
    log = await run(api, session, "Again", "m2")

    assert [e["code"] for e in first if e["type"] == "notice"] == ["budget_80"]
    end = [e for e in log if e["type"] == "turn-end"][-1]
    assert end["exit"] == "budget_exhausted"
    assert end["error"]["code"] == "budget_exhausted"
    assert end["error"]["details"]["scope"] == "month"
    assert calls_of(upstream) == 1
    assert not [e for e in log if e["type"] == "retry-wait"]


async def test_a_limit_reached_in_the_middle_of_a_turn_ends_it_before_the_next_call(
    api: Api, upstream: Simulator
) -> None:
    usage = Usage(input=100, output=20)
    call = ToolUse(name="no_such_tool")
    upstream.script(*(reply(call, usage=usage) for _ in range(3)))
    await api.put("budget", {"day_micro_usd": 300})

    log = await run(api, await api.new_session(model=MODEL), "Hi")

    costs = [e["cost_micro_usd"] for e in log if e["type"] == "usage-update"]
    assert costs == [200, 200]  # the second was running when the limit was exceeded
    end = [e for e in log if e["type"] == "turn-end"][-1]
    assert (end["exit"], end["error"]["details"]["scope"]) == ("budget_exhausted", "day")
    assert calls_of(upstream) == 2
    assert [e["code"] for e in log if e["type"] == "notice"] == ["budget_80"]


@pytest.mark.usefixtures("quick_retries")
async def test_the_status_names_a_ledger_that_cannot_be_used(
    api: Api, upstream: Simulator, jp_home_dir: Path
) -> None:
    assert (await api.get("status")).body["usage_error"] is None
    (jp_home_dir / ".shoulders" / "usage.db").mkdir(parents=True)
    session = await api.new_session(model=MODEL)

    log = await run(api, session, "Hi")

    end = [e for e in log if e["type"] == "turn-end"][-1]
    assert (end["exit"], end["error"]["code"]) == ("error", "state_unavailable")
    assert calls_of(upstream) == 0
    error = (await api.get("status")).body["usage_error"]
    assert error["code"] == "state_unavailable"


async def test_what_can_be_read_is_shown_while_the_ledger_cannot_be_used(
    api: Api, upstream: Simulator, jp_home_dir: Path
) -> None:
    upstream.script(
        reply(
            ToolUse(name="todo_write", arguments={"items": [{"text": "A", "status": "pending"}]})
        ),
        answer(),
    )
    await run(api, await api.new_session(model=MODEL), "Look")
    ledger = jp_home_dir / ".shoulders" / "usage.db"
    ledger.rename(ledger.with_name("moved.db"))
    ledger.mkdir()

    by_day, by_tool = await used(api), await used(api, by="tool")

    for found in (by_day, by_tool):
        assert found["error"]["code"] == "state_unavailable"
        assert str(ledger) in found["error"]["message"]
        assert (found["rows"], found["total"]) == ([], None)
        limits = {each["scope"]: each for each in found["budget"]["limits"]}
        assert limits["month"]["limit_micro_usd"] == 20_000_000
        assert limits["month"]["spent_micro_usd"] is None
    assert by_tool["steps"] == {"turns": 1, "steps": 2, "per_turn": 2.0}
    assert [tool["calls"] for tool in by_tool["tools"]] == [1]

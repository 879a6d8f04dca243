"""Metrics as Prometheus' own parser reads them, compared with the event log."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, cast

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import Metric
from prometheus_client.openmetrics import exposition as openmetrics
from prometheus_client.openmetrics import parser as openmetrics_parser

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.host.metrics import definitions
from jupyter_ai_shoulders.host.metrics.activity import Activity
from jupyter_ai_shoulders.host.metrics.event_metrics import EventMetrics
from jupyter_ai_shoulders.host.metrics.instruments import instruments_in
from jupyter_ai_shoulders.host.metrics.labels import MOST_TOOLS, Labels, ToolOrigin
from jupyter_ai_shoulders.host.metrics.service import ObservabilityOptions
from jupyter_ai_shoulders.host.metrics.turn_observer import TurnObserver
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import SendMessage
from jupyter_ai_shoulders.wire.ids import (
    CallId,
    LongRunId,
    MessageId,
    ModelId,
    ProviderId,
    SessionId,
)
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from jupyter_ai_shoulders.wire.usage import TokenUsage, UsageQuery
from tests.host.metrics.event_scripts import session_with
from tests.host.metrics.observed_host import MODEL, Observed, busy, observed

LIST = Call("list_files", {})


async def play_every_kind_of_turn(host: Observed) -> None:
    """An answer, a tool, an invented tool, retries, an error, approvals, a denial, a cancel."""
    await host.ask("Fine.")
    usage = TokenUsage(input_tokens=900, output_tokens=40, cache_read_tokens=800)
    await host.ask(turn(LIST, usage=usage), turn(Call("no_such_tool", {"a": 1})), "Done.")
    await host.ask(turn(Fail(busy())), turn(Fail(busy())), "At last.")
    await host.ask(turn(Fail(ProviderError("No.", code="authentication", status=401))))
    for decision, more in (("allow", ("Written.",)), ("deny", ())):
        path = f"{decision}.txt"
        call = Call("run_command", {"command": f"touch {path}"})
        session = await host.ask(turn(call), *more)
        await host.answer(session, decision)
    gate = Gate()
    host.model.extend(turn(Say("I begin "), gate))
    session = host.session()
    sending = asyncio.create_task(host.send(session))
    await gate.reached.wait()
    assert host.values("shoulders_running_turns") == {(): 1}
    await host.host.engine.cancel(session)
    await sending


@asynccontextmanager
async def a_played_host(root: Path, home: Path) -> AsyncGenerator[Observed]:
    async with observed(root, home) as host:
        await play_every_kind_of_turn(host)
        await host.host.log.sync()
        yield host


async def test_counters_equal_what_the_event_log_says(tmp_path: Path, isolated_home: Path) -> None:
    async with a_played_host(tmp_path, isolated_home) as played:
        ends = played.rows("turn-end")
        assert len(ends) == 7
        assert played.values("shoulders_turns_total") == Counter(
            (end["exit"], "chat") for end in ends
        )
        assert played.values("shoulders_turn_errors_total") == Counter(
            (end["error"]["code"],) for end in ends if end["error"]
        )
        assert played.values("shoulders_steps_total") == {("chat",): len(played.rows("step-start"))}
        assert played.values("shoulders_retries_total") == {("anthropic", "overloaded"): 2}
        assert len(played.rows("retry-wait")) == 2
        results = played.rows("tool-result")
        named = Counter(
            (row["status"], "unknown" if row["tool"] == "no_such_tool" else row["tool"])
            for row in results
        )
        assert played.values("shoulders_tool_calls_total") == named
        assert {status for status, _ in named} == {"ok", "error", "denied"}
        assert played.values("shoulders_approvals_requested_total") == Counter(
            (row["reason"]["kind"],) for row in played.rows("approval-request")
        )
        assert played.values("shoulders_approvals_answered_total") == Counter(
            (row["by"], row["decision"]) for row in played.rows("approval-answer")
        )
        assert played.values("shoulders_approval_wait_seconds_count") == {
            ("allow",): 1,
            ("deny",): 1,
        }


async def test_tokens_and_money_equal_the_log_and_the_ledger(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with a_played_host(tmp_path, isolated_home) as played:
        usage = [row["usage"] for row in played.rows("usage-update")]
        tokens = played.values("shoulders_model_tokens_total")
        assert tokens["input", MODEL, "anthropic"] >= sum(each["input_tokens"] for each in usage)
        total = (await played.host.usage.of(None).usage(_query())).total
        assert total is not None
        assert tokens == {
            ("input", MODEL, "anthropic"): total.input_tokens,
            ("output", MODEL, "anthropic"): total.output_tokens,
        }
        assert played.values("shoulders_model_cached_tokens_total") == {
            ("read", MODEL, "anthropic"): 800,
            ("write", MODEL, "anthropic"): 0,
        }
        assert total.known_cost_micro_usd is not None
        ((_, dollars),) = played.values("shoulders_model_cost_usd_total").items()
        assert dollars == pytest.approx(total.known_cost_micro_usd / 1e6)
        calls = played.values("shoulders_model_calls_total")
        assert sum(calls.values()) == total.calls
        assert calls[MODEL, "ok", "anthropic", "turn"] == total.ok


async def test_histograms_hold_each_measured_time_once(tmp_path: Path, isolated_home: Path) -> None:
    async with a_played_host(tmp_path, isolated_home) as played:
        steps = {(row["turn_id"], row["at"]) for row in played.rows("step-start")}
        ((_, first_outputs),) = played.values("shoulders_first_output_seconds_count").items()
        assert first_outputs == len(steps) - 1, "the refused call showed nothing"
        durations = defaultdict[tuple[str, ...], float](float)
        for row in played.rows("tool-result"):
            if row["status"] in ("ok", "error"):
                tool = "unknown" if row["tool"] == "no_such_tool" else row["tool"]
                durations[(tool,)] += row["duration_ms"] / 1000
        assert played.values("shoulders_tool_call_seconds_sum") == pytest.approx(dict(durations))
        ran = Counter(
            "unknown" if row["tool"] == "no_such_tool" else row["tool"]
            for row in played.rows("tool-result")
            if row["status"] in ("ok", "error")
        )
        assert played.values("shoulders_tool_call_seconds_count") == {
            (tool,): count for tool, count in ran.items()
        }
        ((_, commits),) = played.values("shoulders_log_commit_seconds_count").items()
        streamed = ("text-delta", "reasoning-delta", "tool-progress")
        assert commits == _event_count(played) - sum(len(played.rows(each)) for each in streamed)
        assert played.values("shoulders_log_sync_seconds_count")[()] > 0


async def test_both_formats_are_valid_and_name_every_metric(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with a_played_host(tmp_path, isolated_home) as played:
        names = {metric.name.removesuffix("_total") for metric in definitions.METRICS}
        assert names <= set(played.families())
        text = cast("Any", openmetrics).generate_latest(played.registry).decode()
        parser = cast("Any", openmetrics_parser)  # it has no types
        found: list[Metric] = list(parser.text_string_to_metric_families(text))
        assert names <= {family.name for family in found}
        for family in found:
            assert family.name.startswith(definitions.PREFIX)
            assert family.documentation
        assert all(metric.help.endswith(".") for metric in definitions.METRICS + definitions.GAUGES)


async def test_gauges_return_to_zero_and_end_with_the_host(
    tmp_path: Path, isolated_home: Path
) -> None:
    gate = Gate()
    registry = CollectorRegistry()
    async with observed(tmp_path, isolated_home, registry=registry) as host:
        host.model.extend(turn(Say("I begin "), gate), "And you.")
        session = host.session()
        sending = asyncio.create_task(host.send(session))
        await gate.reached.wait()
        await host.host.engine.send(session, _message("later"))
        assert _gauges(host) == {"running": 1, "waiting": 0, "cells": 0, "queued": 1}
        gate.open.set()
        await sending
        await host.host.engine.settled(session)
        assert _gauges(host) == {"running": 0, "waiting": 0, "cells": 0, "queued": 0}
        host.model.extend(turn(Call("run_command", {"command": "touch x"})))
        await host.send(session)
        assert _gauges(host)["waiting"] == 1
    assert not host.values("shoulders_running_turns")


async def test_an_interrupted_turn_counts_once_over_two_processes(
    tmp_path: Path, isolated_home: Path
) -> None:
    first = CollectorRegistry()
    async with observed(tmp_path, isolated_home, registry=first) as host:
        session = await host.ask("One.")
        host.model.extend(turn(Call("run_command", {"command": "touch x"})))
        await host.send(session)
        assert host.values("shoulders_turns_total") == {("final_response", "chat"): 1}
    second = CollectorRegistry()
    async with observed(tmp_path, isolated_home, registry=second) as host:
        assert host.values("shoulders_turns_total") == {}
        assert host.values("shoulders_approvals_requested_total") == {}
        host.model.extend("Done.")
        await host.answer(session, "allow")
        assert host.values("shoulders_turns_total") == {("final_response", "chat"): 1}
        ran = sum(host.values("shoulders_tool_calls_total").values())
        assert ran == len(host.rows("tool-result")) == 1


async def test_counters_survive_the_eviction_of_sessions(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with observed(tmp_path, isolated_home) as host:
        session = await host.ask("One.")
        cache = host.host.engine._cache  # pyright: ignore[reportPrivateUsage] as memory pressure would
        (driver,) = cache.drivers()
        cache.drop(driver)
        await host.ask("Two.", session=session)
        assert host.values("shoulders_turns_total") == {("final_response", "chat"): 2}
        assert host.values("shoulders_steps_total") == {("chat",): 2}


async def test_two_hosts_of_one_process_share_the_metrics(
    tmp_path: Path, isolated_home: Path
) -> None:
    registry = CollectorRegistry()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    async with (
        observed(tmp_path / "a", isolated_home, registry=registry) as first,
        observed(tmp_path / "b", isolated_home, registry=registry) as second,
    ):
        await first.ask("One.")
        await second.ask("Two.")
        assert first.values("shoulders_turns_total") == {("final_response", "chat"): 2}
        assert first.values("shoulders_running_turns") == {(): 0}
        assert instruments_in(registry) is instruments_in(registry)


async def test_the_trait_switches_all_of_it_off(tmp_path: Path, isolated_home: Path) -> None:
    options = ObservabilityOptions(metrics=False)
    async with observed(tmp_path, isolated_home, options=options) as host:
        await host.ask("One.")
        assert generate_latest(host.registry) == b""
        assert host.host.log.timings is None


async def test_users_are_named_only_if_the_administrator_wants_it(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with observed(tmp_path, isolated_home) as host:
        await _turn_of(host, "ada")
        assert "ada" not in host.scraped()
        assert "shoulders_user" not in host.scraped()
    (tmp_path / "named").mkdir()
    options = ObservabilityOptions(by_user=True)
    async with observed(tmp_path / "named", isolated_home, options=options) as host:
        await _turn_of(host, "ada")
        assert host.values("shoulders_user_turns_total") == {("final_response", "ada"): 1}
        cost = host.rows("usage-update")[0]["cost_micro_usd"]
        assert host.values("shoulders_user_cost_usd_total") == {("ada",): pytest.approx(cost / 1e6)}


def test_a_call_in_the_background_counts_when_it_ends() -> None:
    registry = CollectorRegistry()
    labels = Labels((), (), lambda _: ToolOrigin(None))
    metrics = EventMetrics(instruments_in(registry), labels, by_user=False)
    activity = Activity()
    observer = TurnObserver(SystemClock(), lambda _: session_with("x"), [metrics])
    call, run = CallId("call_1"), LongRunId("run_1")
    started = ev.ToolStart(call_id=call, kernel_id="kernel")
    moved = ev.ToolResult(
        call_id=call,
        tool="run_cell",
        status="ok",
        result=ToolEnvelope(ok=True, kind="none", data=None),
        content=(),
        duration_ms=60_000,
        run=run,
    )
    ended = ev.RunEnd(
        call_id=call,
        tool="run_cell",
        title="Run",
        run=run,
        status="error",
        result=ToolEnvelope(ok=False, kind="none", data=None),
        content=(),
        duration_ms=90_000,
    )
    running: list[int] = []
    for event in (started, moved, ended):
        logged = LoggedEvent(event.model_copy(update={"session_id": SessionId("s_1")}), "")
        activity.on_event(logged)
        if event.type in observer.handlers:
            observer.on_event(logged)
        running.append(activity.running_cells)
    assert running == [1, 1, 0]
    text = generate_latest(registry).decode()
    assert 'shoulders_tool_calls_total{status="error",tool="run_cell"} 1.0' in text
    assert 'status="ok"' not in text
    assert 'shoulders_tool_call_seconds_sum{tool="run_cell"} 90.0' in text


def test_labels_are_bounded() -> None:
    package = {f"tool{number}": ToolOrigin("lab-tools") for number in range(2 * MOST_TOOLS)}
    server = ToolOrigin("MCP server secret-project")
    labels = Labels(
        {ProviderId("openai")},
        {ModelId("gpt")},
        {**package, "secret__tool": server, "read_cell": ToolOrigin(None)}.get,
    )
    assert labels.tool("read_cell") == "read_cell"
    assert labels.tool("secret__tool") == "mcp"
    assert labels.tool("made up by a model") == "unknown"
    assert len({labels.tool(name) for name in package}) == MOST_TOOLS
    known = ProviderId("openai"), ModelId("gpt")
    assert labels.model(*known) == known
    assert labels.model(ProviderId("openai"), ModelId("mine")) == ("openai", "other")
    assert labels.model(ProviderId("my-host"), ModelId("gpt")) == ("other", "other")
    assert labels.model(None, None) == ("other", "other")
    assert len({labels.user(f"user{number}") for number in range(5000)}) == 1001


def _gauges(host: Observed) -> dict[str, float]:
    names = {
        "running": "shoulders_running_turns",
        "waiting": "shoulders_waiting_turns",
        "cells": "shoulders_running_cells",
        "queued": "shoulders_queued_messages",
    }
    return {short: host.values(name)[()] for short, name in names.items()}


async def _turn_of(host: Observed, owner: str) -> None:
    await host.ask("One.", session=host.session(owner=owner))


def _event_count(host: Observed) -> int:
    with closing(sqlite3.connect(host.host.database)) as connection:
        return connection.execute("SELECT count(*) FROM events").fetchone()[0]


def _message(text: str) -> SendMessage:
    return SendMessage(id=MessageId(text), text=text)


def _query() -> UsageQuery:
    return UsageQuery(by="model")

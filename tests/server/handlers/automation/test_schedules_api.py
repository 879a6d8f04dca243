"""``schedules``: made, changed, run with a real kernel, and bounded."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.host.automation.ports import Notification
from tests.server.client import Answer, Api
from tests.server.handlers.documents.test_proposals_api import host_of
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

HOURLY = {"kind": "interval", "seconds": 3600}
ENDED = {"done", "failed", "refused", "interrupted", "cancelled"}


class Told:
    """A ``Notifier`` that collects."""

    def __init__(self) -> None:
        self.all: list[Notification] = []

    def notify(self, notification: Notification) -> None:
        """Collect a notification."""
        self.all.append(notification)


@pytest.fixture
def told(jp_serverapp: ServerApp, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Told:
    """What the person was told."""
    notifier = Told()
    host = jp_asyncio_loop.run_until_complete(host_of(jp_serverapp))
    host.automation.notifier.use(notifier)
    return notifier


async def make(api: Api, trigger: dict[str, Any] | None = None, **options: Any) -> Answer:
    return await api.post("schedules", {"trigger": trigger or HOURLY, **options})


async def last_run(api: Api, schedule: str, states: set[str] = ENDED) -> dict[str, Any]:
    async with asyncio.timeout(60):
        while True:
            runs = (await api.get(f"schedules/{schedule}/runs")).body["runs"]
            if runs and runs[0]["state"] in states:
                return runs[0]
            await asyncio.sleep(0.05)


async def run_now(api: Api, **options: Any) -> tuple[str, dict[str, Any]]:
    made = await make(api, **options)
    assert made.status == 201, made.body
    schedule = made.body["schedule"]["id"]
    begun = await api.post(f"schedules/{schedule}/run")
    assert begun.status == 202, begun.body
    return schedule, await last_run(api, schedule)


def outputs(path: Path) -> str:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return json.dumps([cell["outputs"] for cell in cells])


async def test_a_notebook_runs_without_a_model_and_its_outputs_are_saved(
    api: Api, told: Told, jp_serverapp: ServerApp, jp_root_dir: Path
) -> None:
    path = jp_root_dir / "report.ipynb"
    path.write_text(notebook(("a", "x = 6"), ("b", "print(x * 7)")), encoding="utf-8")

    _, run = await run_now(api, notebook="report.ipynb")

    assert (run["state"], run["message"], run["cause"]) == ("done", None, "person")
    assert "42" in outputs(path)
    session = (await api.get(f"sessions/{run['session_id']}")).body
    assert (session["kind"], session["source"], session["interactive"]) == (
        "scheduled",
        "schedule",
        False,
    )
    events = await api.events(run["session_id"])
    (call,) = [event for event in events if event["type"] == "tool-call"]
    assert (call["tool"], call["arguments"]) == ("run_all_cells", {"path": "report.ipynb"})
    assert [event for event in events if event["type"] == "tool-start"], "recorded before it runs"
    (said,) = told.all
    assert (said.title, said.level) == ("report.ipynb is done", "info")
    assert said.session_id == run["session_id"]
    assert jp_serverapp.kernel_manager.list_kernel_ids() == [], "the run's kernel ended with it"


async def test_a_dated_copy_has_the_outputs_and_the_notebook_stays(
    api: Api, told: Told, jp_root_dir: Path
) -> None:
    path = jp_root_dir / "report.ipynb"
    path.write_text(notebook(("a", "print(6 * 7)")), encoding="utf-8")
    before = path.read_bytes()

    _, run = await run_now(api, notebook="report.ipynb", output="copy")

    assert run["state"] == "done", run
    assert run["copied_from"] == "report.ipynb"
    assert run["notebook"].startswith("report-20")
    assert "42" in outputs(jp_root_dir / run["notebook"])
    assert path.read_bytes() == before


async def test_a_failing_cell_fails_the_run_and_is_named(
    api: Api, told: Told, jp_root_dir: Path
) -> None:
    path = jp_root_dir / "report.ipynb"
    path.write_text(notebook(("a", "1 / 0"), ("b", "print(2)")), encoding="utf-8")

    _, run = await run_now(api, notebook="report.ipynb")

    assert run["state"] == "failed"
    assert "ZeroDivisionError" in run["message"]
    assert [(said.title, said.level) for said in told.all] == [("report.ipynb failed", "error")]


async def test_after_the_notebook_the_prompt_is_answered_by_the_default_model(
    api: Api, told: Told, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "r.ipynb").write_text(notebook(("a", "print(6 * 7)")), encoding="utf-8")
    upstream.script("It printed 42.")

    _, run = await run_now(api, notebook="r.ipynb", prompt="What did it print?")

    assert run["state"] == "done", run
    (request,) = upstream.requests
    assert "What did it print?" in str(request.body)
    assert "42" in str(request.body)


COMMAND = ToolUse(name="create_file", arguments={"path": "new.txt", "content": "x"})


async def test_a_run_that_may_not_ask_is_refused_the_call_and_goes_on(
    api: Api, told: Told, upstream: Simulator, jp_root_dir: Path
) -> None:
    upstream.script(reply(COMMAND), "I may not.")

    _, run = await run_now(api, prompt="Make a file.", on_question="refuse")

    assert run["state"] == "done"
    assert run["message"].startswith("1 call was refused.")
    assert not (jp_root_dir / "new.txt").exists()


async def notified(api: Api, unread: int) -> list[str]:
    """Return the titles of the notifications, once so many are unread."""
    async with asyncio.timeout(10):
        while (found := (await api.get("notifications")).body)["unread"] != unread:  # noqa: ASYNC110 another process would ask, too
            await asyncio.sleep(0.01)
    return [each["title"] for each in found["notifications"]]


async def test_a_conversation_that_waits_notifies_until_it_is_answered(
    api: Api, upstream: Simulator
) -> None:
    upstream.script(reply(COMMAND), "I see.")
    session = (await api.post("sessions", {"title": "Files"})).body["id"]
    async with api.stream(session) as stream:
        await api.post(f"sessions/{session}/messages", {"id": "m", "text": "Make a file."})
        asked = await stream.until("approval-request")
        assert await notified(api, unread=1) == ["Files: waiting for you"]
        path = f"sessions/{session}/approvals/{asked['call_id']}"
        await api.post(path, {"decision": "deny", "scope": "once"})
        await stream.until("turn-end")

    assert await notified(api, unread=0) == ["Files: waiting for you"]


async def test_a_run_that_may_ask_waits_for_the_person_and_goes_on(
    api: Api, told: Told, upstream: Simulator, jp_root_dir: Path
) -> None:
    upstream.script(reply(COMMAND), "Done.")
    made = await make(api, prompt="Make a file.", on_question="wait", title="Files")
    schedule = made.body["schedule"]["id"]
    await api.post(f"schedules/{schedule}/run")

    waiting = await last_run(api, schedule, {"waiting"})
    assert await notified(api, unread=1) == ["Files: waiting for you"]
    again = await api.post(f"schedules/{schedule}/run")
    assert (again.status, again.code) == (409, "conflict")
    session = waiting["session_id"]
    (asked,) = [e for e in await api.events(session) if e["type"] == "approval-request"]
    answer = {"decision": "allow", "scope": "once"}
    assert (await api.post(f"sessions/{session}/approvals/{asked['call_id']}", answer)).status < 300

    assert (await last_run(api, schedule))["state"] == "done"
    assert (jp_root_dir / "new.txt").read_text() == "x"
    assert [said.title for said in told.all] == ["Files is done"]


async def test_a_schedule_runs_at_its_time_and_ends(
    api: Api, told: Told, upstream: Simulator, jp_serverapp: ServerApp
) -> None:
    upstream.script("Good morning.")
    at = (datetime.now(UTC) + timedelta(seconds=0.5)).isoformat()
    made = await make(api, {"kind": "once", "at": at}, prompt="Say hello.")

    run = await last_run(api, made.body["schedule"]["id"])

    assert (run["state"], run["cause"]) == ("done", "time")
    after = (await api.get(f"schedules/{made.body['schedule']['id']}")).body
    assert (after["schedule"]["state"], after["schedule"]["state_reason"]) == ("ended", "It ran.")
    assert after["runs_today"] == 1


async def test_a_conversation_is_continued(api: Api, told: Told, upstream: Simulator) -> None:
    upstream.script("Hello.", "Hello again.")
    session = (await api.post("sessions", {})).body["id"]
    async with api.stream(session) as stream:
        await api.post(f"sessions/{session}/messages", {"id": "m", "text": "Hi"})
        await stream.until("turn-end")

    _, run = await run_now(api, prompt="And now?", session_id=session)

    assert (run["state"], run["session_id"]) == ("done", session)
    texts = [e["text"] for e in await api.events(session) if e["type"] == "message-add"]
    assert texts == ["Hi", "And now?"]


async def test_two_pages_that_edit_one_schedule_conflict(api: Api) -> None:
    made = (await make(api, prompt="Look.")).body["schedule"]
    path = f"schedules/{made['id']}"

    first = await api.patch(path, {"revision": made["revision"], "state": "paused"})
    second = await api.patch(path, {"revision": made["revision"], "trigger": HOURLY})

    assert (first.status, first.body["schedule"]["next_at"]) == (200, None)
    assert (second.status, second.code) == (409, "stale")
    resumed = await api.patch(path, {"revision": 2, "state": "active"})
    assert resumed.body["schedule"]["next_at"] is not None
    assert (await api.delete(path)).status == 204
    assert (await api.get(path)).code == "not_found"
    assert (await api.get("schedules")).body["schedules"] == []


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"trigger": HOURLY}, 400, "needs a prompt or a notebook"),
        ({"trigger": {"kind": "interval", "seconds": 60}, "prompt": "x"}, 422, "15 min apart"),
        (
            {
                "trigger": {"kind": "cron", "expression": "*/5 * * * *", "time_zone": "UTC"},
                "prompt": "x",
            },
            422,
            "shortest_interval_s",
        ),
        (
            {
                "trigger": {"kind": "cron", "expression": "0,59 0,23 * * *", "time_zone": "UTC"},
                "prompt": "x",
            },
            422,
            "1 min apart",
        ),
        (
            {
                "trigger": {"kind": "cron", "expression": "0 9 * *", "time_zone": "UTC"},
                "prompt": "x",
            },
            400,
            "not a cron expression",
        ),
        (
            {
                "trigger": {"kind": "cron", "expression": "0 9 * * *", "time_zone": "Mars/One"},
                "prompt": "x",
            },
            400,
            "no time zone",
        ),
        ({"trigger": {"kind": "once", "at": "2020-01-01T00:00"}, "prompt": "x"}, 400, "passed"),
        ({"trigger": {"kind": "once", "at": "soon"}, "prompt": "x"}, 400, "not a date"),
        ({"trigger": HOURLY, "prompt": "x", "runs_per_day": 999}, 422, "runs_per_day"),
        ({"trigger": HOURLY, "prompt": "x", "micro_usd_per_day": 9_000_000}, 422, "usd_per_day"),
        ({"trigger": HOURLY, "prompt": "x", "expires_at": "2020-01-01T00:00Z"}, 400, "passed"),
        ({"trigger": HOURLY, "prompt": "x", "mode": "bypass"}, 422, "bypass"),
        ({"trigger": HOURLY, "prompt": "x", "session_id": "ses_none"}, 404, "ses_none"),
        ({"trigger": HOURLY, "notebook": "a.ipynb", "session_id": "x"}, 400, "of its own"),
        (
            {"trigger": HOURLY, "notebook": "a.ipynb", "output": "copy", "toolset": "notebook"},
            400,
            "to write a dated copy, the tools workspace are needed",
        ),
        (
            {"trigger": HOURLY, "notebook": "a.ipynb", "toolset": "document"},
            400,
            "to run a notebook, the tools notebook are needed",
        ),
    ],
)
async def test_what_may_not_be_is_refused_in_words(
    api: Api, body: dict[str, Any], status: int, words: str
) -> None:
    refused = await api.post("schedules", body)

    assert refused.status == status, refused.body
    assert words in json.dumps(refused.error)


class TestLimits:
    """Limits that the administrator set."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        """The limits in the trait."""
        jp_server_config.Shoulders.settings = {
            "schedules": {"most_schedules": 1, "runs_per_day": 1, "largest_toolset": "notebook"}
        }
        return jp_server_config

    async def test_each_refusal_names_limit_value_and_who_can_change_it(
        self, api: Api, told: Told, upstream: Simulator
    ) -> None:
        upstream.script("One.")
        wide = await make(api, prompt="x", toolset="full")
        copy = await make(api, notebook="a.ipynb", output="copy")
        schedule, _ = await run_now(api, prompt="x")
        more = await make(api, prompt="y")
        again = await api.post(f"schedules/{schedule}/run")

        for answer, name, value in (
            (wide, "schedules.largest_toolset", "notebook"),
            (copy, "schedules.largest_toolset", "notebook"),
            (more, "schedules.most_schedules", 1),
            (again, "schedules.runs_per_day", 1),
        ):
            assert answer.status == 422, answer.body
            assert answer.error["details"] == {"limit": name, "value": value}
            assert "Your administrator set it" in answer.error["hint"]
        put = await api.put("settings", {"schedules": {"runs_per_day": 9}})
        assert put.status == 422, "the administrator's are locked"


async def test_a_message_after_a_notebook_run_does_not_run_it_again(
    api: Api, told: Told, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "r.ipynb").write_text(notebook(("a", "print(6 * 7)")), encoding="utf-8")
    _, run = await run_now(api, notebook="r.ipynb")
    upstream.script("You are welcome.")
    session = run["session_id"]

    async with api.stream(session) as stream:
        await api.post(f"sessions/{session}/messages", {"id": "thanks", "text": "Thanks"})
        await stream.until("turn-end")

    calls = [event for event in await api.events(session) if event["type"] == "tool-call"]
    assert len(calls) == 1


async def test_the_cost_of_a_run_includes_its_sub_agents(
    api: Api, told: Told, upstream: Simulator
) -> None:
    task = ToolUse(name="delegate", arguments={"task": "Look what is in the folder."})
    upstream.script(reply(task), "Nothing is in it.", "It is empty.")

    _, run = await run_now(api, prompt="Survey the folder.")

    own = (await api.get(f"sessions/{run['session_id']}")).body["cost_micro_usd"]
    rows = (await api.get("usage", by="session")).body["rows"]
    assert run["cost_micro_usd"] == sum(row["known_cost_micro_usd"] for row in rows)
    assert run["cost_micro_usd"] > own > 0


class TestShortestInterval:
    """A limit that the administrator lowered."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        """One second, which users cannot choose."""
        jp_server_config.Shoulders.settings = {
            "schedules": {"shortest_interval_s": 1, "runs_per_day": 3}
        }
        return jp_server_config

    async def test_an_interval_runs_by_the_clock_of_the_system(
        self, api: Api, told: Told, upstream: Simulator
    ) -> None:
        upstream.script("One.", "Two.", "Three.")
        before = datetime.now(UTC)
        made = await make(api, {"kind": "interval", "seconds": 1}, prompt="x")
        schedule = made.body["schedule"]

        refused = await last_run(api, schedule["id"], {"refused"})

        created = datetime.fromisoformat(schedule["created_at"])
        runs = (await api.get(f"schedules/{schedule['id']}/runs")).body["runs"]
        due = [datetime.fromisoformat(run["due_at"]) - created for run in reversed(runs)]
        started = [datetime.fromisoformat(run["started_at"]) - created for run in reversed(runs)]
        assert due == [timedelta(seconds=second) for second in (1, 2, 3, 4)]
        assert all(late >= time for late, time in zip(started, due, strict=True))
        assert [run["state"] for run in runs] == ["refused", "done", "done", "done"]
        assert "3 times a day" in refused["message"]
        assert datetime.now(UTC) - before >= timedelta(seconds=4)
        await api.delete(f"schedules/{schedule['id']}")

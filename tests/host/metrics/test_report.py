"""Statistics of turns in the log, and the report of the command line."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from jupyter_ai_shoulders.cli.main import main
from jupyter_ai_shoulders.wire.usage import UsageQuery
from tests.host.metrics.observed_host import observed
from tests.host.metrics.test_metrics import play_every_kind_of_turn


@pytest.fixture
def played(tmp_path: Path, isolated_home: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Path:
    async def play() -> None:
        async with observed(tmp_path, isolated_home) as host:
            await play_every_kind_of_turn(host)

    jp_asyncio_loop.run_until_complete(play())
    return tmp_path


async def test_the_page_gets_what_the_log_says(tmp_path: Path, isolated_home: Path) -> None:
    async with observed(tmp_path, isolated_home) as host:
        await play_every_kind_of_turn(host)
        found = await host.host.usage.of(None).usage(UsageQuery(by="tool"))
        steps = len(host.rows("step-start"))
    assert found.turns is not None
    assert (found.turns.turns, found.turns.answered) == (7, 4)
    assert found.turns.success_rate == pytest.approx(4 / 6), "a cancelled turn is no failure"
    assert {(each.exit, each.turns) for each in found.turns.exits} == {
        ("final_response", 4),
        ("error", 1),
        ("tool_rejected", 1),
        ("cancelled", 1),
    }
    assert {(each.code, each.tool, each.count) for each in found.failures} == {
        ("authentication", None, 1),
        ("unknown_tool", "no_such_tool", 1),
    }
    assert {tool.tool: tool.denied for tool in found.tools} == {
        "list_files": 0,
        "no_such_tool": 0,
        "run_command": 1,
    }
    assert found.first_output is not None
    assert found.first_output.steps == steps - 1, "the refused call showed nothing"
    assert found.steps is not None
    assert found.steps.steps == steps


def test_the_report_is_printed_without_a_server(
    played: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = ["report", "--workspace", str(played), "--no-server"]
    assert main(wanted) == 0
    text = capsys.readouterr().out
    for line in (
        "turns: 7 (4 final_response",
        "success rate: 67%",
        "steps per task: ",
        "first output: ",
    ):
        assert line in text
    assert [line.split() for line in text.splitlines() if line.startswith("1 ")] == [
        ["1", "authentication", "(turn)"],
        ["1", "unknown_tool", "no_such_tool"],
    ]
    assert "Most refused tools\ntool" in text
    assert main([*wanted, "--days", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["turns"]["turns"] == 7
    with pytest.raises(SystemExit):
        main(["report", "--days", "0"])

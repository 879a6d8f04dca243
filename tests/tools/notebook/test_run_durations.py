"""How long cells took last time, and cells that ask before each run."""

import json

import pytest

from jupyter_ai_shoulders.notebook.base import CellRun
from jupyter_ai_shoulders.testing.memory_notebooks import ScriptedRunner, memory_cell
from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.tools.notebook.run_durations import MAX_CELLS, RunDurations, duration_text
from jupyter_ai_shoulders.tools.permissions.grants import Grant
from jupyter_ai_shoulders.tools.permissions.rules import (
    Allow,
    Ask,
    Decision,
    PermissionRequest,
    Rules,
    decide,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.tools.notebook_conversation import PATH, NotebookConversation
from tests.tools.permissions.test_permissions_file import MemoryFile

A = CellId("a")
SUBJECT = CallSubject(
    title="Run cell 1",
    target_label=None,
    target=Target(path=PATH, cell_id=A),
    always_ask_reason="Marked.",
)


@pytest.mark.parametrize(
    ("duration_ms", "words"),
    [
        (25_400, "25 s"),
        (119_000, "119 s"),
        (41 * 60_000, "41 min"),
        (7_500_000, "2 h 5 min"),
        (7_200_000, "2 h"),
    ],
)
def test_durations_are_said_as_people_do(duration_ms: int, words: str):
    assert duration_text(duration_ms) == words


async def test_last_duration_is_kept_over_restarts_and_short_ones_are_not_worth_a_word():
    file, cell = MemoryFile(), memory_cell("a", "x")
    times = RunDurations(file)
    await times.record(PATH, A, 2_000)
    assert await times.last(PATH, cell) is None
    assert file.read() is None
    await times.record(PATH, A, 41 * 60_000)
    assert await RunDurations(file).last(PATH, cell) == 41 * 60_000
    await times.record(PATH, A, 2_000)
    assert await RunDurations(file).last(PATH, cell) is None


async def test_so_many_cells_are_remembered_and_a_broken_file_counts_as_none():
    file = MemoryFile()
    times = RunDurations(file)
    for number in range(MAX_CELLS + 1):
        await times.record(PATH, CellId(str(number)), 20_000)
    assert await times.last(PATH, memory_cell("0", "")) is None
    assert await times.last(PATH, memory_cell("1", "")) == 20_000
    assert len(json.loads(file.read() or "")["cells"]) == MAX_CELLS
    file.write("not json")
    assert await RunDurations(file).last(PATH, memory_cell("1", "")) is None


async def test_users_own_run_counts_where_the_lab_recorded_it():
    recorded = {
        "iopub.execute_input": "2026-11-21T10:00:00.000000Z",
        "shell.execute_reply": "2026-11-21T10:41:00.000000Z",
    }
    cell = memory_cell("a", "x").model_copy(update={"metadata": {"execution": recorded}})
    assert await RunDurations().last(PATH, cell) == 41 * 60_000


async def test_duration_of_a_run_is_known_to_the_next_approval():
    run = CellRun("ok", (), 1, 41 * 60_000, "kernel")
    talk = NotebookConversation(memory_cell("a", "train()"), runner=ScriptedRunner({"a": run}))
    assert (await talk.subject("run_cell", cell_id="a")).last_duration_ms is None
    await talk.call("run_cell", cell_id="a")
    assert (await talk.subject("run_cell", cell_id="a")).last_duration_ms == 41 * 60_000
    assert (await talk.subject("run_all_cells")).last_duration_ms == 41 * 60_000


async def test_marked_cells_ask_each_time_by_themselves_and_among_others():
    talk = NotebookConversation(
        memory_cell("a", "x"), memory_cell("b", "train()", tags=["ask-before-run"])
    )
    said = "You marked cell 2 to be asked about before it runs."
    assert (await talk.subject("run_cell", cell_id="a")).always_ask_reason is None
    assert (await talk.subject("run_cell", cell_id="b")).always_ask_reason == said
    assert (await talk.subject("run_all_cells")).always_ask_reason == said
    assert (await talk.subject("run_all_cells", to="a")).always_ask_reason is None


def judged(mode: Mode, *, interactive: bool = True) -> Decision:
    grants = [Grant("run_cell", path=PATH), Grant("run_cell")]
    question = PermissionRequest("run_cell", "execute", external=False, subject=SUBJECT)
    return decide(question, Rules(), grants, mode=mode, interactive=interactive)


@pytest.mark.parametrize("mode", ["ask", "auto_edit"])
def test_a_marked_cell_asks_whatever_was_allowed_before(mode: Mode):
    decision = judged(mode)
    assert isinstance(decision, Ask)
    assert decision.reason.kind == "run_policy"
    assert decision.scopes == ("once",)


def test_a_marked_cell_does_not_ask_where_nothing_does():
    assert isinstance(judged("bypass"), Allow)

"""After a crash, the target of a change shows whether it was made; runs stay unknown."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.engine.calls.interrupted_calls import interrupted_outcome
from jupyter_ai_shoulders.engine.loop.state import CallState as StateCall
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    NotebookNameList,
    ScriptedRunner,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.base import CallSubject, Effect, Target
from jupyter_ai_shoulders.tools.tool_factories import notebook_tools
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import ResumeTurn
from jupyter_ai_shoulders.wire.ids import CallId, CellId, Version
from jupyter_ai_shoulders.wire.messages import MessageContext
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.engine.engine_harness import (
    SESSION,
    EngineHarness,
    make_engine,
    make_session,
    restart_engine,
)
from tests.engine.loop.test_turns import check

PATH = "a.ipynb"
SHOWN = MessageContext(open_documents=(PATH,))
RESUME = ResumeTurn(decision="resume")


def edit(cell: str, source: str, call_id: str) -> Call:
    return Call("edit_cell", {"path": PATH, "cell_id": cell, "source": source}, call_id)


async def crashed(found: str) -> tuple[EngineHarness, MemoryNotebook]:
    """Run a cell and edit two, crash before their results are logged, and restart.

    ``found`` is the text of the second cell after the restart.
    """
    cells = (memory_cell("c-1", "x = 1"), memory_cell("c-2", "y = 2"))
    notebook = MemoryNotebook(PATH, cells)
    names = NotebookNameList(PATH)
    notebooks = MemoryNotebooks(notebook)
    notebooks.pages.add(PATH)
    tools = notebook_tools(notebooks, ScriptedRunner(), CountingIds(), names)
    w = make_engine(
        turn(Call("read_notebook", {"path": PATH}, "c0")),
        turn(
            Call("run_cell", {"path": PATH, "cell_id": "c-1"}, "run"),
            edit("c-2", "y = 3", "edit"),
        ),
        "End.",
        given=make_session(mode="bypass"),
        loop=tools,
    )
    await w.say(context=SHOWN)
    assert w.exits() == ["final_response"]
    notebook.type_into("c-2", found)
    last = next(e.seq for e in w.events if isinstance(e, ev.ToolResult) and e.call_id == "edit")
    return await restart_engine(w, last - 1, "Looked."), notebook


async def test_records_say_before_the_effect_what_it_will_touch():
    w, _ = await crashed("y = 3")
    starts = {start.call_id: start for start in w.of(ev.ToolStart)}
    assert starts[CallId("run")].kernel_id == f"kernel of {PATH}"
    assert starts[CallId("run")].before_version == cell_version("x = 1")
    assert starts[CallId("edit")].before_version == cell_version("y = 2")
    assert starts[CallId("edit")].expected_version == cell_version("y = 3")
    assert starts[CallId("c0")].before_version is None


@pytest.mark.parametrize("was_done", [True, False], ids=["done", "not done"])
@pytest.mark.parametrize("cut_off", ["add", "delete"])
async def test_cells_added_and_deleted_are_looked_for_in_the_notebook(cut_off: str, was_done: bool):
    before = (memory_cell("c-1", "x = 1"), memory_cell("c-2", "y = 2"))
    notebook = MemoryNotebook(PATH, before)
    names = NotebookNameList(PATH)
    notebooks = MemoryNotebooks(notebook)
    notebooks.pages.add(PATH)
    tools = notebook_tools(notebooks, ScriptedRunner(), CountingIds(), names)
    w = make_engine(
        turn(Call("read_notebook", {"path": PATH}, "c0")),
        turn(
            Call("add_cell", {"path": PATH, "source": "z = 3"}, "add"),
            Call("delete_cell", {"path": PATH, "cell_id": "c-1"}, "delete"),
        ),
        "End.",
        given=make_session(mode="bypass"),
        loop=tools,
    )
    await w.say(context=SHOWN)
    assert w.exits() == ["final_response"]
    if not was_done:
        notebook.cells = list(before)
    cells = list(notebook.cells)
    last = next(e.seq for e in w.events if isinstance(e, ev.ToolResult) and e.call_id == cut_off)
    after = await restart_engine(w, last - 1, "Looked.")
    await after.engine.resume(SESSION, RESUME)
    await after.settle()
    assert dict(after.results())[cut_off] == ("ok" if was_done else "cancelled")
    assert cut_off == "add" or notebook.cells == cells  # nothing runs again
    check(after)


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        ("y = 3", "ok", "“Edit cell 2” was applied"),
        ("y = 2", "cancelled", "“Edit cell 2” was not applied"),
        ("y = 9", "unknown", "“Edit cell 2” had started; whether it took effect is not known"),
    ],
    ids=["after", "before", "something else"],
)
async def test_edit_is_settled_by_comparing(found: str, status: str, words: str):
    w, notebook = await crashed(found)
    notice = w.of(ev.Notice)[-1].text
    assert "“Run cell 1” was done" in notice
    assert words in notice
    await w.engine.resume(SESSION, RESUME)
    await w.settle()
    assert w.results()[-1] == ("edit", status)
    assert [cell.source for cell in notebook.cells] == ["x = 1", found]
    assert w.exits() == ["final_response"]
    check(w)


async def test_applied_edit_counts_as_seen():
    w, _ = await crashed("y = 3")
    (result,) = [event for event in w.of(ev.ToolResult) if event.call_id == "edit"]
    assert result.after_version == cell_version("y = 3")
    assert [(s.path, s.cell_id, s.version) for s in result.seen] == [
        (PATH, "c-2", cell_version("y = 3"))
    ]


async def test_run_that_was_cut_off_is_unknown_and_not_repeated():
    notebook = MemoryNotebook(PATH, (memory_cell("c-1", "x = 1"),))
    runner = ScriptedRunner()
    names = NotebookNameList(PATH)
    tools = notebook_tools(MemoryNotebooks(notebook), runner, CountingIds(), names)
    run = Call("run_cell", {"path": PATH, "cell_id": "c-1"}, "run")
    w = make_engine(turn(run), "End.", given=make_session(mode="bypass"), loop=tools)
    await w.say()
    before = next(event.seq for event in w.events if isinstance(event, ev.ToolResult)) - 1
    after = await restart_engine(w, before, "Looked.")
    assert "had started; whether it took effect is not known" in after.of(ev.Notice)[-1].text
    assert after.results() == []
    await after.engine.resume(SESSION, RESUME)
    await after.settle()
    assert after.results() == [("run", "unknown")]
    assert len(runner.ran) == 1


BEFORE, AFTER = Version("before"), Version("after")


@pytest.mark.parametrize(
    ("now", "was_in_page", "is_in_page", "status"),
    [
        ("after", True, False, "ok"),
        ("before", False, False, "cancelled"),
        ("before", False, True, "cancelled"),
        ("before", True, True, "cancelled"),
        ("before", True, False, None),
        ("other", False, False, None),
    ],
)
def test_file_says_nothing_of_an_edit_in_a_page_that_is_away(
    now: str, was_in_page: bool, is_in_page: bool, status: str | None
):
    call = StateCall(CallId("c"), "edit_cell", {}, None, "write", "Edit")
    start = ev.ToolStart(
        call_id=CallId("c"),
        before_version=BEFORE,
        expected_version=AFTER,
        in_page=was_in_page,
    )
    subject = CallSubject(
        title="Edit",
        target_label=None,
        target=Target(path=PATH, cell_id=CellId("x")),
        in_page=is_in_page,
        effect=Effect(before_version=Version(now)),
    )
    result = interrupted_outcome(call, start, subject)
    assert (result and result.status) == status

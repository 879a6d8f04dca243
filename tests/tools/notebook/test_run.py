from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.clock import RandomIds, SystemClock
from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.notebook.base import CellRun, RunProgress
from jupyter_ai_shoulders.notebook.execution.cell_runner import KernelRunner
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.kernels.queue import KernelQueues
from jupyter_ai_shoulders.testing.memory_notebooks import (
    RecordingPages,
    ScriptedRunner,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds
from jupyter_ai_shoulders.tools.base import Progress, Result
from jupyter_ai_shoulders.tools.notebook.output_limits import bounded_outputs
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.tool_factories import notebook_tools
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from tests.tools.image_outputs import DRAWN, PLOT, images, png
from tests.tools.notebook_conversation import PATH, NotebookConversation, text_of

ERROR: JsonObject = {
    "output_type": "error",
    "ename": "NameError",
    "evalue": "name 'x' is not defined",
    "traceback": ["Traceback", "NameError: name 'x' is not defined"],
}
FAILED = CellRun("error", (ERROR,), 7, 100, "kernel", failure="NameError: name 'x' is not defined")


def python(talk: NotebookConversation) -> NotebookConversation:
    talk.notebook.metadata["kernelspec"] = {"name": "python3", "language": "python"}
    return talk


async def test_a_run_is_shown_with_the_code_as_it_is_now():
    talk = python(
        NotebookConversation(memory_cell("text", "# T", "markdown"), memory_cell("a", "x"))
    )
    talk.notebook.type_into("a", "x = 2")
    subject = await talk.subject("run_cell", cell_id="a")
    assert (subject.title, subject.target_label) == ("Run cell 2", "analysis.ipynb")
    assert (subject.preview, subject.language) == ("x = 2", "python")
    assert (subject.undoable, subject.in_page) == (False, False)
    everything = await talk.subject("run_all_cells")
    assert (everything.title, everything.preview) == ("Run all cells", "# cell 2\nx = 2")


async def test_a_run_needs_no_read_and_passes_progress_on():
    runner = ScriptedRunner()
    runner.progress = [RunProgress("stdout", "printed\n")]
    talk = NotebookConversation(memory_cell("a", "x"), runner=runner)
    result = await talk.call("run_cell", cell_id="a")
    assert runner.ran == [(PATH, CellId("a"))]
    assert talk.progress == [Progress("stdout", "printed\n")]
    assert result.ok
    assert result.seen == ()
    assert text_of(result) == "Cell 1 (id=a) finished: ok · In[1] · 0.1 s"
    assert result.envelope.kind == "outputs"
    assert result.envelope.data == {
        "path": PATH,
        "cell_id": "a",
        "index": 0,
        "status": "ok",
        "execution_count": 1,
        "duration_ms": 100,
        "failure": None,
        "outputs": [],
    }


@pytest.mark.parametrize(
    ("run", "code", "said"),
    [
        pytest.param(
            FAILED, "cell_error", "failed: NameError: name 'x' is not defined", id="error"
        ),
        pytest.param(
            CellRun("died", (), None, 5, "kernel", failure="the kernel died"),
            "kernel_died",
            "All variables are gone; the next run starts in a fresh kernel.",
            id="died",
        ),
        pytest.param(
            CellRun("aborted", (), None, 5, "kernel"), "aborted", "did not run", id="aborted"
        ),
        pytest.param(
            CellRun("error", (), 1, 5, "kernel", failure="StdinNotImplementedError: raw_input …"),
            "cell_error",
            "Nobody could answer input()",
            id="input",
        ),
    ],
)
async def test_a_run_that_does_not_end_well_is_a_failed_call(run: CellRun, code: str, said: str):
    talk = NotebookConversation(memory_cell("a", "x"), runner=ScriptedRunner({"a": run}))
    result = await talk.call("run_cell", cell_id="a")
    assert result.envelope.error is not None
    assert result.envelope.error.code == code
    assert said in text_of(result)


async def test_a_warning_of_the_run_reaches_both_readers():
    run = CellRun("ok", (), 1, 5, "kernel", warning="The outputs are not in the notebook.")
    talk = NotebookConversation(memory_cell("a", "x"), runner=ScriptedRunner({"a": run}))
    result = await talk.call("run_cell", cell_id="a")
    assert result.envelope.warning == "The outputs are not in the notebook."
    assert "The outputs are not in the notebook." in text_of(result)


async def test_pictures_of_a_run_are_seen_by_the_model():
    outputs = (PLOT, DRAWN, PLOT, PLOT, PLOT)
    talk = NotebookConversation(
        memory_cell("a", "plot()"),
        runner=ScriptedRunner({"a": CellRun("ok", outputs, 1, 5, "kernel")}),
    )
    result = await talk.call("run_cell", cell_id="a")
    assert images(result) == [png()] * 3
    assert "More pictures: outputs 0, 1" in text_of(result)
    talk.runner.runs["a"] = CellRun("ok", (DRAWN,), 1, 5, "kernel")
    assert images(await talk.call("run_cell", cell_id="a")) == []
    shown = await talk.call("run_cell", cell_id="a")
    assert "only a page that shows the notebook can draw it" in text_of(shown)


async def test_a_cell_marked_never_run_is_not_run():
    talk = NotebookConversation(memory_cell("a", "drop()", tags=["never-run"]))
    result = await talk.call("run_cell", cell_id="a")
    assert result.envelope.error is not None
    assert result.envelope.error.code == "denied"
    assert talk.runner.ran == []


def five_cells(runner: ScriptedRunner) -> NotebookConversation:
    return NotebookConversation(
        memory_cell("a", "1"),
        memory_cell("text", "# T", "markdown"),
        memory_cell("b", "2", tags=["never-run"]),
        memory_cell("c", "3"),
        memory_cell("d", "4"),
        memory_cell("empty", "  "),
        runner=runner,
    )


async def test_all_cells_run_in_order_without_those_marked_never_run():
    talk = five_cells(ScriptedRunner())
    result = await talk.call("run_all_cells")
    assert [cell_id for _, cell_id in talk.runner.ran] == ["a", "c", "d"]
    assert result.ok
    assert text_of(result).splitlines() == [
        f"Ran {PATH}: 3 of 3 code cells finished ok.",
        "Cell 3 (id=b) is marked never-run and was skipped.",
        "Cell 1 (id=a) finished: ok · In[1] · 0.1 s",
        "Cell 4 (id=c) finished: ok · In[2] · 0.1 s",
        "Cell 5 (id=d) finished: ok · In[3] · 0.1 s",
    ]
    assert result.envelope.warning == "Cell 3 (id=b) is marked never-run and was skipped."
    assert talk.progress[0] == Progress("status", "Cell 1 (1 of 3)")


async def test_the_first_failure_ends_the_run_and_is_told():
    talk = five_cells(ScriptedRunner({"c": FAILED}))
    result = await talk.call("run_all_cells")
    assert [cell_id for _, cell_id in talk.runner.ran] == ["a", "c"]
    text = text_of(result)
    assert "1 of 3 code cells finished ok. Stopped at the failing one; 1 were not run." in text
    assert "Cell 4 (id=c) failed: NameError: name 'x' is not defined · In[7]" in text
    assert result.envelope.error is not None
    assert result.envelope.error.code == "cell_error"
    assert isinstance(result.envelope.data, dict)
    assert result.envelope.data["stopped_at"] == "c"
    assert result.envelope.data["skipped"] == [{"cell_id": "b", "index": 2}]


async def test_a_range_of_cells_can_be_run():
    talk = five_cells(ScriptedRunner())
    await talk.call("run_all_cells", **{"from": "c"})
    assert [cell_id for _, cell_id in talk.runner.ran] == ["c", "d"]
    await talk.call("run_all_cells", **{"from": "a", "to": "text"})
    assert [cell_id for _, cell_id in talk.runner.ran] == ["c", "d", "a"]
    assert (await talk.subject("run_all_cells", to="a")).title == "Run 1 cell"
    with pytest.raises(InvalidRequest, match="comes after"):
        await talk.call("run_all_cells", **{"from": "d", "to": "a"})
    with pytest.raises(NotFound):
        await talk.call("run_all_cells", to="nowhere")


async def test_a_cell_deleted_during_the_run_is_left_out_and_named():
    runner = ScriptedRunner()
    runner.gone = {CellId("c")}
    result = await five_cells(runner).call("run_all_cells")
    assert result.ok
    assert [cell_id for _, cell_id in runner.ran] == ["a", "d"]
    assert "Cell 4 was deleted meanwhile." in text_of(result)


def test_outputs_for_the_conversation_are_bounded():
    image: JsonObject = {
        "output_type": "display_data",
        "data": {"image/png": "A" * 300_000, "text/plain": "<Figure>"},
        "metadata": {},
    }
    small: JsonObject = {
        "output_type": "execute_result",
        "data": {"image/png": "A" * 1_000, "application/vnd.plotly.v1+json": {"data": []}},
        "metadata": {"needs": "none"},
        "execution_count": 3,
    }
    stream: JsonObject = {"output_type": "stream", "name": "stdout", "text": "x" * 100_000}
    shown = bounded_outputs([image, small, stream, ERROR])
    assert shown[0] == {
        "output_type": "display_data",
        "data": {"text/plain": "<Figure>"},
        "metadata": {},
        "omitted": ["image/png"],
    }
    assert shown[1] == {
        "output_type": "execute_result",
        "data": {"image/png": "A" * 1_000},
        "metadata": {},
        "omitted": ["application/vnd.plotly.v1+json"],
    }
    assert isinstance(shown[2], dict)
    assert "80000 characters left out" in str(shown[2]["text"])
    assert shown[3] == {**ERROR, "traceback": ["Traceback\nNameError: name 'x' is not defined"]}
    assert len(bounded_outputs([stream] * 500)) == 50


async def test_edit_and_run_in_a_real_kernel(tmp_path: Path):
    (tmp_path / "work").mkdir()
    kernels = LocalKernels(tmp_path)
    talk = NotebookConversation(memory_cell("a", "value = 20"), memory_cell("b", "valeu + 1"))
    queues = KernelQueues(kernels)
    runner = KernelRunner(
        notebooks=talk.notebooks,
        kernels=kernels,
        queues=queues,
        pages=RecordingPages(),
        clock=SystemClock(),
        ids=RandomIds(),
    )
    talk.registry = ToolRegistry(notebook_tools(talk.notebooks, runner, CountingIds(), talk.names))

    async def run_all() -> Result:
        return await talk.call("run_all_cells")

    try:
        await talk.call("read_notebook")
        assert "failed: NameError: name 'valeu' is not defined" in text_of(await run_all())
        await talk.call("edit_cell", cell_id="b", old_string="valeu", new_string="value")
        fixed = await talk.call("run_cell", cell_id="b")
        assert fixed.ok
        assert text_of(fixed).splitlines()[-1] == "21"
        assert (await run_all()).ok
    finally:
        await runner.aclose()
        await queues.aclose()
        await kernels.aclose()

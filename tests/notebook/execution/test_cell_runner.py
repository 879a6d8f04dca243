import asyncio
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.notebook.kernels import execute_request
from jupyter_ai_shoulders.notebook.kernels.connection import Message, message_status
from jupyter_ai_shoulders.notebook.outputs.collector import OutputLimits
from jupyter_ai_shoulders.testing.memory_notebooks import RunFrame, memory_cell
from jupyter_ai_shoulders.wire.ids import CellId, ClientId
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.notebook.kernels.real_kernel import (
    PAGE,
    PATH,
    Gate,
    KernelHarness,
    OneKernel,
    bench,
    iopub_until,
    kernel_process,
    user_of,
    user_runs,
)


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as process:
        yield process


@pytest.fixture
def kernels(manager: AsyncKernelManager) -> OneKernel:
    return OneKernel(manager)


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "go")


async def shown(at: KernelHarness, kind: str, count: int = 1) -> None:
    """Wait until pages were sent a number of frames of a kind."""
    async with asyncio.timeout(20):
        while [frame.kind for frame in at.pages.frames].count(kind) < count:  # noqa: ASYNC110 they tell nobody
            await asyncio.sleep(0.02)


async def test_a_cell_that_ends_well_has_its_outputs_in_the_notebook(kernels: OneKernel):
    async with bench(kernels, "print('seen')\n6 * 7") as at:
        run = await at.run("a")
        assert (run.status, run.failure, run.warning) == ("ok", None, None)
        assert run.outputs == (
            {"output_type": "stream", "name": "stdout", "text": "seen\n"},
            {
                "output_type": "execute_result",
                "data": {"text/plain": "42"},
                "metadata": {},
                "execution_count": run.execution_count,
            },
        )
        assert at.notebook.applied[-1] == CellOutputs(
            cell_id=CellId("a"), outputs=run.outputs, execution_count=run.execution_count
        )
        told = [item.channel for item in at.progress if item.channel != "status"]  # it may start
        assert sorted(set(told), key=told.index) == ["stdout", "output"]
        assert (at.texts("stdout"), at.texts("output")) == ("seen\n", "42\n")  # in any pieces


async def test_an_error_is_named_and_kept(kernels: OneKernel):
    async with bench(kernels) as at:
        run = await at.run_source("print('before')\nundefined_name")
        assert run.status == "error"
        assert run.failure == "NameError: name 'undefined_name' is not defined"
        assert [output["output_type"] for output in run.outputs] == ["stream", "error"]


async def test_streams_run_together_and_carriage_returns_overwrite(kernels: OneKernel):
    source = """
import sys
for i in range(3):
    print(f"\\rstep {i}", end="", flush=True)
print()
print("warned", file=sys.stderr)
print("end")
"""
    async with bench(kernels) as at:
        run = await at.run_source(source)
        texts = [output["text"] for output in run.outputs if output["name"] == "stdout"]
        assert "".join(str(text) for text in texts) == "step 2\nend\n"
        assert {"output_type": "stream", "name": "stderr", "text": "warned\n"} in run.outputs


async def test_display_data_is_updated_and_cleared_as_in_the_lab(kernels: OneKernel):
    source = """
from IPython.display import HTML, clear_output, display
print("gone")
clear_output()
handle = display(HTML("<b>one</b>"), display_id=True)
print("stays")
handle.update(HTML("<b>two</b>"))
"""
    async with bench(kernels) as at:
        run = await at.run_source(source)
        bundle, stream = run.outputs
        assert isinstance(bundle["data"], dict)
        assert bundle["data"]["text/html"] == "<b>two</b>"
        assert stream["text"] == "stays\n"


async def test_clear_output_that_waits_clears_with_the_next_output(kernels: OneKernel):
    source = """
from IPython.display import clear_output
for i in range(3):
    clear_output(wait=True)
    print(i)
clear_output(wait=True)
"""
    async with bench(kernels) as at:
        run = await at.run_source(source)
        assert [output["text"] for output in run.outputs] == ["2\n"]


async def test_input_is_refused_and_does_not_hang(kernels: OneKernel):
    async with bench(kernels) as at:
        run = await at.run_source("input('name? ')")
        assert run.status == "error"
        assert run.failure is not None
        assert run.failure.startswith("StdinNotImplementedError")


async def test_a_variable_the_user_made_is_visible_and_both_clients_keep_working(
    kernels: OneKernel,
):
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        await user_runs(user, "by_hand = 21")
        run = await at.run_source("by_hand * 2")
        assert run.outputs[0]["data"] == {"text/plain": "42"}
        assert await user_runs(user, "by_hand += 1") == "ok"
        assert (await at.run_source("by_hand")).outputs[0]["data"] == {"text/plain": "22"}


async def test_a_busy_kernel_queues_the_run_and_says_so(
    kernels: OneKernel, gate: Gate, tmp_path: Path
):
    agents = Gate(tmp_path / "agent")
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        await at.run_source("pass")
        asked = user.execute(f"{gate.waits}order = ['user']")
        await iopub_until(user, "status", asked, execution_state="busy")
        task = asyncio.create_task(at.run_source(f"{agents.waits}order + ['agent']"))
        await at.reported("status")
        let_go = time.monotonic()
        gate.open()
        await at.reported("status", "Running.")
        agents.open()
        run = await task
        assert run.outputs[0]["data"] == {"text/plain": "['user', 'agent']"}
        assert [item.text for item in at.progress if item.channel == "status"] == [
            "The kernel is busy; this cell is queued behind what it runs.",
            "Running.",
        ]
        assert run.duration_ms <= (time.monotonic() - let_go) * 1000 + 1


async def test_a_connection_to_a_busy_kernel_can_be_made(kernels: OneKernel):
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        asked = user.execute("import time; time.sleep(0.5)")
        await iopub_until(user, "status", asked, execution_state="busy")
        run = await at.run_source("'connected'")
        assert run.outputs[0]["data"] == {"text/plain": "'connected'"}


async def test_a_run_aborted_by_the_users_failure_is_not_taken_for_success(
    kernels: OneKernel, gate: Gate
):
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        await at.run_source("pass")
        asked = user.execute(f"{gate.waits}1/0", stop_on_error=True)
        await iopub_until(user, "status", asked, execution_state="busy")
        task = asyncio.create_task(at.run_source("'never'"))
        await at.reported("status")  # it is in the kernel's queue
        gate.open()
        run = await task
        assert run.status == "aborted"
        assert run.outputs == ()
        assert len(at.notebook.applied) == 1  # the first run's; an aborted one stores nothing


async def test_a_failing_run_does_not_abort_the_users_queue(kernels: OneKernel):
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        running = asyncio.create_task(at.run_source("import time; time.sleep(0.4); 1/0"))
        await iopub_until(user, "execute_input")
        assert await user_runs(user, "'mine'") == "ok"
        assert (await running).status == "error"


async def test_cancelling_interrupts_the_kernel_within_two_seconds(kernels: OneKernel):
    async with bench(kernels) as at:
        kept = "kept = 'state'\nprint('started', flush=True)\nimport time; time.sleep(60)"
        task = asyncio.create_task(at.run_source(kept))
        await at.reported("stdout")  # observed by the agent only
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 20  # tells a hang from a slow machine
        assert kernels.interrupts == 1
        stored = at.notebook.applied[-1]
        assert isinstance(stored, CellOutputs)
        assert [output["output_type"] for output in stored.outputs] == ["stream", "error"]
        assert (await at.run_source("kept")).outputs[0]["data"] == {"text/plain": "'state'"}


async def test_cancelling_a_queued_run_spares_the_users_cell_and_stops_ours_when_it_begins(
    kernels: OneKernel, gate: Gate
):
    async with user_of(kernels.manager) as user, bench(kernels) as at:
        await at.run_source("pass")
        users = user.execute(f"{gate.waits}done = True")
        await iopub_until(user, "status", users, execution_state="busy")
        ours = "import time; time.sleep(60); done = False"
        task = asyncio.create_task(at.run_source(ours))
        await at.reported("status")  # it is in the kernel's queue
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert kernels.interrupts == 0
        gate.open()
        reply = await user.get_shell_msg(timeout=20)
        assert (reply["parent_header"]["msg_id"], reply["content"]["status"]) == (users, "ok")
        # The next run waits for the cancelled one, which is interrupted as soon as it begins.
        assert (await at.run_source("done")).outputs[0]["data"] == {"text/plain": "True"}
        assert kernels.interrupts == 1


async def test_cancelling_a_run_that_waits_for_another_one_leaves_that_alone(
    kernels: OneKernel, gate: Gate
):
    async with bench(kernels, f"print('begun', flush=True)\n{gate.waits}'first'", "'never'") as at:
        first = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        at.progress.clear()
        second = asyncio.create_task(at.run("b"))
        await at.reported("status")
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        gate.open()
        assert (await first).outputs[1]["data"] == {"text/plain": "'first'"}
        assert kernels.interrupts == 0
        assert at.notebook.cell("b").execution_count is None


def lost(request: execute_request.CellRequest, message: Message) -> None:
    """Ignore the message."""


@pytest.mark.parametrize(
    ("source", "status", "failure"),
    [("print('x')", "ok", None), ("1/0", "error", "ZeroDivisionError: division by zero")],
)
async def test_a_reply_that_is_lost_is_made_up_from_the_outputs(
    source: str,
    status: str,
    failure: str | None,
    kernels: OneKernel,
    monkeypatch: pytest.MonkeyPatch,
):
    async with bench(kernels) as at:
        await at.run_source("pass")
        monkeypatch.setattr(execute_request, "LOST_SECONDS", 1.0)
        monkeypatch.setattr(execute_request.CellRequest, "on_reply", lost)
        run = await at.run_source(source)
        assert (run.status, run.failure) == (status, failure)


async def test_an_idle_status_that_is_lost_does_not_hold_the_run(
    kernels: OneKernel, monkeypatch: pytest.MonkeyPatch
):
    received = execute_request.CellRequest.on_output

    def without_idle(request: execute_request.CellRequest, message: Message) -> None:
        if message_status(message) != "idle":
            received(request, message)

    async with bench(kernels) as at:
        await at.run_source("pass")
        monkeypatch.setattr(execute_request, "LOST_SECONDS", 1.0)
        monkeypatch.setattr(execute_request.CellRequest, "on_output", without_idle)
        run = await at.run_source("print('x')")
        assert (run.status, run.outputs[0]["text"]) == ("ok", "x\n")


async def test_two_runs_never_interleave(kernels: OneKernel):
    source = "import time; marks.append('in'); time.sleep(0.2); marks.append('out')"
    async with bench(kernels, "marks = []", source, source) as at:
        await at.run("a")
        await asyncio.gather(at.run("b"), at.run("c"))
        run = await at.run_source("marks")
        assert run.outputs[0]["data"] == {"text/plain": "['in', 'out', 'in', 'out']"}


async def test_the_source_is_the_one_the_notebook_has_when_the_kernel_is_free(
    kernels: OneKernel, gate: Gate
):
    async with bench(kernels, f"print('begun', flush=True)\n{gate.waits}", "'old'") as at:
        first = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        at.progress.clear()
        second = asyncio.create_task(at.run("b"))
        await at.reported("status")  # it waits
        at.notebook.type_into("b", "'new'")
        gate.open()
        await first
        assert (await second).outputs[0]["data"] == {"text/plain": "'new'"}


async def test_a_page_is_shown_each_output_from_the_first_that_changed(
    kernels: OneKernel, gate: Gate
):
    source = f"""
from IPython.display import display
display(1)
{gate.waits}
for i in range(3):
    print(i, flush=True)
    time.sleep(0.1)
"""
    async with bench(kernels, source, page=True) as at:
        task = asyncio.create_task(at.run("a"))
        await shown(at, "output")
        gate.open()
        run = await task
        frames = at.pages.frames
        assert [frame.kind for frame in (frames[0], frames[-1])] == ["start", "end"]
        assert frames[-1].detail == run.execution_count
        indexes = [frame.detail for frame in frames if frame.kind == "output"]
        assert indexes[0] == 0
        assert set(indexes[1:]) == {1}
        assert tuple(at.pages.shown) == run.outputs
        assert at.notebook.applied == []  # the page's own notebook has them


async def test_a_page_that_comes_in_the_middle_gets_everything(kernels: OneKernel, gate: Gate):
    source = f"print('early', flush=True)\n{gate.waits}print('late')"
    async with bench(kernels, source, page=True) as at:
        task = asyncio.create_task(at.run("a"))
        await shown(at, "output")
        at.pages.owners[PATH] = ClientId("reloaded")
        at.pages.shown = []
        await shown(at, "start", 2)
        gate.open()
        run = await task
        assert tuple(at.pages.shown) == run.outputs
        assert [frame.kind for frame in at.pages.frames].count("start") == 2
        assert len(at.notebook.applied) == 1  # stored as well: no page saw the whole run


async def test_a_run_whose_page_went_away_is_stored_through_the_notebook(
    kernels: OneKernel, gate: Gate
):
    source = f"print('early', flush=True)\n{gate.waits}print('late')"
    async with bench(kernels, source, page=True) as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        del at.pages.owners[PATH]
        gate.open()
        run = await task
        assert at.notebook.cell("a").outputs == run.outputs
        assert run.outputs[0]["text"] == "early\nlate\n"


async def test_a_run_that_cannot_be_stored_says_so(kernels: OneKernel, gate: Gate):
    source = f"print('begun', flush=True)\n{gate.waits}'x'"
    async with bench(kernels, source, page=True) as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        at.notebook.unresponsive = True
        del at.pages.owners[PATH]
        gate.open()
        run = await task
        assert run.status == "ok"
        assert run.warning == "The outputs are not in the notebook: The page does not answer."


async def test_a_flood_keeps_head_and_tail(kernels: OneKernel):
    async with bench(kernels, limits=OutputLimits(text=4_000)) as at:
        run = await at.run_source("for i in range(20_000): print(i)")
        head, notice, tail = run.outputs
        assert str(head["text"]).startswith("0\n1\n2\n")
        assert len(str(head["text"])) == 3_000
        assert str(tail["text"]).endswith("19998\n19999\n")
        assert isinstance(notice["data"], dict)
        assert "characters left out here" in str(notice["data"]["text/plain"])
        assert run.warning is not None
        assert len(at.texts("stdout")) == 20_000


async def test_an_endless_flood_is_read_within_bounds_and_can_be_stopped(kernels: OneKernel):
    source = "while True: print('x' * 100)"
    async with bench(kernels) as at:
        await at.run_source("pass")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        task = asyncio.create_task(at.run_source(source))
        await at.reported("stdout")
        await asyncio.sleep(1)
        began = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - began < 20  # tells a hang from a slow machine
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KB
        outputs = at.notebook.cells[-1].outputs
        assert outputs is not None
        assert sum(len(str(output.get("text", ""))) for output in outputs) <= 1_000_000
        assert outputs[-1]["ename"] == "KeyboardInterrupt"


async def test_no_reply_is_lost_however_fast_the_runs(kernels: OneKernel):
    # Sending past pyzmq's asyncio socket swallowed the wake-up for the reply.
    async with bench(kernels, "pass") as at:
        assert max([(await at.run("a")).duration_ms for _ in range(60)]) < 3_000


async def test_output_widgets_take_their_output_out_of_the_cell(kernels: OneKernel):
    pytest.importorskip("ipywidgets")
    source = """
from ipywidgets import Output
out = Output()
with out:
    print("inside")
print("outside")
"""
    async with bench(kernels) as at:
        run = await at.run_source(source)
        assert [output["text"] for output in run.outputs] == ["outside\n"]
        captured = await at.run_source("out.outputs[0]['text']")
        assert captured.outputs[0]["data"] == {"text/plain": "'inside\\n'"}


async def test_a_cell_that_is_gone_or_is_text_is_refused(kernels: OneKernel):
    async with bench(kernels, "1") as at:
        at.notebook.cells.append(memory_cell("text", "# Title", "markdown"))
        with pytest.raises(NotFound) as gone:
            await at.run("nowhere")
        assert gone.value.info.code == "cell_not_found"
        with pytest.raises(InvalidRequest):
            await at.run("text")
        assert at.pages.frames == []


async def test_closing_the_runner_leaves_the_kernel_alone(kernels: OneKernel):
    async with bench(kernels, page=True) as at:
        await at.run_source("survivor = 1")
    async with bench(kernels, page=True) as at:
        run = await at.run_source("survivor")
        assert run.outputs[0]["data"] == {"text/plain": "1"}
        assert at.pages.frames[0] == RunFrame(
            "start", PATH, CellId("cell-0"), at.pages.frames[0].run_id
        )
        assert at.pages.owners[PATH] == PAGE


async def test_outputs_the_schema_does_not_know_are_kept_as_the_lab_keeps_them(kernels: OneKernel):
    source = """
from IPython.display import display
bundle = {"application/vnd.vegalite.v6.json": {"mark": "bar"}, "text/plain": "plot"}
display(bundle, raw=True)
print("continues")
"""
    async with bench(kernels) as at:
        run = await at.run_source(source)
        assert (run.status, run.failure) == ("ok", None)
        bundle, stream = run.outputs
        assert bundle["data"] == {
            "application/vnd.vegalite.v6.json": {"mark": "bar"},
            "text/plain": "plot",
        }
        assert stream["text"] == "continues\n"

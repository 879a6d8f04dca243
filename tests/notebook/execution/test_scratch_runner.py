"""Code without a cell in a real kernel: it does not disturb the user's state."""

import asyncio
from collections.abc import Generator
from pathlib import Path

import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.notebook.base import CellRun, RunStarted
from jupyter_ai_shoulders.notebook.outputs.collector import OutputLimits
from tests.notebook.kernels.kernel_access import KernelAccess, side
from tests.notebook.kernels.real_kernel import PATH, Gate, OneKernel, iopub_until, kernel_process

HISTORY = {
    "under": "(_, __, ___)",
    "out": "dict(Out)",
    "numbered": "sorted(n for n in globals() if n[:1] == '_' and n[1:].isdigit())",
    "in_": "len(In)",
    "count": "get_ipython().execution_count",
    "texts": "dict(get_ipython().history_manager.output_hist_reprs)",
    "error": "repr(__import__('sys').__dict__.get('last_value'))",
}


@pytest.fixture(scope="module")
def manager(tmp_path_factory: pytest.TempPathFactory) -> Generator[AsyncKernelManager]:
    with kernel_process(tmp_path_factory.mktemp("kernel")) as manager:
        yield manager


async def history(at: KernelAccess) -> dict[str, str]:
    """Return the user's stored results, without adding to them."""
    client = at.user
    message = client.session.msg(
        "execute_request",
        {
            "code": "",
            "silent": True,
            "store_history": False,
            "user_expressions": HISTORY,
            "allow_stdin": False,
            "stop_on_error": False,
        },
    )
    client.shell_channel.send(message)
    while True:
        reply = await client.get_shell_msg(timeout=60)
        if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
            found = reply["content"]["user_expressions"]
            return {name: each["data"]["text/plain"] for name, each in found.items()}


SCRATCH = {
    "a result": "99",
    "several results": "'a'\n'b'",
    "an error": "print('before')\nundefined_name",
    "a syntax error": "def broken(:",
    "awaiting": "import asyncio\nawait asyncio.sleep(0)\n'awaited'",
    "a cell magic": "%%time\n7",
    "nothing": "None",
}


@pytest.mark.parametrize("code", SCRATCH.values(), ids=SCRATCH)
async def test_the_users_results_and_numbers_stay_as_they_were(
    manager: AsyncKernelManager, code: str
) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell("41")
        await at.tell("42")
        await at.tell("1/0")
        before = await history(at)
        await at.run(code)
        assert await history(at) == before
        await at.tell("'next'")
        after = await history(at)
        assert after["under"] == "('next', 42, 41)"
        assert int(after["in_"]) == int(before["in_"]) + 1


async def test_the_code_sees_the_users_variables_and_leaves_its_own(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        await at.tell("user_value = 20")
        run = await at.run("mine = user_value + 1\nprint('working')\nmine")
        assert run.status == "ok"
        assert [output["output_type"] for output in run.outputs] == ["stream", "execute_result"]
        assert run.outputs[1]["data"] == {"text/plain": "21"}
        assert await at.tell("pass", mine="mine") == {"mine": "21"}
        assert any(piece.text == "working\n" for piece in at.progress)


async def test_an_error_is_told_and_what_the_user_has_queued_runs_on(
    manager: AsyncKernelManager,
) -> None:
    async with side(OneKernel(manager), manager) as at:
        scratch = asyncio.create_task(at.run("import time; time.sleep(0.3); 1/0"))
        await iopub_until(at.user, "status", execution_state="busy")
        assert await at.tell("queued = 'ran'", queued="queued") == {"queued": "'ran'"}
        run = await scratch
        assert (run.status, run.failure) == ("error", "ZeroDivisionError: division by zero")


async def test_how_far_the_code_is_can_be_seen_on_the_way(manager: AsyncKernelManager) -> None:
    async with side(OneKernel(manager), manager) as at:
        code = "import time\nprint('begun', flush=True)\ntime.sleep(1)\n'end'"
        looks: list[CellRun] = []
        begun: RunStarted | None = None
        async for item in at.scratch.run_code(PATH, code):
            if isinstance(item, RunStarted):
                begun = item
            elif not isinstance(item, CellRun) and begun is not None:
                looks.append(begun.look())
        assert [look.status for look in looks] == ["running"] * len(looks)
        assert {"output_type": "stream", "name": "stdout", "text": "begun\n"} in looks[-1].outputs


async def test_a_cancel_interrupts_the_code_and_the_kernel_goes_on(
    manager: AsyncKernelManager,
) -> None:
    kernels = OneKernel(manager)
    async with side(kernels, manager) as at:
        task = asyncio.create_task(at.run("import time\nprint('on', flush=True)\ntime.sleep(60)"))
        await at.reported("on")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert kernels.interrupts == 1
        assert (await at.run("'alive'")).outputs[0]["data"] == {"text/plain": "'alive'"}


async def test_a_cancel_of_queued_code_leaves_the_users_cell_alone(
    manager: AsyncKernelManager, tmp_path: Path
) -> None:
    flag = tmp_path / "go on"
    waits = f"import os, time\nwhile not os.path.exists({str(flag)!r}): time.sleep(0.05)"
    kernels = OneKernel(manager)
    async with side(kernels, manager) as at:
        await at.run("stopped = False")
        users = asyncio.create_task(at.tell(waits, end="'done'"))
        await iopub_until(at.user, "execute_input", code=waits)
        task = asyncio.create_task(at.run("stopped = True; import time; time.sleep(60)"))
        await at.reported("queued")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert kernels.interrupts == 0
        flag.touch()
        assert await users == {"end": "'done'"}
        await at.run("pass")  # runs after the cancelled code was stopped


class OutOfReach(OneKernel):
    """A kernel that cannot be interrupted, because its connection is lost."""

    async def interrupt(self, kernel_id: str) -> None:
        raise Conflict("The gateway is away.", retryable=True)


async def test_code_that_cannot_be_interrupted_keeps_its_turn_until_it_ends(
    manager: AsyncKernelManager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "jupyter_ai_shoulders.notebook.execution.scratch_runner.CANCEL_TIMEOUT_SECONDS", 0.1
    )
    gate = Gate(tmp_path / "go")
    async with side(OutOfReach(manager), manager) as at:
        task = asyncio.create_task(at.run(f"print('on', flush=True)\n{gate.waits}"))
        await at.reported("on")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        after = asyncio.create_task(at.run("'next'"))
        await at.reported("this one is next")
        gate.open()
        assert (await after).outputs[0]["data"] == {"text/plain": "'next'"}


async def test_a_flood_is_kept_within_bounds(manager: AsyncKernelManager) -> None:
    limits = OutputLimits(text=10_000, rich=10_000, count=50)
    async with side(OneKernel(manager), manager, limits) as at:
        run = await at.run("for i in range(200_000): print('line', i)")
        assert run.status == "ok"
        assert sum(len(str(output)) for output in run.outputs) < 20_000
        assert "left out" in (run.warning or "")
        assert "line 199999" in str(run.outputs[-1])


async def test_input_is_refused(manager: AsyncKernelManager) -> None:
    async with side(OneKernel(manager), manager) as at:
        run = await at.run("input('name? ')")
        assert run.status == "error"
        assert "StdinNotImplementedError" in (run.failure or "")


async def test_a_guard_of_code_that_never_ran_does_not_touch_the_users_runs(
    manager: AsyncKernelManager,
) -> None:
    from jupyter_ai_shoulders.notebook.snippets.bundler import python_history_guard

    async with side(OneKernel(manager), manager) as at:
        await at.tell("pass", guard=python_history_guard())
        await at.tell("'kept'")
        assert (await history(at))["under"].startswith("('kept'")
        await at.run("1")
        left = "[f.__name__ for f in get_ipython().events.callbacks['pre_run_cell']]"
        assert await at.tell("pass", left=left) == {"left": "[]"}


async def test_a_missing_notebook_is_named(manager: AsyncKernelManager) -> None:
    async with side(OneKernel(manager), manager) as at:
        with pytest.raises(NotFound, match=r"elsewhere\.ipynb"):
            async for _ in at.scratch.run_code("elsewhere.ipynb", "1"):
                pass

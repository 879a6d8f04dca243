"""Behaviour of real ipykernels outside the protocol."""

import asyncio
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import AsyncKernelManager

from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.notebook.render import run_text
from jupyter_ai_shoulders.wire.ids import CellId
from tests.notebook.kernels.real_kernel import (
    PATH,
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


async def test_a_failed_pip_is_a_failed_run(kernels: OneKernel):
    async with bench(kernels) as at:
        run = await at.run_source("%pip install --no-index no-such-thing-at-all")
        assert run.status == "error"
        assert run.failure == (
            "pip failed: ERROR: No matching distribution found for no-such-thing-at-all"
        )


async def test_what_a_subprocess_prints_as_error_is_text_for_the_model(kernels: OneKernel):
    async with bench(kernels) as at:
        run = await at.run_source(
            "import subprocess, sys\n"
            "_ = subprocess.run([sys.executable, '-c', 'import no_such_module'])\n"
            "!ls /no/such/place"
        )
        assert run.status == "ok"
        text = run_text(1, CellId("a"), run)
        assert "ModuleNotFoundError: No module named 'no_such_module'" in text
        assert "No such file or directory" in text


async def test_a_traceback_is_plain_text_with_the_users_frames_first(kernels: OneKernel):
    async with bench(kernels) as at:
        run = await at.run_source(
            "import json\ndef mine(text):\n    return json.loads(text)\nmine('{')"
        )
        text = run_text(1, CellId("a"), run)
        assert "\x1b" not in text
        assert text.index("return json.loads(text)") < text.index("json/")
        assert text.index("mine('{')") < text.index("json/")
        assert "JSONDecodeError" in text


async def test_output_of_a_thread_after_its_cell_is_not_the_next_cells(
    kernels: OneKernel, tmp_path: Path
):
    flag = tmp_path / "flag"
    late = f"""
import pathlib, threading, time
def work():
    while not pathlib.Path({str(flag)!r}).exists(): time.sleep(0.02)
    print("late", flush=True)
threading.Thread(target=work).start()
print("early")
"""
    async with bench(kernels, late, "'own'") as at, user_of(kernels.manager) as user:
        first = await at.run("a")
        flag.touch()
        await iopub_until(user, "stream", text="late\n")
        second = await at.run("b")
        assert [output.get("text") for output in first.outputs] == ["early\n"]
        assert [output.get("data") for output in second.outputs] == [{"text/plain": "'own'"}]
        assert second.status == "ok"


async def test_messages_of_the_users_cells_never_enter_the_agents(kernels: OneKernel):
    async with bench(kernels, "print('agent')") as at, user_of(kernels.manager) as user:

        async def users() -> list[str]:
            return [await user_runs(user, f"print('user {i}')") for i in range(5)]

        theirs = asyncio.create_task(users())
        runs = [await at.run("a") for _ in range(5)]
        assert await theirs == ["ok"] * 5
        assert {str(run.outputs) for run in runs} == {
            str(({"output_type": "stream", "name": "stdout", "text": "agent\n"},))
        }


async def test_messages_that_follow_no_protocol_do_not_end_the_reading(
    kernels: OneKernel, manager: AsyncKernelManager
):
    """Foreign messages under our request: no parent, an unknown type, content of the wrong kind."""
    odd = """
from ipykernel.kernelapp import IPKernelApp
kernel = IPKernelApp.instance().kernel
parent = kernel.get_parent()
send = lambda kind, content: kernel.session.send(kernel.iopub_socket, kind, content, parent=parent)
send("no_such_message", {})
send("stream", {})
send("display_data", {"data": None})
send("update_display_data", {"data": {}, "metadata": {}, "transient": {"display_id": "unknown"}})
send("clear_output", {})
send("status", {"execution_state": "dancing"})
print("after")
"""
    async with bench(kernels, odd, "'next'") as at:
        run = await at.run("a")
        assert run.status == "ok"
        assert run.outputs[-1]["text"] == "after\n"
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'next'"}


@pytest.mark.parametrize(
    "death",
    [
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os.kill(os.getpid(), signal.SIGSEGV)",
        "resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass",
    ],
    ids=["killed", "crashed", "limited"],
)
async def test_a_death_in_a_cell_keeps_its_outputs_and_says_so(tmp_path: Path, death: str):
    kernels = LocalKernels(tmp_path)
    source = (
        f"import os, resource, signal, time\nprint('last', flush=True)\ntime.sleep(0.2)\n{death}"
    )
    try:
        async with bench(kernels, source, "'reborn'") as at:
            run = await at.run("a")
            assert (run.status, run.failure) == ("died", "the kernel died")
            assert run.outputs == ({"output_type": "stream", "name": "stdout", "text": "last\n"},)
            assert (await at.run("b")).status == "ok"
    finally:
        await kernels.aclose()


async def test_a_stopped_process_is_a_hang_that_can_be_left_and_that_recovers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """SIGSTOP: the process ignores the interrupt and everything else until it continues."""
    monkeypatch.setattr(
        "jupyter_ai_shoulders.notebook.execution.cell_run.INTERRUPT_TIMEOUT_SECONDS", 0.5
    )
    kernels = LocalKernels(tmp_path)
    endless = "print('begun', flush=True)\nimport time\nwhile True: time.sleep(0.05)"
    try:
        async with bench(kernels, endless, "'back'") as at:
            task = asyncio.create_task(at.run("a"))
            await at.reported("stdout")
            handle = await kernels.find(PATH)
            assert handle is not None
            pid = handle.manager.provisioner.pid
            os.kill(pid, signal.SIGSTOP)
            task.cancel()
            async with asyncio.timeout(20):
                with pytest.raises(asyncio.CancelledError):
                    await task
            assert await KernelConnection(handle).is_current()
            os.kill(pid, signal.SIGCONT)
            assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'back'"}
            outputs = at.notebook.cell("a").outputs
            assert outputs is not None
            assert outputs[-1]["ename"] == "KeyboardInterrupt"
    finally:
        await kernels.aclose()

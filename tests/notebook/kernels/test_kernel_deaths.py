import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernels import queue
from jupyter_ai_shoulders.notebook.kernels.connection import KernelConnection
from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from tests.notebook.kernels.real_kernel import PATH, Gate, bench


@asynccontextmanager
async def local_kernels(root: Path) -> AsyncGenerator[LocalKernels]:
    kernels = LocalKernels(root)
    try:
        yield kernels
    finally:
        await kernels.aclose()


async def test_a_kernel_is_started_in_the_notebooks_folder_and_only_once(tmp_path: Path):
    source = "import os; os.getcwd(), os.getpid()"
    async with local_kernels(tmp_path) as kernels, bench(kernels, source, source) as at:
        first, second = await asyncio.gather(at.run("a"), at.run("b"))
        assert first.outputs[0]["data"] == second.outputs[0]["data"]
        assert str(tmp_path) in str(first.outputs[0]["data"])
        assert first.kernel_id == second.kernel_id


async def test_a_kernel_that_dies_in_a_cell_ends_the_run_and_keeps_its_outputs(tmp_path: Path):
    dying = "print('last words', flush=True)\nimport os, time; time.sleep(0.2); os._exit(1)"
    async with local_kernels(tmp_path) as kernels, bench(kernels, dying, "'reborn'") as at:
        run = await at.run("a")
        assert (run.status, run.failure) == ("died", "the kernel died")
        assert run.outputs[0]["text"] == "last words\n"
        assert at.notebook.cell("a").outputs == run.outputs
        again = await at.run("b")
        assert again.outputs[0]["data"] == {"text/plain": "'reborn'"}
        assert again.kernel_id != run.kernel_id


async def test_a_kernel_that_is_killed_while_idle_is_replaced(tmp_path: Path):
    async with local_kernels(tmp_path) as kernels, bench(kernels, "import os; os.getpid()") as at:
        first = await at.run("a")
        assert isinstance(first.outputs[0]["data"], dict)
        pid = int(str(first.outputs[0]["data"]["text/plain"]))
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        second = await at.run("a")
        assert second.status == "ok"
        assert second.kernel_id != first.kernel_id


async def test_a_restart_in_the_middle_ends_the_run(tmp_path: Path):
    slow = "print('begun', flush=True)\nimport time; time.sleep(60)"
    async with local_kernels(tmp_path) as kernels, bench(kernels, slow, "'after'") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        handle = await kernels.find(PATH)
        assert handle is not None
        await handle.manager.restart_kernel(now=True)
        run = await task
        assert run.status == "died"
        assert run.outputs[0]["text"] == "begun\n"
        after = await at.run("b")
        assert after.outputs[0]["data"] == {"text/plain": "'after'"}
        assert after.kernel_id == run.kernel_id


async def test_a_missing_kernelspec_is_named_with_those_installed(tmp_path: Path):
    async with local_kernels(tmp_path) as kernels, bench(kernels, "1") as at:
        at.notebook.metadata["kernelspec"] = {"name": "cobol"}
        with pytest.raises(NotFound, match="'cobol'") as missing:
            await at.run("a")
        assert missing.value.info.code == "no_kernel"
        assert "python3" in (missing.value.info.hint or "")


async def test_a_kernel_that_is_silent_is_given_up_with_a_clear_error(tmp_path: Path):
    async with local_kernels(tmp_path) as kernels:
        handle = await kernels.start(PATH, None)
        pid = handle.manager.provisioner.pid
        os.kill(pid, signal.SIGSTOP)
        connection = KernelConnection(handle)
        silences: list[str] = []
        try:
            with pytest.raises(Conflict, match="did not answer"):
                await connection.open(lambda: silences.append("silent"), seconds=1.3)
        finally:
            os.kill(pid, signal.SIGCONT)
            await connection.close()
        assert silences == ["silent"]


async def test_a_kernel_that_ignores_the_interrupt_does_not_hold_the_cancel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "jupyter_ai_shoulders.notebook.execution.cell_run.INTERRUPT_TIMEOUT_SECONDS", 0.5
    )
    gate = Gate(tmp_path / "go")
    deaf = f"""
import signal
old = signal.signal(signal.SIGINT, signal.SIG_IGN)
print("deaf", flush=True)
{gate.waits}
signal.signal(signal.SIGINT, old)
print("done")
"""
    async with local_kernels(tmp_path) as kernels, bench(kernels, deaf, "'next'") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        task.cancel()
        async with asyncio.timeout(20):
            with pytest.raises(asyncio.CancelledError):
                await task
        gate.open()
        # The cell runs to its end, the next run waits for it, and its outputs are stored.
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'next'"}
        assert at.notebook.cell("a").outputs == (
            {"output_type": "stream", "name": "stdout", "text": "deaf\ndone\n"},
        )


class OutOfReach(LocalKernels):
    """Kernels that cannot be interrupted a number of times, because their connection is lost."""

    fails = 1
    tries = 0

    async def interrupt(self, kernel_id: str) -> None:
        self.tries += 1
        if self.tries <= self.fails:
            raise Conflict("The gateway is away.", retryable=True)
        await super().interrupt(kernel_id)


async def test_a_cancel_goes_on_trying_while_the_kernel_is_out_of_reach(tmp_path: Path):
    kernels = OutOfReach(tmp_path)
    try:
        async with bench(kernels, "print('begun', flush=True)\nimport time; time.sleep(60)") as at:
            task = asyncio.create_task(at.run("a"))
            await at.reported("stdout")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            outputs = at.notebook.cell("a").outputs
            assert outputs is not None
            assert outputs[0]["text"] == "begun\n"
            assert outputs[-1]["ename"] == "KeyboardInterrupt"
            assert kernels.tries == 2
    finally:
        await kernels.aclose()


async def test_a_kernel_that_stays_out_of_reach_keeps_the_outputs_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        "jupyter_ai_shoulders.notebook.execution.cell_run.INTERRUPT_TIMEOUT_SECONDS", 0.5
    )
    gate = Gate(tmp_path / "go")
    slow = f"print('begun', flush=True)\n{gate.waits}\nprint('done')"
    kernels = OutOfReach(tmp_path)
    kernels.fails = 1_000
    try:
        async with bench(kernels, slow, "'next'") as at:
            task = asyncio.create_task(at.run("a"))
            await at.reported("stdout")
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.open()
            # The cell runs to its end, the next run waits for it, and its outputs are stored.
            assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'next'"}
            outputs = at.notebook.cell("a").outputs
            assert outputs is not None
            assert outputs[0]["text"] == "begun\ndone\n"
    finally:
        await kernels.aclose()


class NoKernels:
    """A ``KernelDirectory`` whose kernels cannot be started."""

    def __init__(self, found: KernelHandle | None = None) -> None:
        self.found = found

    async def find(self, path: str) -> KernelHandle | None:
        return self.found

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        raise FileNotFoundError("no such program: python3")

    async def spec(self, name: str | None) -> KernelSpec:
        raise AssertionError

    async def interrupt(self, kernel_id: str) -> None:
        raise AssertionError

    async def restart(self, kernel_id: str) -> None:
        raise AssertionError

    async def running(self) -> Sequence[RunningKernel]:
        return ()

    async def installed(self) -> Sequence[KernelSpec]:
        return ()

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        raise AssertionError


async def test_a_kernel_that_cannot_be_started_says_why():
    async with bench(NoKernels(), "1") as at:
        with pytest.raises(Conflict, match="no such program: python3") as failed:
            await at.run("a")
        assert failed.value.info.code == "no_kernel"


async def test_a_dead_kernel_that_nobody_restarts_is_told(monkeypatch: pytest.MonkeyPatch):
    class DeadManager:
        async def is_alive(self) -> bool:
            return False

    def no_client() -> AsyncKernelClient:
        raise AssertionError

    monkeypatch.setattr(queue, "RESTART_SECONDS", 0.0)
    dead = KernelHandle("dead", "python3", "python", DeadManager(), no_client)
    async with bench(NoKernels(dead), "1") as at:
        with pytest.raises(Conflict, match="does not restart") as failed:
            await at.run("a")
        assert failed.value.info.code == "kernel_died"
        assert at.texts("status") == "The kernel died; waiting for its restart."
